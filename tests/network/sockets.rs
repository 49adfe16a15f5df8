//! Evidence about a failure from sockets and descriptors.

use cargo_nondex::report::Verdict;

use crate::ONCE;
use crate::namespace::{ANOTHER_MACHINE, built, report_in_namespace};
use crate::support::test;

#[test]
fn what_is_read_and_written_through_descriptors_counts_as_what_is_received_and_sent() {
    let project = built("reachable");
    let args = [&ONCE[..], &["--test", "descriptors"]].concat();
    let Some(report) = report_in_namespace(&project.path(""), ANOTHER_MACHINE, &args) else {
        return;
    };
    for (name, operation, error) in [
        ("no_answer_to_what_is_written", "send", "no answer"),
        ("no_answer_to_what_is_written_in_parts", "send", "no answer"),
        ("an_error_that_is_read", "send", "ECONNREFUSED"),
        ("a_connection_that_is_read_from_before_it_is_there", "connect", "ECONNREFUSED"),
        ("a_connection_that_is_written_to_before_it_is_there", "connect", "ECONNREFUSED"),
    ] {
        let test = test(&report, name);
        let events: Vec<(&str, &str)> =
            test.network.iter().map(|event| (&*event.operation, &*event.error)).collect();
        assert_eq!(
            (test.verdict, &*events),
            (Verdict::Network, &[(operation, error)][..]),
            "{name}"
        );
    }
    for name in ["an_answer_that_is_read_and_a_bug", "an_answer_that_is_read_in_parts_and_a_bug"] {
        assert_eq!(test(&report, name).verdict, Verdict::Broken, "{name}");
    }
}

#[test]
fn a_datagram_explains_a_failure_only_if_its_answer_was_waited_for_in_vain() {
    let project = built("reachable");
    let args = [
        &ONCE[..],
        // Most of these tests wait until their limit.
        &["--timeout", "3", "--jobs", "4"],
        &["--test", "answered", "--test", "unanswered", "--test", "unasked"],
    ]
    .concat();
    let Some(report) = report_in_namespace(&project.path(""), ANOTHER_MACHINE, &args) else {
        return;
    };
    let mut wrong = Vec::new();
    for test in &report.tests {
        let expected = match &*test.binary {
            "reachable::unanswered" => Verdict::Network,
            _ => Verdict::Broken,
        };
        if test.verdict != expected {
            wrong.push((&test.name, test.verdict, &test.network));
        }
        if test.binary == "reachable::unanswered" {
            assert_eq!(test.notes.len(), 1, "{}: {:?}", test.name, test.notes);
            assert!(test.notes[0].starts_with("less certain: what was sent to 192.0.2.1:"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(report.tests.len() > 30);
}

#[test]
fn this_machine_is_no_other_one_at_any_of_its_addresses() {
    let project = built("reachable");
    for more in [&[][..], &["--network", "block"]] {
        let args = [&ONCE[..], &["--test", "own"], more].concat();
        let Some(report) = report_in_namespace(&project.path(""), ANOTHER_MACHINE, &args) else {
            return;
        };
        for test in &report.tests {
            let expected = if test.name.starts_with("another_machine") {
                Verdict::Network
            } else {
                Verdict::Broken
            };
            assert_eq!(test.verdict, expected, "{}: {:?}", test.name, test.network);
        }
        assert_eq!(report.tests.len(), 5);
    }
}

#[test]
fn a_child_that_is_forked_beside_threads_that_use_the_network_does_not_hang() {
    expect_no_fork_to_hang(ANOTHER_MACHINE);
}

#[test]
#[ignore = "second tier: many children"]
fn no_child_of_many_that_are_forked_beside_threads_that_use_the_network_hangs() {
    expect_no_fork_to_hang(&format!("export REACHABLE_CHILDREN=40; {ANOTHER_MACHINE}"));
}

fn expect_no_fork_to_hang(network: &str) {
    let project = built("reachable");
    let args = [&ONCE[..], &["--timeout", "60", "--test", "forks"]].concat();
    let Some(report) = report_in_namespace(&project.path(""), network, &args) else { return };
    assert_eq!(report.tests.len(), 2);
    for test in &report.tests {
        assert_eq!(test.verdict, Verdict::Passed, "{}: {:?}", test.name, test.failures);
    }
}
