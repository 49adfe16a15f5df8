//! Operations of a test process on itself that std does not offer. The library that interposes the
//! functions of libc provides them before `main`.

#![expect(clippy::disallowed_types, reason = "called by the harness")]

use std::fmt::Debug;
use std::sync::OnceLock;
use std::time::Duration;

use super::stack::Stack;
use crate::json::Object;
use crate::protocol::outcome::Outcome;
use crate::protocol::spec::RunSpec;
use crate::protocol::state::{StateChange, StateId, StateKind};

/// Operations of a test process on itself.
pub trait System: Debug + Sync {
    /// Returns the threads and children that a fork of this process would lack. Must not be called
    /// in a fork.
    fn others(&self) -> Others;

    /// Forks this process, which must have no [`others`](System::others), and runs `work` in the
    /// fork. The fork's output is discarded, `spec` is the run spec in its initial environment, and
    /// its exit code is the result of `work`.
    ///
    /// A fork that takes longer than `limit` is killed, together with all processes that it
    /// started. Returns `None` if forking is impossible or the end of the fork cannot be
    /// determined.
    fn fork(&self, spec: &str, limit: Duration, work: &mut dyn FnMut() -> i32) -> Option<ForkEnd>;

    /// Saves the state that the tests of `spec` share, before the first test runs. This function,
    /// [`changes`](System::changes) and [`restore`](System::restore) must be called on the main
    /// thread.
    fn mark(&self, spec: &RunSpec);

    /// Returns the changes since the last call, or since the state was [saved](System::mark).
    fn changes(&self) -> Vec<StateChange>;

    /// Restores these parts of the state to what they were when it was [saved](System::mark), as
    /// far as possible.
    fn restore(&self, states: &[StateId]);

    /// Schedules this thread, on which a test of this process runs, and all threads that it starts,
    /// if the spec requests it.
    fn begin_schedule(&self, spec: &RunSpec, test: &str);

    /// Stops scheduling all threads, and records the schedule, if they were scheduled.
    fn end_schedule(&self);

    /// Observes accesses of this thread to these parts of the state, as far as the machine allows.
    /// Returns whether it does. With `tell`, also reports each recorded access at once, on the
    /// accessing thread.
    fn watch(&self, states: &[StateId], tell: Option<Tell>) -> bool;

    /// Observes also the accesses of this thread to the state that another thread
    /// [watches](System::watch), for as long as that thread does.
    fn join_watch(&self);

    /// Calls `interruption` on this thread before its access with this number to the state that it
    /// [watches](System::watch). Repeats the call at each point where the thread may have let
    /// others run, until it returns that it is done.
    fn interrupt(&self, access: u64, interruption: fn() -> bool);

    /// Saves the current values of these parts of the state. For state that is accessed by
    /// functions, the value before the first access of another thread is saved.
    fn keep(&self, states: &[StateId]);

    /// Restores these parts to what they were when the state was [saved](System::mark). State that
    /// is accessed by functions is restored again before another thread first accesses it.
    fn hide(&self, states: &[StateId]);

    /// Restores the values that [`keep`](System::keep) saved last.
    fn put_back(&self);

    /// Stops observing this thread ([`watch`](System::watch)), and returns the accesses in the
    /// order in which they happened.
    fn accesses(&self) -> Vec<Access>;

    /// Writes which code ran until now: the fields of a [`CoveredRecord`](crate::CoveredRecord).
    /// Returns false if the program was not compiled to record it.
    fn covered(&self, object: &mut Object<'_>) -> bool;
}

/// Callback for an access to the part of the state with this kind and name, with its stack. It must
/// not use the program's allocator.
pub type Tell = fn(StateKind, &str, Manner, &Stack);

/// An access to a part of the state.
#[derive(Clone, Debug)]
pub struct Access {
    /// Part that was accessed.
    pub state: StateId,
    /// How it was accessed.
    pub manner: Manner,
}

/// How a part of the state was accessed.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Whether the state was changed.
    pub writes: bool,
    /// Whether the test's own thread made the access, rather than a thread that it started.
    pub own: bool,
    /// Whether the thread was interrupted at this access.
    pub interrupted: bool,
}

/// Threads and children of a process, which a fork of it lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Others {
    /// Number of threads, including this one.
    pub threads: u64,
    /// Whether there are children, including terminated ones that were not waited for.
    pub has_children: bool,
}

impl Others {
    /// Returns whether there are no threads other than this one, and no children.
    pub const fn is_none(self) -> bool {
        self.threads == 1 && !self.has_children
    }
}

/// How a fork ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkEnd {
    /// How the process of the fork ended.
    pub end: Outcome,
    /// How long the fork took.
    pub took: Duration,
    /// Whether the fork left a process that had to be killed.
    pub left_child: bool,
}

static SYSTEM: OnceLock<&'static dyn System> = OnceLock::new();

/// Registers the operations of this process.
pub fn provide(system: &'static dyn System) {
    let _ = SYSTEM.set(system);
}

/// Returns the operations of this process, if they were registered.
pub fn system() -> Option<&'static dyn System> {
    SYSTEM.get().copied()
}
