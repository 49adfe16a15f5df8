//! Operations by which threads observe each other.

use crate::protocol::scheduling::DELAYED;

/// Operation by which threads observe each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// First operation of a thread.
    Start,
    /// Start of a thread.
    Spawn,
    /// Wait for the end of a thread.
    Join,
    /// Wait in a futex.
    FutexWait,
    /// Wake-up of threads that wait in a futex.
    FutexWake,
    /// Offer to let other threads run.
    Yield,
    /// Wait for a time.
    Sleep,
    /// Injected delay.
    Hold,
    /// Atomic operation.
    Atomic,
    /// Atomic operation that writes what the thread has read, in runs that aim at these.
    Act,
    /// Atomic operation of the kind that counts owners.
    Count,
    /// Wait for a lock, a condition variable or a semaphore of C.
    Pthread,
    /// Attempt to take a lock or a semaphore of C.
    PthreadLock,
    /// Release of a lock, post of a semaphore, or notification of a condition variable of C.
    PthreadWake,
    /// Reading of the clock.
    Clock,
    /// Wait for descriptors.
    Poll,
    /// Reading from a descriptor.
    Read,
    /// Writing to a descriptor.
    Write,
    /// Binding of a socket.
    Bind,
    /// Acceptance of a connection.
    Accept,
    /// Start of a connection.
    Connect,
    /// Start of a child process, or wait for one.
    Child,
    /// Operation on files, directories, or the environment.
    File,
}

impl Operation {
    /// Returns the operation's name in records.
    pub const fn name(self) -> &'static str {
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
            Operation::PthreadLock => "pthread lock",
            Operation::PthreadWake => "pthread wake",
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

    /// Returns the class of the operation.
    pub const fn class(self) -> Class {
        match self {
            Operation::Act => Class::Act,
            Operation::Count => Class::Count,
            Operation::Atomic | Operation::Clock => Class::Atomic,
            _ => Class::System,
        }
    }
}

/// Classes of operations, which are preempted with different probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Call of the system's library.
    System,
    /// Atomic operation.
    Atomic,
    /// Write that may depend on an earlier read.
    Act,
    /// Update of an owner count. Each start of a thread has several, and hardly any race depends on
    /// one.
    Count,
}
