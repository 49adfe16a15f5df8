//! What the scheduler did in one test: how far it got, whether a replay takes the same course, and
//! why it ended the process, if it did.

use crate::json;

use super::site::Frame;
use super::trace::{Trace, TracedStack};

/// Default maximum of operations of all threads of a test.
pub const MAX_STEPS: u64 = 10_000_000;

/// What a thread does that is delayed, where the [name of an
/// operation](super::trace::TracedOperation::operation) stands.
pub const DELAYED: &str = "held back";

/// What the scheduler did in one test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleRecord {
    /// How many threads worked for the test, its own included.
    pub threads: u64,
    /// How many operations they did at which another thread could have run.
    pub steps: u64,
    /// About how many operations could be recorded of it.
    pub operations: u64,
    /// How often another thread went on.
    pub switches: u64,
    /// How often a thread was delayed.
    pub holds: u64,
    /// The longest delay that was chosen, in nanoseconds of virtual time.
    pub longest_delay: u64,
    /// How much virtual time passed, in microseconds.
    pub time_us: u64,
    /// By how much of it delays that were chosen have prolonged waits, in microseconds. Delays of
    /// several threads at once are added up.
    pub delayed_us: u64,
    /// The longest sleep or timed wait of one thread that came to its time, if it was long.
    pub longest_sleep: Option<SleepRecord>,
    /// By how much virtual time was ahead of the clock of a child when it started, in microseconds.
    /// 0 if the scheduler could wait for real time before each child.
    pub visible_lead_us: u64,
    /// How often a thread slept in the kernel where the scheduler could not see it, and another one
    /// was let go.
    pub leaks: u64,
    /// How often a thread waited for what no thread of the test does: another process, a device,
    /// another machine.
    pub outside: u64,
    /// How often a thread was stopped between two operations, because it came to none for long.
    pub asynchronous: u64,
    /// Why the scheduler ended the process, if it did.
    pub end: Option<ScheduleEnd>,
    /// Of a run of a systematic seed: what could have been decided.
    pub course: Option<Course>,
    /// The operations, when the spec asked for them.
    pub trace: Option<Trace>,
}

json::object!(ScheduleRecord {
    threads,
    steps,
    operations = optional,
    switches,
    holds = optional,
    longest_delay = optional,
    time_us,
    delayed_us = optional,
    longest_sleep = optional,
    visible_lead_us = optional,
    leaks = optional,
    outside = optional,
    asynchronous = optional,
    end = optional,
    course = optional,
    trace = optional,
});

/// A sleep, or a wait with a time limit that came to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SleepRecord {
    /// Its duration in microseconds of virtual time, without what was added by choice.
    pub us: u64,
    /// Where it was.
    pub stack: TracedStack,
}

json::object!(SleepRecord { us, stack });

/// The decisions of a run about which thread goes on, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Course {
    /// Of each decision the thread that could be delayed, and whether that is a preemption: see
    /// [`Decision`].
    pub decisions: Vec<u64>,
    /// Whether nothing else than these decided which thread went on.
    pub is_whole: bool,
}

json::object!(Course { decisions = optional, is_whole as "whole" = optional });

/// Maximum number of decisions that are recorded.
pub const MAX_DECISIONS: usize = 1_000;

/// A decision about which thread goes on, at which another one could have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Which thread is delayed or goes on, in the order in which they were started, from 0.
    pub thread: u32,
    /// Whether to hold it back is a preemption: not so when the thread before it could not go on,
    /// or gave way.
    pub is_preemption: bool,
}

impl From<Decision> for u64 {
    fn from(decision: Decision) -> u64 {
        u64::from(decision.thread) << 1 | u64::from(decision.is_preemption)
    }
}

impl From<u64> for Decision {
    fn from(number: u64) -> Decision {
        Decision { thread: (number >> 1) as u32, is_preemption: number & 1 == 1 }
    }
}

impl ScheduleRecord {
    /// Whether a run of the same spec takes the same course, as far as the scheduler is concerned.
    pub const fn is_repeatable(&self) -> bool {
        self.leaks == 0 && self.outside == 0 && self.asynchronous == 0
    }
}

/// Why the scheduler ended the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleEnd {
    /// What came to its end.
    pub kind: ScheduleEndKind,
    /// What each thread that was left waited for, or did, in the order in which they were started.
    pub waits: Vec<WaitRecord>,
}

json::object!(ScheduleEnd { kind, waits });

/// What came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleEndKind {
    /// Every thread waits for another one, and nobody else could let one go on.
    Deadlock,
    /// Every thread waits, and nobody outside let one go on for long, who could have: another
    /// process, a signal, a thread that is not scheduled.
    Outside,
    /// Every thread that does not wait looks again and again at what none of them changes, and
    /// nobody else could.
    Livelock,
    /// The limit of operations.
    Steps,
    /// The limit of virtual time.
    Time,
}

json::words!(ScheduleEndKind {
    Deadlock = "deadlock",
    Outside = "outside",
    Livelock = "livelock",
    Steps = "steps",
    Time = "time",
});

/// What one thread waited for when the scheduler ended the process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitRecord {
    /// The logical thread path, as in [`PointRecord::thread`](crate::PointRecord::thread).
    pub thread: String,
    /// The name of the thread, if it has one.
    pub name: Option<String>,
    /// The operation that it is in, such as `join`.
    pub operation: String,
    /// A number of what it waits for: the same one for the same lock.
    pub on: Option<u64>,
    /// Its stack, innermost frame first, when the spec asked for stacks.
    pub stack: Vec<Frame>,
}

json::object!(WaitRecord {
    thread,
    name = optional,
    operation,
    on = optional,
    stack = optional,
});
