//! The sequence of operations of a test's scheduled threads, from which a picture of their
//! interleaving is drawn.

use crate::json;

use super::site::Frame;

/// The operations of the threads of a test, in the order in which they happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The threads, in the order of their first operations.
    pub threads: Vec<TracedThread>,
    /// The distinct stacks of the operations.
    pub stacks: Vec<TracedStack>,
    /// The distinct files, variables and channels of the operations.
    pub names: Vec<String>,
    /// The operations in order.
    pub operations: Vec<TracedOperation>,
    /// Number of operations before the first of these.
    pub skipped: u64,
}

json::object!(Trace {
    threads,
    stacks,
    names = optional,
    operations,
    skipped = optional,
});

/// A thread in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracedThread {
    /// Logical path, as in [`PointRecord::thread`](crate::PointRecord::thread).
    pub path: String,
    /// Its name in the system, which keeps at most 15 bytes, if it has one.
    pub name: Option<String>,
}

json::object!(TracedThread { path, name = optional });

/// A stack in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracedStack {
    /// Return addresses in the executable, relative to its load address, innermost first.
    pub addresses: Vec<u64>,
    /// The frames in the source; empty until the debug information is read.
    pub frames: Vec<Frame>,
}

json::object!(TracedStack { addresses, frames = optional });

/// An operation by which threads can observe each other, or a delay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracedOperation {
    /// Index in the [threads](Trace::threads) of the thread that performed it.
    pub thread: u64,
    /// Kind of operation: `load`, `futex wait`, `held back`.
    pub operation: String,
    /// Whether it changes its object.
    pub writes: bool,
    /// Address of its object.
    pub address: Option<u64>,
    /// Index of its object in the [names](Trace::names).
    pub name: Option<u64>,
    /// Index in the [threads](Trace::threads) of the thread that it starts or joins.
    pub other: Option<u64>,
    /// Value that it found.
    pub found: Option<u64>,
    /// Value that it left, if another operation can find it.
    pub left: Option<u64>,
    /// Length of a delay, in nanoseconds of virtual time.
    pub length: Option<u64>,
    /// Virtual time, in nanoseconds since the start of the test.
    pub time: u64,
    /// Whether the thread unwinds from a panic.
    pub unwinds: bool,
    /// Index of its stack in the [stacks](Trace::stacks).
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
