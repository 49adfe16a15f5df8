//! Programs that cannot be observed.

use std::collections::BTreeMap;
use std::process::Command;

use cargo_nondex::report::Verdict;

use crate::namespace::{LOOPBACK, built, report_in_namespace};
use crate::support::test;
use crate::{ONCE, verdicts};

#[test]
fn a_program_that_cannot_be_observed_is_judged_by_how_it_ended_and_that_is_said() {
    if !can_link_statically() {
        eprintln!("SKIPPED: there is no static libc here");
        return;
    }
    let project = built("unobserved");
    for more in [&[][..], &["--network", "block"]] {
        let args = [&ONCE[..], more].concat();
        let Some(report) = report_in_namespace(&project.path(""), LOOPBACK, &args) else { return };
        assert_eq!(
            verdicts(&report),
            BTreeMap::from([
                ("unobserved::needs", vec![Verdict::Network]),
                ("unobserved::real", vec![Verdict::Broken]),
            ])
        );
        for (name, host, end) in [
            ("a_url", "192.0.2.1", "ended with exit status 1"),
            ("a_path_on_another_machine", "name.example.com", "ended with exit status 1"),
            (
                "a_child_that_was_forked_by_the_test_itself",
                "name.example.com",
                "ended with exit status 1",
            ),
            ("a_child_that_was_forked_by_a_shell", "name.example.com", "ended with exit status 1"),
            ("a_child_that_is_killed", "192.0.2.1", "ended with signal 9"),
            ("a_child_that_is_not_waited_for", "192.0.2.1", "had not ended"),
        ] {
            let test = test(&report, name);
            let note =
                format!("less certain: `static` cannot be observed; it was given {host} and {end}");
            assert_eq!(test.notes, [note], "{name}");
            assert_eq!(test.hosts, [host], "{name}");
        }
    }
}

/// Returns whether the linker finds a static libc.
fn can_link_statically() -> bool {
    let found = Command::new("cc").arg("-print-file-name=libc.a").output();
    found.is_ok_and(|found| found.stdout.starts_with(b"/"))
}
