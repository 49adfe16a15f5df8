//! Tests of a campaign's progress events, and of the report of a stopped campaign.

use super::*;

/// Listener that counts events, and stops the campaign after a number of runs.
#[derive(Debug, Default)]
struct Counter {
    started: AtomicU64,
    finished: AtomicU64,
    judged: AtomicU64,
    stop_after: Option<u64>,
    stop: StopFlag,
}

impl Progress for Counter {
    fn started(&self, test_id: &str, _spec: &RunSpec) {
        assert!(test_id.starts_with("pkg::it$"));
        self.started.fetch_add(1, Ordering::Relaxed);
    }
    fn finished(&self, _test_id: &str, _spec: &RunSpec, _outcome: &Outcome) {
        let finished = self.finished.fetch_add(1, Ordering::Relaxed) + 1;
        if self.stop_after == Some(finished) {
            self.stop.stop();
        }
    }
    fn judged(&self, _test: &TestReport) {
        self.judged.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn progress_hears_of_every_run_and_every_judgement() {
    let project =
        Project::new(Harness::Nondex, "[ $name = a ] && point 1 3 100; end true", &["a", "b"]);
    let counter = Counter::default();
    let report = project.run_with(&counter, &StopFlag::new());
    let [started, finished, judged] =
        [counter.started, counter.finished, counter.judged].map(AtomicU64::into_inner);
    assert_eq!(finished, 54);
    // On a busy machine, runs take long. A run that cannot be confined is started twice.
    assert!(started >= finished);
    assert_eq!(judged, 2);
    assert!(!report.partial);
}

#[test]
fn a_stopped_campaign_reports_what_it_has_and_says_that_it_is_partial() {
    let mut project = Project::new(
        Harness::Nondex,
        "[ $name = c ] && exec sleep 1000; [ $name = b ] && point 1 3 100; end true",
        &["a", "b", "c"],
    );
    project.options.jobs = NonZeroUsize::MIN;
    let counter = Counter { stop_after: Some(4), ..Counter::default() };
    let report = project.run_with(&counter, &counter.stop);
    assert!(report.partial);
    assert_eq!(
        verdicts(&report),
        [("a", Verdict::Stable), ("b", Verdict::NotRun), ("c", Verdict::NotRun)]
    );
    let runs: Vec<u64> = report.tests.iter().map(|test| test.runs).collect();
    assert_eq!(runs, [2, 2, 0]);
    assert_eq!(crate::report::exit_code(&report), crate::exit_code::ExitCode::Found);
}

#[test]
fn a_stopped_campaign_says_what_it_knows_of_a_test_that_fails() {
    let mut project =
        Project::new(Harness::Nondex, "point 1 3 100; made 1 && end false; end true", &["a"]);
    project.options.jobs = NonZeroUsize::MIN;
    let counter = Counter { stop_after: Some(25), ..Counter::default() };
    let report = project.run_with(&counter, &counter.stop);
    assert!(report.partial);
    let test = &report.tests[0];
    assert_eq!(test.verdict, Verdict::ImplementationDependent);
    assert_eq!(test.weakest_level, Some(Level::Std));
    assert!(test.reproduce.is_some() && test.failures.len() > 1);
    let note = test.notes.last().unwrap();
    assert!(note.contains("cargo nondex explain 'a'"), "{note}");
}
