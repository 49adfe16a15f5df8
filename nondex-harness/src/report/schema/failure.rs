//! One failing run of a test.

use nondex_core::{Level, Outcome, Schedule};
use serde::{Deserialize, Serialize};

/// How many [`TestReport::failures`](super::TestReport::failures) are kept.
pub const MAX_FAILURES: usize = 64;

/// One failing run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureReport {
    /// What `cargo nondex replay` takes: see [`report::id`](crate::report::id).
    #[serde(default)]
    pub id: Option<String>,
    /// The level; null for a clean run.
    pub level: Option<Level>,
    /// The seed; null for a clean run.
    pub seed: Option<u64>,
    /// Which order the seed means: not always what the campaign's own seeds mean, because a
    /// regression keeps its own schedule.
    #[serde(default, skip_serializing_if = "Schedule::is_default")]
    pub schedule: Schedule,
    /// The panic message, the error the test returned, or how the process ended.
    pub message: String,
    /// Where it panicked, when known.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// How the run ended: `"failed"`, `"timed_out"`, `{"exited": code}` or `{"signalled": number}`.
    #[serde(default = "failed")]
    pub outcome: Outcome,
    /// How long it must be allowed to take so that it ends as it did, in milliseconds, when that is
    /// longer than the run's time limit: it ended late, or a hang was proven so. Absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ms: Option<u64>,
    /// The tests that ran before it in the same process, in this order; absent when it was the
    /// first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// Whether its threads and its time were scheduled; absent when they were real.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub scheduled: bool,
}

impl FailureReport {
    /// A clean run that ended so, of which nothing else is known.
    #[must_use]
    pub fn clean(outcome: Outcome) -> Self {
        FailureReport {
            id: None,
            level: None,
            seed: None,
            schedule: Schedule::default(),
            message: String::new(),
            file: None,
            line: None,
            outcome,
            limit_ms: None,
            before: Vec::new(),
            scheduled: false,
        }
    }
}

const fn failed() -> Outcome {
    Outcome::Failed
}
