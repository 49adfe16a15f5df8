//! How a run ended, and why.

use crate::json;

/// Reason for a failure, as the test reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// The panic message, or the error a test returned.
    pub message: String,
    /// Source file of the panic.
    pub file: Option<String>,
    /// Line number, from 1.
    pub line: Option<u32>,
}

json::object!(Failure { message, file = optional, line = optional });

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The test function ended as expected.
    Passed,
    /// The test function panicked, returned an error, or did not panic although it should have.
    Failed,
    /// The process exited with this code before the end of the test function.
    Exited(i32),
    /// A signal ended the process.
    Signalled(i32),
    /// The run exceeded its time limit and was killed.
    TimedOut,
}

json::variants!(Outcome {
    Passed = "passed",
    Failed = "failed",
    Exited(code) = "exited",
    Signalled(signal) = "signalled",
    TimedOut = "timed_out",
});

impl Outcome {
    /// Returns whether the test passed.
    pub const fn passed(&self) -> bool {
        matches!(self, Outcome::Passed)
    }
}
