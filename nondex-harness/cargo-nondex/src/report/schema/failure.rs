//! One failing run of a test.

use nondex_core::{Failure, Level, Outcome, RunSpec, Schedule};
use serde::{Deserialize, Serialize};

/// Maximum number of [`TestReport::failures`](super::TestReport::failures).
pub const MAX_FAILURES: usize = 64;

/// One failing run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureReport {
    /// Id for `cargo nondex replay`: see [`report::id`](crate::report::id).
    pub id: Option<String>,
    /// Level; null for a clean run.
    pub level: Option<Level>,
    /// Seed; null for a clean run.
    pub seed: Option<u64>,
    /// How the seed is mapped to orders. A regression keeps its own mapping.
    #[serde(default, skip_serializing_if = "Schedule::is_default")]
    pub schedule: Schedule,
    /// Panic message, returned error, or how the process ended.
    pub message: String,
    /// File of the panic, if known; after a time-out, file of a line that a thread was executing.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// How the run ended: `"failed"`, `"timed_out"`, `{"exited": code}` or `{"signalled": number}`.
    #[serde(default = "failed")]
    pub outcome: Outcome,
    /// Time that the run needs to end as it did, in milliseconds, if longer than the run's time
    /// limit. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_ms: Option<u64>,
    /// Tests that ran before it in the same process, in order. Absent if it was the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// Whether its threads and its time were scheduled. Absent if they were real.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scheduled: bool,
    /// Maximum number of operations of its scheduled threads. Absent for the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<u64>,
}

impl FailureReport {
    /// Creates a failing clean run with this outcome and failure.
    pub fn new(outcome: Outcome, failure: Option<Failure>) -> Self {
        let Failure { message, file, line, .. } = failure.unwrap_or_default();
        FailureReport {
            id: None,
            level: None,
            seed: None,
            schedule: Schedule::default(),
            message,
            file,
            line,
            outcome,
            limit_ms: None,
            before: Vec::new(),
            scheduled: false,
            max_steps: None,
        }
    }

    /// Creates a failing run of `spec`, with its id.
    pub fn of(id: String, spec: &RunSpec, outcome: Outcome, failure: Option<Failure>) -> Self {
        let drawn = spec.drawn();
        FailureReport {
            id: Some(id),
            level: drawn.map(|drawn| drawn.level),
            seed: drawn.map(|drawn| drawn.seed),
            schedule: spec.schedule(),
            before: spec.before().to_vec(),
            scheduled: spec.is_scheduled(),
            max_steps: Some(spec.max_steps()).filter(|steps| *steps > 0),
            ..FailureReport::new(outcome, failure)
        }
    }

    /// Creates a failing clean run without any details.
    pub fn clean(outcome: Outcome) -> Self {
        Self::new(outcome, None)
    }
}

const fn failed() -> Outcome {
    Outcome::Failed
}
