//! How the operations of a test's threads follow each other when it fails.

use nondex_core::protocol::scheduling::HELD_BACK;
use serde::{Deserialize, Serialize};

use super::Line;

/// The operations that matter, of a run in which nothing is delayed but what the culprits delay, in
/// the order in which they were done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterleavingReport {
    /// The threads that do them.
    pub threads: Vec<LaneReport>,
    /// The operations, the first one first.
    pub steps: Vec<LaneStepReport>,
    /// What the delayed thread and another one do to the same thing, once for each delay of which
    /// it is known.
    pub conflicts: Vec<ConflictReport>,
    /// Where that run fails, if it is known: not always where the run of the seed does.
    #[serde(default)]
    pub failed: Option<Line>,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneReport {
    /// The logical path of the thread: `0` is the test's own.
    pub thread: String,
    /// Its name, as long as the system knows it, if it has one.
    pub name: Option<String>,
}

/// What a thread does in one place of the source without another one in between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneStepReport {
    /// Which of the threads does it, from 0.
    pub lane: usize,
    /// The call: of std, of a dependency, or the operation itself, such as `AtomicUsize::store`.
    pub what: String,
    /// The file of the user's own, as in [`Site::file`](nondex_core::Site::file).
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// The value that it finds, of an atomic operation of the user's own.
    pub found: Option<u64>,
    /// The value that it leaves, of the same.
    pub left: Option<u64>,
    /// Whether the thread waits there for another one.
    pub waits: bool,
    /// Of a delay, which stands where the thread is stopped, how long it is, in nanoseconds of
    /// virtual time.
    pub delay_ns: Option<u64>,
    /// How many steps are left out before this one.
    pub skipped: u64,
}

impl LaneStepReport {
    /// Whether it is a delay of a thread that has not called anything yet: its stack has no frame
    /// that is known.
    #[must_use]
    pub fn is_before_all(&self) -> bool {
        self.delay_ns.is_some() && self.file.is_none() && self.what == HELD_BACK
    }
}

/// A thread is delayed between what it does to something, and another one does something to it
/// meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictReport {
    /// What it is: `lock`, `channel`, `file:config`, `env:HOME`, `memory`.
    pub object: String,
    /// The last step before the delay that the delayed thread does to it, of
    /// [`InterleavingReport::steps`].
    pub before: Option<usize>,
    /// The delay.
    pub delay: usize,
    /// The step of the other thread.
    pub meanwhile: usize,
    /// The first step after the delay that the delayed thread does to it.
    pub after: Option<usize>,
}
