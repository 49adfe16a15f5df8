//! A time limit ends a test that hangs. A test that is only slow under a shim is not reported as
//! hanging.

use std::fs;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;
use nondex_core::{Level, Outcome};

use crate::support::{Fixture, Nondex, test};

#[test]
fn a_test_that_is_slow_in_another_order_does_not_hang_and_one_that_hangs_does() {
    let fixture = Fixture::new("limits");
    let output = Nondex::run_in(&fixture.path(""))
        .args(["--timeout", "1", "--levels", "ONE", "--seeds", "2"])
        // In scheduled time, sleeping takes no time, so no test would be slow.
        .args(["--real-threads", "-E", "not test(hour)"])
        .run();
    let report = output.expect(ExitCode::Found).report();

    let slow = test(&report, "tests::is_slow_in_another_order");
    assert_eq!(slow.verdict, Verdict::Stable, "{slow:?}");
    assert_eq!(slow.failure_rate[&Level::One], [0, 2]);
    // Two clean runs, a first seed that the limit ended, and all seeds without the limit.
    assert_eq!((slow.runs, slow.implied), (2 + 1 + 2, 0));
    assert_eq!(
        slow.notes,
        ["some of its runs exceeded the time limit of 1s, which was raised to 5s because the \
             clean runs end: see `--timeout`"]
    );

    let hangs = test(&report, "tests::hangs_in_another_order");
    assert_eq!(hangs.verdict, Verdict::ImplementationDependent);
    assert_eq!(hangs.culprits[0].line, fixture.line("src/lib.rs", "order"));
    assert!(hangs.culprits[0].confirmed);
    assert_eq!(hangs.failures[0].outcome, Outcome::TimedOut);
    assert_eq!(hangs.failures[0].message, "timed out after 5s");
    // Each command that reproduces the hang has the time limit that proved it.
    let reproduce = hangs.reproduce.as_deref().unwrap();
    assert!(reproduce.ends_with(" --timeout 5"), "{reproduce}");
    let limits = hangs.failures.iter().map(|failure| failure.limit_ms);
    assert!(limits.clone().all(|limit| limit == Some(5_000)), "{hangs:?}");

    // A test that never ends does not get a longer limit.
    let always = test(&report, "tests::always_hangs");
    assert_eq!(always.verdict, Verdict::Broken);
    assert_eq!(always.failures[0].message, "timed out after 1s");
    // The innermost of the user's lines at which the thread is.
    let sleeps = fixture.line("src/lib.rs", "for ever");
    assert_eq!(always.failures[0].line, Some(sleeps));
    let reproduce = always.reproduce.as_deref().unwrap();
    assert!(reproduce.ends_with(" --timeout 1"), "{reproduce}");
    let replayed = Nondex::pasted(&fixture.path(""), reproduce).run();
    replayed.expect(ExitCode::Found);
    let place = format!("src/lib.rs:{sleeps}: timed out after 1s");
    assert!(replayed.stderr.contains(&place), "{}", replayed.stderr);

    // An hour that takes no time here is an hour in a plain build.
    let output = Nondex::run_in(&fixture.path(""))
        .args(["--levels", "ONE", "--seeds", "3", "-E", "test(hour)"])
        .run();
    let report = output.expect(ExitCode::Found).report();
    let sometimes = test(&report, "tests::sleeps_for_an_hour_in_another_order");
    assert_eq!(sometimes.verdict, Verdict::ImplementationDependent);
    assert_eq!(sometimes.culprits[0].line, fixture.line("src/lib.rs", "order"));
    let line = fixture.line("src/lib.rs", "hour");
    let failure = &sometimes.failures[0];
    assert_eq!(failure.message, "timed out: 3600s of virtual time in one sleep");
    assert_eq!((failure.file.as_deref(), failure.line), (Some("src/lib.rs"), Some(line)));
    let replayed = Nondex::pasted(&fixture.path(""), sometimes.reproduce.as_deref().unwrap());
    replayed.run().expect(ExitCode::Found);
}

/// Forbids this thread and its processes to change their memory layout, as the policy of a
/// container does.
fn forbid_personality() {
    use seccompiler::{
        SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    };
    // This argument queries the layout without changing it.
    let (length, asks) = (SeccompCmpArgLen::Dword, 0xffff_ffff);
    let changes = SeccompCondition::new(0, length, SeccompCmpOp::Ne, asks).unwrap();
    let rule = SeccompRule::new(vec![changes]).unwrap();
    let number = nix::libc::SYS_personality;
    let filter: seccompiler::BpfProgram = SeccompFilter::new(
        [(number, vec![rule])].into(),
        SeccompAction::Allow,
        SeccompAction::Errno(nix::libc::EPERM as u32),
        std::env::consts::ARCH.try_into().unwrap(),
    )
    .unwrap()
    .try_into()
    .unwrap();
    seccompiler::apply_filter(&filter).unwrap();
}

#[test]
fn every_command_that_fixes_addresses_says_so_where_it_cannot() {
    const NOTE: &str = "address-space randomisation could not be switched off";
    let fixture = Fixture::new("order-races");
    let suite = "
        #[test]
        fn takes_the_first() {
            let set: std::collections::HashSet<u8> = (0..4).collect();
            assert_eq!(set.into_iter().next(), Some(0));
        }
    ";
    fs::write(fixture.path("src/lib.rs"), suite).unwrap();
    let few = ["--seeds", "10", "--levels", "STD"];
    let calls = || {
        // The later commands read the report of the first one.
        let run = Nondex::run_in(&fixture.path(".")).args(few).run();
        let reproduce = test(&run.report(), "takes_the_first").reproduce.clone();
        let replay = Nondex::pasted(&fixture.path("."), &reproduce.unwrap()).run();
        let command = |name| Nondex::command(&fixture.path("."), name).arg("--offline");
        let confirm = command("confirm").args(["takes_the_first", "--seeds", "2"]);
        [run, replay, confirm.run(), command("check").args(few).run(), command("order").run()]
    };
    for output in calls() {
        let shown = format!("{}{}", output.stdout, output.stderr);
        assert!(!shown.contains(NOTE), "{shown}");
    }
    let without = std::thread::scope(|scope| {
        let filtered = scope.spawn(|| {
            forbid_personality();
            calls()
        });
        filtered.join().unwrap()
    });
    for output in without {
        let shown = format!("{}{}", output.stdout, output.stderr);
        assert!(shown.contains(NOTE), "{shown}");
    }
}
