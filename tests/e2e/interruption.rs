//! Runs that are interrupted, and runs that meet.

use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use nondex_harness::exit_code::ExitCode;
use nondex_harness::report::Verdict;

use crate::support::{Fixture, Nondex, Output, test};

/// How long a build and the start of a test may take before this test gives up: far more than they do.
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
    kill(
        Pid::from_raw(i32::try_from(child.id()).unwrap()),
        Signal::SIGINT,
    )
    .unwrap();
    let output = Output::of(child);

    let report = output.expect(ExitCode::Found).report();
    assert!(report.partial);
    assert_eq!(report.tests.len(), 2);
    assert_eq!(test(&report, "waits").verdict, Verdict::NotRun);
    output.says(&["Partial the run did not come to its end"]);
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
        assert_eq!(
            test(report, "tests::std_own_map").verdict,
            Verdict::ImplementationDependent
        );
        assert_eq!(report.summary.stable, 2);
    }
    let places = [first, second].map(|report| test(report, "tests::std_own_map").culprits.clone());
    assert_eq!(places[0], places[1], "the seed alone decides");
}
