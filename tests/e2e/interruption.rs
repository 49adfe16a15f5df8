//! Interrupted runs, and several runs at the same time.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::thread;
use std::time::{Duration, Instant};

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use crate::support::{Fixture, Nondex, Output, cargo, test};

/// Time limit of this test for a build and the start of a test. It is far longer than they take.
const PATIENCE: Duration = Duration::from_secs(300);

#[test]
fn an_interrupted_run_leaves_a_report_that_says_so() {
    let fixture = Fixture::new("slow");
    let folder = tempfile::tempdir().unwrap();
    let started = folder.path().join("started");
    let run = Nondex::run_in(&fixture.path(""))
        .args(["--timeout", "3600"])
        .env("FIXTURE_FOLDER", folder.path());
    let mut child = run.spawn();
    let given_up = Instant::now() + PATIENCE;
    while !started.exists() {
        assert!(
            child.try_wait().unwrap().is_none() && Instant::now() < given_up,
            "the test was never started"
        );
        thread::sleep(Duration::from_millis(20));
    }
    // `timeout` sends its signal both to its command and to the process group.
    let driver = Pid::from_raw(i32::try_from(child.id()).unwrap());
    for _ in 0..2 {
        kill(driver, Signal::SIGTERM).unwrap();
        thread::sleep(Duration::from_millis(1));
    }
    let output = Output::of(child);

    let report = output.expect(ExitCode::Found).report();
    assert!(report.partial);
    assert_eq!(report.tests.len(), 2);
    assert_eq!(test(&report, "waits").verdict, Verdict::NotRun);
    output.prints(&["Partial the run did not finish"]);
}

#[test]
fn an_interrupted_search_for_orders_reports_what_it_has_found_and_what_it_left_out() {
    let fixture = Fixture::new("order-ends");
    let folder = tempfile::tempdir().unwrap();
    let child = Nondex::reported(&fixture.path(""), "order")
        .args(["--test", "stopped", "--timeout", "3600", "--jobs", "1"])
        .env("FIXTURE_FOLDER", folder.path())
        .spawn();
    wait_until("the test waits", || folder.path().join("started").exists());
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap());
    kill(id, Signal::SIGINT).unwrap();
    let output = Output::of(child);

    let report = output.expect(ExitCode::Found).report();
    assert!(report.partial);
    let found = test(&report, "b_is_a_victim");
    assert_eq!(found.verdict, Verdict::OrderDependentVictim, "{found:#?}");
    let order = found.order.as_ref().expect("its order is known");
    assert_eq!(order.sets, [["a_pollutes"]]);
    let left_out = test(&report, "c_waits_alone");
    assert_eq!(left_out.verdict, Verdict::NotRun, "{left_out:#?}");
    assert!(left_out.notes[0].contains("stopped early"));
    assert_eq!(test(&report, "d_stains").verdict, Verdict::Stable);
    output.prints(&[
        "3 of 4 tests are judged",
        "the tests that `c_waits_alone` depends on are not known yet",
        "Partial the run did not finish",
    ]);
}

#[test]
fn what_another_version_built_is_removed_when_nobody_uses_it_any_more() {
    let fixture = Fixture::new("backtraces");
    let build = fixture.path("target/nondex/build");
    let list = || Nondex::command(&fixture.path(""), "list");
    list().run().expect(ExitCode::Ok);
    // Simulates another version that uses the folder.
    let kept = build.join("kept");
    fs::write(&kept, "").unwrap();
    fs::write(build.join("nondex-runtime"), "another version").unwrap();
    let in_use = File::open(build.with_extension("lock")).unwrap();
    in_use.lock_shared().unwrap();
    let child = list().spawn();
    let waiting = format!(" {} ", child.id());
    wait_until("it waits for the lock", || {
        let locks = fs::read_to_string("/proc/locks").unwrap();
        let mut locks = locks.lines();
        locks.any(|lock| lock.contains("-> FLOCK") && lock.contains(&waiting))
    });
    assert!(kept.exists());
    drop(in_use);
    let output = Output::of(child);
    output.expect(ExitCode::Ok).prints(&["Blocking waiting for another version of cargo nondex"]);
    assert!(!kept.exists());
}

/// Waits until `is_so` returns true, and panics after [`PATIENCE`].
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let given_up = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < given_up, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_driver_that_is_killed_leaves_no_test_behind() {
    let fixture = Fixture::new("slow");
    let folder = tempfile::tempdir().unwrap();
    let started = folder.path().join("started");
    let run = Nondex::run_in(&fixture.path(""))
        // In scheduled time, the sleep would end at once.
        .args(["--timeout", "3600", "--real-threads", "waits"])
        .env("FIXTURE_FOLDER", folder.path());
    let mut child = run.spawn();
    // The test writes its process id.
    let process = || fs::read_to_string(&started).ok()?.parse().ok();
    wait_until("the test is started", || process().is_some());
    let test = Pid::from_raw(process().unwrap());
    assert!(kill(test, None).is_ok());
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("the test is ended with the driver", || is_gone(test));
}

/// Returns whether a process has ended. A zombie has.
fn is_gone(process: Pid) -> bool {
    let state = fs::read_to_string(format!("/proc/{process}/stat"));
    state.map_or(true, |state| state.contains(") Z "))
}

#[test]
fn ctrl_c_ends_the_tests_of_another_command() {
    let fixture = Fixture::new("slow");
    let folder = tempfile::tempdir().unwrap();
    let started = folder.path().join("started");
    let process = || fs::read_to_string(&started).ok()?.parse().ok();
    // All tests of an executable, as with `cargo test`, and one test, as with nextest.
    for named in [&["waits"][..], &["--exact", "waits", "--nocapture"]] {
        let run = Nondex::command(&fixture.path(""), "with")
            .args(["--real-threads", "--"])
            .arg(cargo())
            .args(["test", "--offline", "--"])
            .args(named)
            .env("FIXTURE_FOLDER", folder.path());
        let child = run.in_own_group().spawn();
        wait_until("the test is started", || process().is_some());
        let test = Pid::from_raw(process().unwrap());
        let group = Pid::from_raw(i32::try_from(child.id()).unwrap());
        killpg(group, Signal::SIGINT).unwrap();
        let output = Output::of(child);
        assert_ne!(output.code, Some(0));
        wait_until("the test is ended with its command", || is_gone(test));
        fs::remove_file(&started).unwrap();
    }
}

#[test]
fn a_signal_for_the_driver_alone_ends_its_command_and_shows_in_the_exit_code() {
    let fixture = Fixture::new("no-tests");
    let folder = tempfile::tempdir().unwrap();
    let started = folder.path().join("started");
    // Other signals are ignored where this test runs in the background or under `nohup`.
    for (script, expected) in [
        // The exit code of a shell whose command a signal ended.
        ("", 143),
        // A command that handles the signal before it ends.
        ("trap 'exit 7' TERM", 7),
    ] {
        let path = started.display();
        let script = format!("{script}\necho > '{path}'\nwhile :; do sleep 0.1; done");
        let child =
            Nondex::command(&fixture.path(""), "with").args(["--", "sh", "-c", &script]).spawn();
        wait_until("the command is started", || started.exists());
        let driver = Pid::from_raw(i32::try_from(child.id()).unwrap());
        kill(driver, Signal::SIGTERM).unwrap();
        assert_eq!(Output::of(child).code, Some(expected), "{script}");
        fs::remove_file(&started).unwrap();
    }
}

#[test]
fn a_signal_for_the_driver_alone_ends_its_wait_for_another_process() {
    let fixture = Fixture::new("no-tests");
    Nondex::run_in(&fixture.path("")).run().expect(ExitCode::NoTests);
    let build = fixture.path("target/nondex/build");
    let of_cargo: Vec<_> = fs::read_dir(&build)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("debug/.cargo-lock"))
        .filter(|lock| lock.exists())
        .collect();
    assert!(!of_cargo.is_empty());
    for locks in [vec![build.with_extension("lock")], of_cargo] {
        let held: Vec<File> = locks.iter().map(|lock| File::open(lock).unwrap()).collect();
        held.iter().for_each(|lock| lock.lock().unwrap());
        let mut child = Nondex::run_in(&fixture.path("")).spawn();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line.contains("Blocking waiting for")), "{locks:?}");
        kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGTERM).unwrap();
        wait_until("the command ends", || child.try_wait().unwrap().is_some());
        assert_eq!(child.wait().unwrap().code(), Some(ExitCode::BuildFailed as i32), "{locks:?}");
        assert!(lines.any(|line| line.contains("interrupted while")), "{locks:?}");
    }
}

#[test]
fn ctrl_c_while_the_runtime_is_built_ends_the_command() {
    let fixture = Fixture::new("no-tests");
    let cache = tempfile::tempdir().unwrap();
    let run = Nondex::with_cache(&fixture.path(""), cache.path());
    let child = run.arg("--offline").in_own_group().spawn();
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap());
    let folders = || {
        let entries = fs::read_dir(cache.path()).into_iter().flatten();
        entries.flatten().map(|entry| entry.path())
    };
    wait_until("the build has begun", || {
        folders().any(|folder| folder.join("src/target/release").exists())
    });
    killpg(id, Signal::SIGINT).unwrap();
    let output = Output::of(child);
    output.expect(ExitCode::BuildFailed).prints(&["interrupted while"]);
    let builds = output.stderr.matches("Compiling nondex-core").count();
    assert!(builds <= 1, "{}", output.stderr);
    assert_eq!(folders().count(), 0, "nothing half built is left");
}

#[test]
fn time_that_is_over_ends_the_run_with_what_is_known() {
    let fixture = Fixture::new("slow");
    let folder = tempfile::tempdir().unwrap();
    let run = Nondex::run_in(&fixture.path(""))
        .args(["--timeout", "3600", "--max-time", "10"])
        .env("FIXTURE_FOLDER", folder.path());
    let output = run.run();
    let report = output.expect(ExitCode::Found).report();
    assert!(report.partial);
    assert_eq!(test(&report, "a_quick_one").verdict, Verdict::Stable);
    assert_eq!(test(&report, "waits").verdict, Verdict::NotRun);
    output.prints(&["`--max-time` was reached after 1 of 2 tests were judged"]);
}

#[test]
fn two_runs_on_one_project_do_not_disturb_each_other() {
    let fixture = Fixture::new("findings");
    let run = || {
        Nondex::run_in(&fixture.path("app"))
            .args(["--lib", "--seeds", "4", "std_own_map", "stable"])
            .spawn()
    };
    let children = [run(), run()];
    let reports = children.map(|child| Output::of(child).expect(ExitCode::Found).report());
    let [first, second] = &reports;
    assert_ne!(first.run.id, second.run.id);
    for report in &reports {
        assert_eq!(test(report, "tests::std_own_map").verdict, Verdict::ImplementationDependent);
        assert_eq!(report.summary.stable, 2);
    }
    let places = [first, second].map(|report| test(report, "tests::std_own_map").culprits.clone());
    assert_eq!(places[0], places[1], "the seed alone decides");
}
