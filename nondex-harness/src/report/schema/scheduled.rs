//! What the scheduler did in a run, and whether a replay takes the same course.

use serde::{Deserialize, Serialize};

/// What the scheduler did in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scheduled {
    /// How many threads worked for the test, its own included.
    pub threads: u64,
    /// How many operations they did at which another thread could have run.
    pub steps: u64,
    /// How often another thread went on.
    pub switches: u64,
    /// How often a thread was held back.
    pub holds: u64,
    /// How much of its own time passed, in microseconds.
    pub time_us: u64,
    /// How often a thread slept where the scheduler could not see it.
    pub leaks: u64,
    /// How often a thread waited for what no thread of the test does: another process, a device,
    /// another machine.
    pub outside: u64,
    /// How often a thread was stopped between two operations, because it came to none for long.
    pub asynchronous: u64,
    /// Whether a replay is certain to take the same course: the three counts before this are 0.
    pub repeatable: bool,
    /// Why the scheduler ended the process: `deadlock`, `outside` (nothing outside the test let a
    /// thread go on), `livelock` (threads look for ever at what none changes), `steps` or `time`
    /// (the limits of these); null when it did not.
    pub end: Option<String>,
    /// What each thread waited for then.
    #[serde(default)]
    pub waits: Vec<WaitReport>,
}

/// All schedules with few preemptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedules {
    /// With how many preemptions at most.
    pub preemptions: u32,
    /// How many schedules these are: each was run.
    pub count: u64,
    /// With one preemption more there are at least so many, more than were to be tried; null when
    /// that is not why it ends here.
    pub beyond: Option<u64>,
}

/// What one thread waited for when the scheduler ended the process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitReport {
    /// The logical path of the thread.
    pub thread: String,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The operation that it is in.
    pub operation: String,
    /// A number of what it waits for: the same one for the same lock.
    pub on: Option<u64>,
    /// The source file of the nearest frame of the user's own, when known.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Why it waits, when that is known.
    #[serde(default)]
    pub cause: Option<WaitCause>,
}

/// Why a thread waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitCause {
    /// What the other thread has to do with it.
    pub kind: WaitCauseKind,
    /// The logical path of the other thread, or of the waiting one itself.
    pub thread: String,
    /// The call by which it took the lock, or notified.
    pub what: String,
    /// The source file of the nearest frame of the user's own there, when known.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
}

/// What the thread has to do with it that another one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitCauseKind {
    /// It has the lock.
    Has,
    /// It notified before anybody waited.
    Notified,
    /// It has not ended.
    Runs,
}
