//! The tests that decide the outcome, and the state that they share.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;

use super::{called, expect_truth, nondex, reported, reproduced};
use crate::support::{Fixture, Nondex, Output, test};

#[test]
#[ignore = "second tier: the same search by other seeds"]
fn polluters_setters_and_cleaners_are_those_of_the_truth_whatever_the_seed() {
    let fixture = Fixture::new("order");
    let output = reported(&fixture, "order", &["--seed", "0"]);
    expect_truth(&fixture, &output.expect(ExitCode::Found).report());
    // One process at a time gives the same result.
    let alone = ["--interleavings", "0", "--seed", "3", "--jobs", "1"];
    expect_truth(&fixture, &reported(&fixture, "order", &alone).report());
}

#[test]
fn polluters_setters_and_cleaners_are_those_of_the_truth_without_pairs_too() {
    let fixture = Fixture::new("order");
    let without_pairs = ["--interleavings", "0", "--pairs", "0", "--orders", "20"];
    let report = reported(&fixture, "order", &without_pairs).report();
    expect_truth(&fixture, &report);
    assert!(report.notes.iter().any(|note| note.contains("`--pairs 1122`")), "{:?}", report.notes);
    for test in report.tests.iter().filter(|test| test.order.is_some()) {
        reproduced(&fixture, test).expect(ExitCode::Found);
    }
}

#[test]
fn two_polluters_that_are_needed_together_are_one_set_and_others_are_several() {
    let fixture = Fixture::new("order");
    let output = reported(&fixture, "order", &["is_not_full", "is_default", "c_is_clean"]);
    let report = output.expect(ExitCode::Found).report();
    assert_eq!(report.tests.len(), 3);
    let sets = |name| test(&report, name).order.clone().unwrap().sets;
    assert_eq!(sets("list::is_not_full")[0].len(), 2);
    assert_eq!(sets("list::is_not_full").len(), 1);
    assert_eq!(sets("name::is_default"), [["name::from_config"], ["name::from_flag"]]);
    assert_eq!(sets("chain::c_is_clean"), [["chain::a_opens", "chain::b_writes"]]);
    output.prints(&[
        "error[OD-victim]: `order::states$name::is_default` fails after `name::from_config`",
        "fails after `chain::a_opens` and then `chain::b_writes`",
        "--after chain::a_opens --after chain::b_writes",
    ]);
}

#[test]
#[ignore = "second tier: the same search as a part of a check, and a replay of each finding"]
fn the_shapes_of_real_suites_are_told_by_check_and_each_is_reproduced() {
    let fixture = Fixture::new("order-shapes");
    let checked = reported(&fixture, "check", &["--seeds", "0"]);
    let report = checked.expect(ExitCode::Found).report();
    expect_truth(&fixture, &report);
    for test in report.tests.iter().filter(|test| test.order.is_some()) {
        reproduced(&fixture, test).expect(ExitCode::Found);
    }
}

#[test]
fn the_shapes_of_real_suites_are_told_by_order() {
    let fixture = Fixture::new("order-shapes");
    let output = reported(&fixture, "order", &["--interleavings", "400"]);
    let report = output.expect(ExitCode::Found).report();
    expect_truth(&fixture, &report);
    // Tests that fail alone and in libtest's order run in the reverse order too, and then directly
    // after each other test.
    let brittle = [
        "brittle::acts_as_a_user",
        "several::both_steps_are_done",
        "several::door_m_is_open",
        "several::gate_m_is_open",
    ];
    let run = reported(&fixture, "run", &[&["--seeds", "0"], &brittle[..]].concat());
    for name in brittle {
        let test = test(&run.report(), name).clone();
        assert_eq!(test.verdict, Verdict::OrderDependentBrittle, "{test:#?}");
    }
}

#[test]
fn tests_of_other_binaries_are_found_by_what_they_leave_and_every_process_finds_the_first_files() {
    let fixture = Fixture::new("order-package");
    // Files of others must stay: the output of the driver, and files that another thread writes
    // meanwhile.
    let line = "cargo nondex order --offline --message-format json > report.json 2> notes.txt";
    let folder = fixture.path("notes");
    fs::create_dir(&folder).unwrap();
    let note = |number: u32| folder.join(number.to_string());
    let is_over = AtomicBool::new(false);
    let (code, notes) = thread::scope(|scope| {
        let somebody = scope.spawn(|| {
            let numbers = (0..).take_while(|_| !is_over.load(Ordering::Relaxed));
            let written = numbers.inspect(|number| {
                fs::write(note(*number), "").unwrap();
                thread::sleep(Duration::from_millis(100));
            });
            written.count()
        });
        let code = called(&fixture, Nondex::pasted(&fixture.path(""), line)).code;
        is_over.store(true, Ordering::Relaxed);
        (code, somebody.join().unwrap())
    });
    let notes = 0..u32::try_from(notes).unwrap();
    assert!(notes.into_iter().all(|number| note(number).exists()));
    let written = |name: &str| fs::read_to_string(fixture.path(name)).unwrap();
    let output = Output { code, stdout: written("report.json"), stderr: written("notes.txt") };
    let report = output.expect(ExitCode::Found).report();
    expect_truth(&fixture, &report);
    let settings = || fs::read_to_string(fixture.path("settings.txt")).unwrap();
    assert_eq!(settings(), "first\n");
    for left in ["generated.txt", "data", "target/mark"] {
        assert!(!fixture.path(left).exists(), "{left}");
    }
    output.prints(&["tests leave files in the source tree"]);
    for test in report.tests.iter().filter(|test| test.order.is_some()) {
        reproduced(&fixture, test).expect(ExitCode::Found);
    }
    assert_eq!(settings(), "first\n");
    // The clean runs of a check leave their files before the orders are tried.
    let checked = reported(&fixture, "check", &["--seeds", "0"]);
    expect_truth(&fixture, &checked.expect(ExitCode::Found).report());
    assert_eq!(settings(), "first\n");
    let id = "order-package::a_needs$data_are_there";
    let after = [id, "--after", "order-package::b_leaves$data"];
    nondex(&fixture, "replay", &after).expect(ExitCode::Ok);
}

#[test]
fn what_the_system_keeps_for_a_process_is_named_with_the_lines_that_change_and_meet_it() {
    let fixture = Fixture::new("order-system");
    let output = reported(&fixture, "order", &[]);
    expect_truth(&fixture, &output.expect(ExitCode::Found).report());
}

#[cfg(target_arch = "x86_64")]
#[test]
fn where_no_process_may_be_traced_the_state_is_proven_without_its_lines_and_the_report_says_so() {
    let fixture = Fixture::new("order-unseen");
    let output = reported(&fixture, "order", &[]);
    let report = output.expect(ExitCode::Found).report();
    let order = test(&report, "is_zero").order.clone().unwrap();
    assert_eq!(order.polluters, ["adds"]);
    let [state] = &order.state[..] else {
        panic!("{order:?}");
    };
    assert!(state.confirmed && state.name == "order_unseen::COUNTER");
    assert!(state.read.is_none() && state.written.is_none());
    output.prints(&["processes cannot trace each other on this machine"]);
}
