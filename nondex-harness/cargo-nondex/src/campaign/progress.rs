//! Events of a running campaign.

use std::time::Duration;

use nondex_core::{CoveredRecord, Outcome, RunSpec};

use crate::report::{TestReport, exit};

/// Listener for the events of a campaign. Worker threads call it, several possibly at the same
/// time. A slow listener slows the campaign down.
pub trait Progress: Sync {
    /// Receives the start of a run of the test with this id.
    fn started(&self, test_id: &str, spec: &RunSpec);

    /// Receives the end of this run.
    fn finished(&self, test_id: &str, spec: &RunSpec, outcome: &Outcome);

    /// Receives the remaining time for exploring, before a run is started.
    fn left(&self, _left: Option<Duration>) {}

    /// Receives the name of a step of a search that begins.
    fn step(&self, _step: &'static str) {}

    /// Receives the number of runs that the step makes next.
    fn requested(&self, _runs: usize) {}

    /// Receives the code that a run executed, if it was requested.
    fn covered(&self, _test_id: &str, _covered: &[CoveredRecord]) {}

    /// Receives the number of tests that fail in canonical order and are about to be compared with
    /// a plain build.
    fn comparing(&self, _tests: usize) {}

    /// Receives notice that a test is explored: it is judged, or its judgement waits for what is
    /// made for many tests at once.
    fn explored(&self) {}

    /// Receives the final report of a test.
    fn judged(&self, test: &TestReport);

    /// Returns whether a judged test counts as a failure. The campaign may end after some failures.
    fn is_failure(&self, test: &TestReport) -> bool {
        exit::is_failure(test, true)
    }

    /// Receives notice that the maximum number of tests has failed, so that no other test was
    /// begun.
    fn cancelled(&self) {}
}

/// Listener that ignores all events.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Progress for Silent {
    fn started(&self, _test_id: &str, _spec: &RunSpec) {}
    fn finished(&self, _test_id: &str, _spec: &RunSpec, _outcome: &Outcome) {}
    fn judged(&self, _test: &TestReport) {}
}
