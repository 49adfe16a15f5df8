//! Tests that depend on the schedule of their threads are found, replayed and explained. Other
//! tests remain stable.

use std::process::Command;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::schema::{LaneStepReport, Timing, WaitCauseKind};
use cargo_nondex::report::{Culprit, Report, Verdict};
use nondex_core::{Family, Level};

use crate::support::{Fixture, Nondex, test};

/// Number of replays of a finding.
const REPLAYS: usize = 5;

fn run(fixture: &Fixture, arguments: &[&str]) -> Report {
    let output = Nondex::run_in(&fixture.path(".")).args(arguments).run();
    output.report()
}

#[test]
fn a_race_is_found_with_the_thread_that_is_held_back_and_made_again_every_time() {
    let fixture = Fixture::shared("interleavings");
    let output = Nondex::run_in(&fixture.path(".")).args(["-E", "test(/channel/)"]).run();
    output.expect(ExitCode::Found);
    output.prints(&[
        "error[ND]: `interleavings$race_channel_order`: races: two threads use the same channel",
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
        replayed.prints(&["Failed again as recorded"]);
    }
    assert_eq!(test(&report, "stable_channel_sorted").verdict, Verdict::Stable);
}

#[test]
fn of_schedules_that_were_chosen_a_number_is_reported_and_no_probability() {
    let fixture = Fixture::shared("interleavings");
    let output =
        Nondex::run_in(&fixture.path(".")).args(["-E", "test(/^race_lost_update$/)"]).run();
    output.expect(ExitCode::Found);
    output.prints(&["of 10 schedules tried; needs a delay of "]);
    for probability in ["flaky today", " %)"] {
        assert!(!output.stderr.contains(probability), "{}", output.stderr);
    }
    let report = output.report();
    let found = test(&report, "race_lost_update");
    assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
    assert!(found.culprits.iter().all(|culprit| culprit.confirmed));
}

#[test]
fn a_sleep_that_is_no_join_a_margin_and_a_missed_notification_are_blamed_on_their_lines() {
    let fixture = Fixture::shared("interleavings");
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
    let cause = wait.cause.as_ref().expect("who notified is known");
    assert_eq!(cause.kind, WaitCauseKind::Notified);
    assert_eq!(cause.line, Some(fixture.marked("src/lib.rs", "notify")));
    let rests = fixture.marked("src/lib.rs", "rests");
    output.prints(&[
        "a notification without a waiting thread is lost",
        &format!("join` relies on the sleep at src/lib.rs:{rests} being long enough"),
        "it is done",
    ]);
    let findings = output
        .stderr
        .split_once("error[")
        .expect("it has some")
        .1
        .split_once("     Summary")
        .expect("it ends")
        .0;
    for finding in findings.trim_end().split("\n\n") {
        assert!(finding.lines().count() <= 15, "{finding}");
    }
}

#[test]
fn a_thread_may_begin_later_than_some_dozens_of_yields_or_some_thousand_looks_take() {
    let fixture = Fixture::shared("interleavings");
    let report = run(fixture, &["-E", "test(some)"]);
    for (name, mark) in
        [("race_some_dozens_of_yields", "begins"), ("race_some_thousand_looks", "starts")]
    {
        let found = test(&report, name);
        assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
        let begins = fixture.marked("src/lib.rs", mark);
        let mut places = found.culprits.iter().map(Culprit::place);
        assert!(places.any(|(_, at, _)| at == begins), "{found:#?}");
    }
}

#[test]
fn the_report_shows_what_another_thread_does_meanwhile_and_a_trace_is_the_same_under_a_debugger() {
    let fixture = Fixture::shared("interleavings");
    let output = Nondex::run_in(&fixture.path("."))
        .args(["--seeds", "60", "--levels", "STD", "-E", "test(lost)"])
        .arg("--verbose")
        .run();
    let report = output.report();
    let found = test(&report, "race_lost_update");
    let interleaving = found.interleaving.as_ref().expect("it is known");
    let [conflict] = &interleaving.conflicts[..] else {
        panic!("{interleaving:#?}");
    };
    let steps = &interleaving.steps;
    let [load, store] = ["load", "store"].map(|mark| fixture.marked("src/lib.rs", mark));
    let line = |step: Option<usize>| steps[step.expect("it is known")].line;
    assert_eq!(conflict.object, "memory");
    assert_eq!(line(conflict.before), Some(load), "{interleaving:#?}");
    assert_eq!(line(conflict.after), Some(store), "{interleaving:#?}");
    assert_ne!(steps[conflict.meanwhile].lane, steps[conflict.delay].lane);
    assert!(steps[conflict.delay].delay_ns.is_some());
    output.prints(&[
        "meanwhile the ",
        &format!("is stopped between src/lib.rs:{load} and src/lib.rs:{store}"),
        &format!("{load} AtomicU32::load = 0"),
        "the test fails at src/lib.rs:",
    ]);

    let reproduce = found.reproduce.as_deref().unwrap();
    let replayed_with = |backtraces: &str, more: &str| {
        let line = format!("{reproduce} --trace {more}");
        let replay = Nondex::pasted(&fixture.path("."), &line);
        let output = replay.env("RUST_BACKTRACE", backtraces).run();
        output.expect(ExitCode::Found);
        schedule(&[output.stdout, output.stderr].concat())
    };
    let replayed = |more: &str| replayed_with("0", more);
    let plain = replayed("");
    let is_load = |line: &&String| line.contains(": load #") && line.contains(&format!(":{load}"));
    assert_eq!(plain.iter().filter(is_load).count(), 2, "{plain:#?}");
    assert!(plain.iter().any(|line| line.contains("held back")), "{plain:#?}");
    assert_eq!(replayed(""), plain);
    assert_eq!(replayed_with("1", ""), plain);
    let has_gdb = Command::new("gdb").arg("--version").output();
    if has_gdb.is_ok_and(|gdb| gdb.status.success()) {
        for backtraces in ["0", "1"] {
            let under_gdb = replayed_with(backtraces, "--debugger 'gdb -batch -ex run --args'");
            assert_eq!(under_gdb, plain);
        }
    } else {
        eprintln!("not compared under gdb, which is not there");
    }
}

#[test]
fn what_a_test_does_after_it_has_failed_is_not_shown_as_a_reason() {
    let fixture = Fixture::shared("interleavings");
    let report = run(fixture, &["--seeds", "20", "-E", "test(farewell)"]);
    let found = test(&report, "race_with_a_farewell");
    let interleaving = found.interleaving.as_ref().expect("it is known");
    let afterwards = ["farewell", "the end"].map(|mark| fixture.marked("src/lib.rs", mark));
    let mut lines = interleaving.steps.iter().filter_map(|step| step.line);
    assert!(lines.all(|line| !afterwards.contains(&line)), "{interleaving:#?}");
    let failed = interleaving.failed.as_ref().map(|place| place.line);
    assert_eq!(failed, Some(fixture.marked("src/lib.rs", "too early")));
}

#[test]
fn a_run_with_a_trace_fails_as_the_one_without() {
    let fixture = Fixture::new("threads");
    // The thread is delayed in the system call `bind`.
    let arguments = ["--seeds", "60", "-E", "test(socket_after_sleep_10::bug)"];
    let report = run(&fixture, &arguments);
    let found = test(&report, "times::socket_after_sleep_10::bug");
    let interleaving = found.interleaving.as_ref().expect("it is shown");
    assert!(interleaving.failed.is_some(), "{found:#?}");
    let is_in_test = |culprit: &Culprit| Some(culprit.line) < found.line;
    assert!(found.culprits.iter().all(is_in_test), "{found:#?}");
    let line = format!("{} --trace", found.reproduce.as_deref().unwrap());
    let traced = Nondex::pasted(&fixture.path("."), &line).run();
    traced.expect(ExitCode::Found);
    traced.prints(&["Failed again as recorded"]);
}

/// Returns the lines of a schedule without what differs between runs. These are the addresses of
/// what is written to, and the numbers of remaining owners: ended threads release theirs at any
/// time.
fn schedule(output: &str) -> Vec<String> {
    let lines = output.lines().filter(|line| {
        let time = line.trim_start().split_once("  ").map(|(time, _)| time);
        time.is_some_and(|time| time.contains('.') && time.parse::<f64>().is_ok())
    });
    let lines = lines.map(|line| {
        let line = line.split(":[").next().unwrap_or(line);
        let end = line.find(',').filter(|_| line.contains(": fetch_sub "));
        line[..end.unwrap_or(line.len())].to_owned()
    });
    lines.collect()
}

#[test]
fn the_report_on_a_deadlock_shows_which_thread_took_what_the_others_wait_for_and_where() {
    let fixture = Fixture::shared("interleavings");
    let report = run(fixture, &["--seeds", "60", "--levels", "STD", "-E", "test(orders)"]);
    let found = test(&report, "race_locks_in_two_orders");
    let waits = &found.scheduled.as_ref().unwrap().waits;
    for (thread, wants, other, takes) in
        [("0", "wants", "0.0", "other takes"), ("0.0", "other wants", "0", "takes")]
    {
        let line = |mark| Some(fixture.marked("src/lib.rs", mark));
        let wait = waits.iter().find(|wait| wait.thread == thread).unwrap();
        assert_eq!(wait.line, line(wants), "{waits:#?}");
        let cause = wait.cause.as_ref().expect("it is known");
        assert_eq!((cause.kind, &*cause.thread), (WaitCauseKind::Has, other));
        assert_eq!((cause.line, &*cause.what), (line(takes), "Mutex::lock"));
    }
}

#[test]
fn with_debug_information_of_lines_only_what_threads_do_has_its_name() {
    let fixture = Fixture::new("interleavings");
    let output = Nondex::run_in(&fixture.path("."))
        .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
        .args(["--seeds", "60", "--levels", "STD"])
        .args(["-E", "test(lost) + test(orders)"])
        .run();
    let report = output.report();
    let lost = test(&report, "race_lost_update");
    let steps = &lost.interleaving.as_ref().expect("it is known").steps;
    let is_load = |step: &LaneStepReport| step.what == "AtomicU32::load";
    assert!(steps.iter().any(is_load), "{steps:#?}");
    assert!(steps.iter().all(|step| !step.what.is_empty()), "{steps:#?}");
    let waits = &test(&report, "race_locks_in_two_orders").scheduled;
    for wait in &waits.as_ref().unwrap().waits {
        let cause = wait.cause.as_ref().expect("it is known");
        assert_eq!(cause.what, "Mutex::lock", "{waits:#?}");
    }
}

#[test]
fn races_of_plain_accesses_without_a_lock_are_searched_on_request() {
    let fixture = Fixture::shared("interleavings");
    let seeds = ["--seeds", "100", "--levels", "STD", "-E", "test(plain)"];
    let report = run(fixture, &seeds);
    for found in &report.tests {
        assert_eq!(found.verdict, Verdict::Stable, "{found:#?}");
    }
    let output = Nondex::run_in(&fixture.path(".")).args(seeds).arg("--races").run();
    let report = output.report();
    for (name, marks) in [
        ("plain_lost_update", &["plain load", "plain store"][..]),
        ("plain_static_counter", &["static"]),
    ] {
        let found = test(&report, name);
        assert_eq!(found.verdict, Verdict::NonDeterministic, "{found:#?}");
        assert_eq!(found.reason, Some(Timing::Race));
        let lines: Vec<u32> = marks.iter().map(|mark| fixture.marked("src/lib.rs", mark)).collect();
        let mut places = found.culprits.iter().map(Culprit::place);
        assert!(
            places.all(|(_, at, _)| lines.iter().any(|line| line.abs_diff(at) <= 1)),
            "{found:#?}"
        );
        let interleaving = found.interleaving.as_ref().expect("it is known");
        let conflict = &interleaving.conflicts[0];
        assert_eq!(conflict.object, "memory");
        let meanwhile = &interleaving.steps[conflict.meanwhile];
        assert!(["read", "write"].contains(&&*meanwhile.what), "{interleaving:#?}");
        let reproduce = found.reproduce.as_deref().unwrap();
        assert!(reproduce.contains("--races"), "{reproduce}");
        let replayed = Nondex::pasted(&fixture.path("."), reproduce).run();
        replayed.expect(ExitCode::Found);
    }
    let locked = test(&report, "plain_lock_held");
    assert_eq!(locked.verdict, Verdict::Stable, "{locked:#?}");
}

#[test]
fn the_report_on_a_deadlock_under_any_schedule_shows_the_lock_owners_too() {
    let fixture = Fixture::shared("interleavings");
    let output =
        Nondex::run_in(&fixture.path(".")).args(["--timeout", "2", "-E", "test(deadlock)"]).run();
    let report = output.report();
    let found = test(&report, "deadlock_under_any_schedule");
    assert_eq!(found.verdict, Verdict::Broken, "{found:#?}");
    let waits = &found.scheduled.as_ref().unwrap().waits;
    let cause = |thread: &str| {
        let wait = waits.iter().find(|wait| wait.thread == thread);
        wait.and_then(|wait| wait.cause.clone()).expect("it is known")
    };
    assert_eq!(cause("0").kind, WaitCauseKind::Runs);
    assert_eq!(cause("0").thread, "0.0");
    assert_eq!(cause("0.0").kind, WaitCauseKind::Has);
    assert_eq!(cause("0.0").line, Some(fixture.marked("src/lib.rs", "held")));
    output.prints(&[
        "for the end of the 1st thread that the test starts",
        "for a lock that the test's own thread took at src/lib.rs:",
    ]);
}

#[test]
fn what_holds_under_every_schedule_is_stable() {
    let fixture = Fixture::shared("interleavings");
    let report = run(fixture, &["-E", "test(/^stable_/)"]);
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
    let fixture = Fixture::shared("interleavings");
    for off in [&["--real-threads"][..], &["--skip-models", "^(schedule|time)/"]] {
        let arguments = [&["-E", "test(stable_wait_in_a_loop)"], off].concat();
        let report = run(fixture, &arguments);
        let found = test(&report, "stable_wait_in_a_loop");
        assert_eq!((found.verdict, found.choice_points), (Verdict::Stable, 0));
        assert_eq!(found.scheduled, None);
        assert!(found.failure_bound.is_some_and(|bound| bound < 0.14), "{found:#?}");
    }
}
