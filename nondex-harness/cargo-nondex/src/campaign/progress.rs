//! Events of a running campaign.

use std::time::Duration;

use nondex_core::{CoveredRecord, Outcome, RunSpec};

use crate::report::{TestReport, exit};

/// Hears what happens, in the order it happens. Called from worker threads, one call at a time; a
/// slow listener slows the campaign down.
pub trait Progress: Sync {
    /// A run of the test with this id was started.
    fn started(&self, test_id: &str, spec: &RunSpec);

    /// That run ended.
    fn finished(&self, test_id: &str, spec: &RunSpec, outcome: &Outcome);

    /// How long the campaign still explores at most, before a run is started.
    fn left(&self, _left: Option<Duration>) {}

    /// That run ran this code, on request.
    fn covered(&self, _test_id: &str, _covered: &[CoveredRecord]) {}

    /// Number of tests that fail in canonical order and are about to be compared with a plain
    /// build.
    fn comparing(&self, _tests: usize) {}

    /// All is known about a test.
    fn judged(&self, test: &TestReport);

    /// Whether a test that was judged fails the run, which may end after some failures.
    fn is_failure(&self, test: &TestReport) -> bool {
        exit::is_failure(test, true)
    }

    /// No other test was begun, because the maximum number had failed.
    fn cancelled(&self) {}
}

/// Hears nothing.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Progress for Silent {
    fn started(&self, _test_id: &str, _spec: &RunSpec) {}
    fn finished(&self, _test_id: &str, _spec: &RunSpec, _outcome: &Outcome) {}
    fn judged(&self, _test: &TestReport) {}
}
