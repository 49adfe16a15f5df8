//! How a run ended, and why.

use crate::json;

/// Why a test failed, in its own words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// The panic message, or the error a test returned.
    pub message: String,
    /// Where it panicked.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
}

json::object!(Failure { message, file = optional, line = optional });

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The test function ended as it should.
    Passed,
    /// The test function panicked, returned an error, or did not panic though it should.
    Failed,
    /// The process ended itself before the test function did, with this exit code.
    Exited(i32),
    /// A signal ended the process.
    Signalled(i32),
    /// The run took longer than its time limit and was killed.
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
    /// Whether the test passed.
    pub const fn passed(&self) -> bool {
        matches!(self, Outcome::Passed)
    }
}
