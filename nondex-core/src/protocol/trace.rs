//! The operations of a test's scheduled threads, one after the other: what a picture of their
//! interleaving is drawn from.

use crate::json;

use super::site::Frame;

/// The operations that the threads of a test did, in the order in which they did them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The threads, in the order of their first operations.
    pub threads: Vec<TracedThread>,
    /// The stacks of the operations, each once.
    pub stacks: Vec<TracedStack>,
    /// The files, variables and channels that operations are on, each once.
    pub names: Vec<String>,
    /// The operations, the first one first.
    pub operations: Vec<TracedOperation>,
    /// How many operations there were before the first of these.
    pub skipped: u64,
}

json::object!(Trace {
    threads,
    stacks,
    names = optional,
    operations,
    skipped = optional,
});

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracedThread {
    /// The logical path, as in [`PointRecord::thread`](crate::PointRecord::thread).
    pub path: String,
    /// Its name in the system, which has no more than 15 bytes of it, if it has one.
    pub name: Option<String>,
}

json::object!(TracedThread { path, name = optional });

/// A stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracedStack {
    /// The return addresses within the executable, counted from where that is loaded, the innermost
    /// one first.
    pub addresses: Vec<u64>,
    /// What they are in the source: nothing until somebody has read the debug information.
    pub frames: Vec<Frame>,
}

json::object!(TracedStack { addresses, frames = optional });

/// An operation by which threads see each other, or a delay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracedOperation {
    /// Which of the [threads](Trace::threads) did it.
    pub thread: u64,
    /// What it is: `load`, `futex wait`, `held back`.
    pub operation: String,
    /// Whether it changes what it is on.
    pub writes: bool,
    /// The address of what it is on.
    pub address: Option<u64>,
    /// Which of the [names](Trace::names) it is on.
    pub name: Option<u64>,
    /// Which of the [threads](Trace::threads) it is about: the one that is started or joined.
    pub other: Option<u64>,
    /// The value that was found.
    pub found: Option<u64>,
    /// The value that was left, if it is another operation's to find.
    pub left: Option<u64>,
    /// Of a delay, how long it is, in nanoseconds of virtual time.
    pub length: Option<u64>,
    /// The virtual time, in nanoseconds from the start of the test.
    pub time: u64,
    /// Whether the thread unwinds from a panic.
    pub unwinds: bool,
    /// Which of the [stacks](Trace::stacks) it has.
    pub stack: u64,
}

json::object!(TracedOperation {
    thread as "t",
    operation as "o",
    writes as "w" = optional,
    address as "a" = optional,
    name as "n" = optional,
    other as "j" = optional,
    found as "f" = optional,
    left as "l" = optional,
    length as "d" = optional,
    time as "at",
    unwinds as "u" = optional,
    stack as "s",
});
