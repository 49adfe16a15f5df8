//! The work of the scheduler in a run, and whether a replay takes the same course.

use serde::{Deserialize, Serialize};

use super::Line;

/// What the scheduler did in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scheduled {
    /// Number of threads that worked for the test, its own included.
    pub threads: u64,
    /// Number of operations at which another thread could have run.
    pub steps: u64,
    /// Number of changes to another thread.
    pub switches: u64,
    /// Number of injected delays.
    pub holds: u64,
    /// Virtual time that passed, in microseconds.
    pub time_us: u64,
    /// Number of sleeps that the scheduler could not see.
    pub leaks: u64,
    /// Number of waits for something that no thread of the test does: another process, a device,
    /// another machine.
    pub outside: u64,
    /// Number of interruptions of threads that reached no operation for long.
    pub asynchronous: u64,
    /// Whether a replay is certain to take the same course: the three counts before this are 0.
    pub repeatable: bool,
    /// Why the scheduler ended the process; null if it did not. `deadlock`; `outside` (nothing
    /// outside the test let a thread continue); `livelock` (threads spin forever); `steps` or
    /// `time` (a limit).
    pub end: Option<String>,
    /// Whether a thread panicked before a deadlock, which may be the consequence of that.
    #[serde(default)]
    pub after_panic: bool,
    /// What each thread waited for then.
    #[serde(default)]
    pub waits: Vec<WaitReport>,
}

/// All schedules with few preemptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedules {
    /// Maximum number of preemptions.
    pub preemptions: u32,
    /// Number of schedules, all of which ran.
    pub count: u64,
    /// Minimum number of schedules with one more preemption, if these were too many. Null if the
    /// list ends for another reason.
    pub beyond: Option<u64>,
}

/// What a thread waited for when the scheduler ended the process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitReport {
    /// Logical path of the thread.
    pub thread: String,
    /// Name, if it has one.
    pub name: Option<String>,
    /// Operation in progress.
    pub operation: String,
    /// Number of the awaited object: the same number for the same lock.
    pub on: Option<u64>,
    /// Source file of the nearest frame of user code, if known.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Call that led there, if another thread waits in the same line because of another call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Line>,
    /// Last line of the workspace that the thread ran, if an executor waits there for its tasks, or
    /// if no frame is in the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Line>,
    /// Why it waits, if known.
    pub cause: Option<WaitCause>,
}

/// Why a thread waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitCause {
    /// Role of the other thread.
    pub kind: WaitCauseKind,
    /// Logical path of the other thread, or of the waiting one.
    pub thread: String,
    /// Call that took the lock, or that notified.
    pub what: String,
    /// Source file of the nearest frame of user code there, if known.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
}

/// Role of a thread that another one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitCauseKind {
    /// It owns the lock.
    Has,
    /// It notified before the other one waited.
    Notified,
    /// It notified while the other one waited, which woke another waiting thread.
    Another,
    /// It has not ended.
    Runs,
}
