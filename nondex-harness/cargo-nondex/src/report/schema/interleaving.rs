//! The order of thread operations in a run that shows what decides.

use nondex_core::protocol::scheduling::DELAYED;
use serde::{Deserialize, Serialize};

use super::Line;

/// Operations that matter in a run with only the culprits' delays, in order. If the test deadlocks
/// in canonical order, those of a clean run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterleavingReport {
    /// Threads.
    pub threads: Vec<LaneReport>,
    /// Operations, in order.
    pub steps: Vec<LaneStepReport>,
    /// Accesses of the delayed thread and another one to the same object, one for each known delay.
    pub conflicts: Vec<ConflictReport>,
    /// Where that run fails, if known; not always where the seed's run does.
    pub failed: Option<Line>,
}

/// Thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneReport {
    /// Logical path of the thread: `0` is the test's own.
    pub thread: String,
    /// Name, as the system truncates it, if it has one.
    pub name: Option<String>,
}

/// Consecutive operations of a thread at one place in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneStepReport {
    /// Index of the thread, from 0.
    pub lane: usize,
    /// Call of std or of a dependency, or the operation, such as `AtomicUsize::store`.
    pub what: String,
    /// File of user code, as in [`Site::file`](nondex_core::Site::file).
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Value that an atomic operation of user code reads.
    pub found: Option<u64>,
    /// Value that it writes.
    pub left: Option<u64>,
    /// Whether the thread waits there for another one.
    pub waits: bool,
    /// For a delay: its length, in nanoseconds of virtual time.
    pub delay_ns: Option<u64>,
    /// Number of omitted steps before this one.
    pub skipped: u64,
}

impl LaneStepReport {
    /// Returns whether this is a delay of a thread that has not called anything yet. Its stack has
    /// no known frame.
    pub fn is_before_all(&self) -> bool {
        self.delay_ns.is_some() && self.file.is_none() && self.what == DELAYED
    }
}

/// Object that a thread accesses before or after a delay, and another thread meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictReport {
    /// `lock`, `channel`, `file:config`, `env:HOME`, `memory`.
    pub object: String,
    /// Last step of the delayed thread on the object before the delay, an index of
    /// [`InterleavingReport::steps`].
    pub before: Option<usize>,
    /// Delay.
    pub delay: usize,
    /// Step of the other thread.
    pub meanwhile: usize,
    /// First step of the delayed thread on the object after the delay.
    pub after: Option<usize>,
    /// Sleep of the other thread right before its step: no other operation postpones the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sleep: Option<usize>,
}
