//! The record of the scheduler in one test: its progress, whether a replay takes the same course,
//! and why it ended the process, if it did.

use crate::json;

use super::site::Frame;
use super::trace::{Trace, TracedStack};

/// Default maximum number of operations of all threads of a test.
pub const MAX_STEPS: u64 = 10_000_000;

/// Name of a delay in the [name of an operation](super::trace::TracedOperation::operation).
pub const DELAYED: &str = "held back";

/// Record of the scheduler in one test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleRecord {
    /// Number of threads that worked for the test, including its own.
    pub threads: u64,
    /// Number of their operations at which another thread could have run.
    pub steps: u64,
    /// Approximate number of operations that a trace could record.
    pub operations: u64,
    /// Number of times that another thread continued.
    pub switches: u64,
    /// Number of times that a thread was delayed.
    pub holds: u64,
    /// Longest injected delay, in nanoseconds of virtual time.
    pub longest_delay: u64,
    /// Virtual time that passed, in microseconds.
    pub time_us: u64,
    /// Virtual time by which injected delays prolonged waits, in microseconds. Simultaneous delays
    /// of several threads are added up.
    pub delayed_us: u64,
    /// Longest sleep, or timed wait that timed out, of one thread, if it was long.
    pub longest_sleep: Option<SleepRecord>,
    /// Lead of virtual time over the clock of a child when it started, in microseconds. 0 if the
    /// scheduler could wait for real time before each child.
    pub visible_lead_us: u64,
    /// Number of times that a thread blocked in the kernel where the scheduler could not see it,
    /// and another thread was resumed.
    pub leaks: u64,
    /// Number of times that a thread waited for something that no thread of the test does: another
    /// process, a device, another machine.
    pub outside: u64,
    /// Number of times that a thread was interrupted between two operations, because it reached
    /// none for a long time.
    pub asynchronous: u64,
    /// Why the scheduler ended the process, if it did.
    pub end: Option<ScheduleEnd>,
    /// Decisions of the scheduler, in a run with a systematic seed.
    pub course: Option<Course>,
    /// The operations, if the spec requests them.
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

/// A sleep, or a timed wait that timed out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SleepRecord {
    /// Its duration in microseconds of virtual time, without injected delays.
    pub us: u64,
    /// Its stack.
    pub stack: TracedStack,
}

json::object!(SleepRecord { us, stack });

/// The sequence of decisions about which thread continues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Course {
    /// For each decision, the thread that could be delayed, and whether delaying it is a
    /// preemption: see [`Decision`].
    pub decisions: Vec<u64>,
    /// Whether these decisions alone determined which thread continued.
    pub is_whole: bool,
}

json::object!(Course { decisions = optional, is_whole as "whole" = optional });

/// Maximum number of recorded decisions.
pub const MAX_DECISIONS: usize = 1_000;

/// A decision about which thread continues, if there was more than one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Index of the thread that continues or is delayed, in the order in which the threads were
    /// started, from 0.
    pub thread: u32,
    /// Whether delaying the thread is a preemption. It is not if the thread before it could not
    /// continue, or yielded.
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
    /// Returns whether a run of the same spec takes the same course, as far as the scheduler
    /// determines it.
    pub const fn is_repeatable(&self) -> bool {
        self.leaks == 0 && self.outside == 0 && self.asynchronous == 0
    }
}

/// Why the scheduler ended the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleEnd {
    /// Reason for the end.
    pub kind: ScheduleEndKind,
    /// What each remaining thread waited for or did, in the order in which they were started.
    pub waits: Vec<WaitRecord>,
}

json::object!(ScheduleEnd { kind, waits });

/// Reason for which the scheduler ended the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleEndKind {
    /// Every thread waits for another one, and nothing outside of the test could wake one of them.
    Deadlock,
    /// Every thread waits. Something outside of the test could have woken one but did not for a
    /// long time: another process, a signal, an unscheduled thread.
    Outside,
    /// Every thread that does not wait spins on state that none of them changes and nothing outside
    /// of the test could change.
    Livelock,
    /// The limit on operations was reached.
    Steps,
    /// The limit on virtual time was reached.
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
    /// Logical thread path, as in [`PointRecord::thread`](crate::PointRecord::thread).
    pub thread: String,
    /// Name of the thread, if it has one.
    pub name: Option<String>,
    /// Operation that the thread is in, such as `join`.
    pub operation: String,
    /// Number that identifies the awaited object: the same for the same lock.
    pub on: Option<u64>,
    /// Stack of the thread, innermost frame first, if the spec requests stacks.
    pub stack: Vec<Frame>,
}

json::object!(WaitRecord {
    thread,
    name = optional,
    operation,
    on = optional,
    stack = optional,
});
