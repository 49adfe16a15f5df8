//! Tests that depend on when their threads run are found, replayed and blamed; those that do not stay stable.

use nondex_core::{Family, Level};
use nondex_harness::exit_code::ExitCode;
use nondex_harness::report::schema::Timing;
use nondex_harness::report::{Culprit, Report, Verdict};

use crate::support::{Fixture, Nondex, test};

/// How often a finding is made again.
const REPLAYS: usize = 5;

fn run(fixture: &Fixture, arguments: &[&str]) -> Report {
    let output = Nondex::run_in(&fixture.path(".")).args(arguments).run();
    output.report()
}

#[test]
fn a_race_is_found_with_the_thread_that_is_held_back_and_made_again_every_time() {
    let fixture = Fixture::new("interleavings");
    let output = Nondex::run_in(&fixture.path("."))
        .args(["-E", "test(/channel/)"])
        .run();
    output.expect(ExitCode::Found);
    output.says(&[
        "error[ND]: `interleavings$race_channel_order` depends on when its threads run",
        "1 ND (1 race)",
    ]);
    let report = output.report();
    let found = test(&report, "race_channel_order");
    assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
    assert_eq!(found.reason, Some(Timing::Race));
    assert!(found.weakest_level.is_some());
    assert!(!found.culprits.is_empty());
    for culprit in &found.culprits {
        assert!(culprit.confirmed, "{found:#?}");
        assert_eq!(culprit.family, Family::Schedule);
    }
    let scheduled = found.scheduled.as_ref().expect("it was scheduled");
    assert!(scheduled.repeatable && scheduled.threads > 1 && scheduled.holds > 0);
    let reproduce = found.reproduce.as_deref().unwrap();
    for _ in 0..REPLAYS {
        let replayed = Nondex::pasted(&fixture.path("."), reproduce).run();
        replayed.expect(ExitCode::Found);
        replayed.says(&["Failed again as recorded"]);
    }
    assert_eq!(
        test(&report, "stable_channel_sorted").verdict,
        Verdict::Stable
    );
}

#[test]
fn a_sleep_that_is_no_join_a_margin_and_a_missed_notification_are_blamed_on_their_lines() {
    let fixture = Fixture::new("interleavings");
    let output = Nondex::run_in(&fixture.path("."))
        .args(["--seeds", "200", "--levels", "STD"])
        .args(["-E", "test(instead) + test(margin) + test(missed)"])
        .run();
    let report = output.report();
    for (name, reason, marks) in [
        ("race_sleep_instead_of_join", Timing::Race, &["late"][..]),
        ("time_margin", Timing::Time, &["sleep"]),
        ("race_missed_notification", Timing::Race, &["ready", "wait"]),
    ] {
        let found = test(&report, name);
        assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
        assert_eq!(found.reason, Some(reason), "{found:#?}");
        assert_eq!(found.delay_level, Some(Level::Std), "{found:#?}");
        for culprit in &found.culprits {
            assert!(culprit.confirmed && culprit.number.is_some(), "{found:#?}");
        }
        let is_marked = |at| {
            let mut lines = marks.iter().map(|mark| fixture.marked("src/lib.rs", mark));
            lines.any(|line| line == at)
        };
        let mut places = found.culprits.iter().map(Culprit::place);
        assert!(places.any(|(_, at, _)| is_marked(at)), "{found:#?}");
    }
    let deadlock = test(&report, "race_missed_notification");
    let scheduled = deadlock.scheduled.as_ref().unwrap();
    assert_eq!(scheduled.end.as_deref(), Some("deadlock"));
    let wait = &scheduled.waits[0];
    assert_eq!(wait.operation, "Condvar::wait");
    assert_eq!(wait.line, Some(fixture.marked("src/lib.rs", "wait")));
    output.says(&["a notification that nobody waits for is lost"]);
}

#[test]
fn what_holds_under_every_schedule_is_stable() {
    let fixture = Fixture::new("interleavings");
    let report = run(&fixture, &["-E", "test(/^stable_/)"]);
    assert_eq!(report.summary.tests, 7);
    for found in &report.tests {
        assert_eq!(found.verdict, Verdict::Stable, "{found:#?}");
        assert_eq!(found.verified, []);
        assert_eq!(found.notes, [""; 0]);
    }
    let chosen = report.tests.iter().flat_map(|test| &test.steps);
    assert!(chosen.filter(|step| step.name == "interleavings").count() >= 5);
}

#[test]
fn with_real_threads_nothing_is_chosen_for_them() {
    let fixture = Fixture::new("interleavings");
    for off in [
        &["--real-threads"][..],
        &["--skip-models", "^(schedule|time)/"],
    ] {
        let arguments = [&["-E", "test(stable_wait_in_a_loop)"], off].concat();
        let report = run(&fixture, &arguments);
        let found = test(&report, "stable_wait_in_a_loop");
        assert_eq!((found.verdict, found.choice_points), (Verdict::Stable, 0));
        assert_eq!((&found.scheduled, found.runs), (&None, 20));
    }
}
