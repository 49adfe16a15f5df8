//! What a thread does by which others see it.

use nondex_core::protocol::scheduling::DELAYED;

/// An operation by which threads see each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// The first one of a thread.
    Start,
    Spawn,
    Join,
    FutexWait,
    FutexWake,
    Yield,
    Sleep,
    /// An injected delay.
    Hold,
    Atomic,
    /// An atomic operation that writes what the thread [has read](super::reads), where a seed asks
    /// for these.
    Act,
    /// An atomic operation of those that count owners.
    Count,
    /// A lock, a condition variable or a semaphore of C.
    Pthread,
    /// A reading of the clock.
    Clock,
    /// Waiting for descriptors.
    Poll,
    Read,
    Write,
    Bind,
    Accept,
    Connect,
    /// Starting or waiting for a child process.
    Child,
    /// Files, folders, and the environment.
    File,
}

impl Operation {
    /// The name in records.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Operation::Start => "start",
            Operation::Spawn => "spawn",
            Operation::Join => "join",
            Operation::FutexWait => "futex wait",
            Operation::FutexWake => "futex wake",
            Operation::Yield => "yield",
            Operation::Sleep => "sleep",
            Operation::Hold => DELAYED,
            Operation::Atomic | Operation::Act | Operation::Count => "atomic",
            Operation::Pthread => "pthread wait",
            Operation::Clock => "clock",
            Operation::Poll => "poll",
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Bind => "bind",
            Operation::Accept => "accept",
            Operation::Connect => "connect",
            Operation::Child => "child",
            Operation::File => "file",
        }
    }

    pub(super) const fn class(self) -> Class {
        match self {
            Operation::Act => Class::Act,
            Operation::Count => Class::Count,
            Operation::Atomic | Operation::Clock => Class::Atomic,
            _ => Class::System,
        }
    }
}

/// The kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    System,
    Atomic,
    /// What may follow from what was read before.
    Act,
    /// What counts owners: each start of a thread has several, and hardly a race depends on one.
    Count,
}
