//! What a test process can do to itself beyond std: whoever interposes the functions of libc
//! provides it before `main`.

#![expect(clippy::disallowed_types, reason = "called by the harness")]

use std::fmt::Debug;
use std::sync::OnceLock;
use std::time::Duration;

use super::stack::Stack;
use crate::json::Object;
use crate::protocol::outcome::Outcome;
use crate::protocol::spec::RunSpec;
use crate::protocol::state::{StateChange, StateId, StateKind};

/// What a test process can do to itself.
pub trait System: Debug + Sync {
    /// What a fork of this process would be without. Not asked from a fork.
    fn others(&self) -> Others;

    /// Forks this process, which must have no [`others`](System::others). The fork's output goes
    /// nowhere, its initial environment has this text as the run spec, and it ends with the exit
    /// code that `work` returns. One that takes longer than `limit` is ended; so is all that it has
    /// started. `None` when that cannot be done, or its end cannot be known.
    fn fork(&self, spec: &str, limit: Duration, work: &mut dyn FnMut() -> i32) -> Option<ForkEnd>;

    /// Keeps the state that the tests of `spec` share as it is before the first of them. Asked from
    /// the main thread, as what follows.
    fn mark(&self, spec: &RunSpec);

    /// What is different since the last call, or since the state was [marked](System::mark).
    fn changes(&self) -> Vec<StateChange>;

    /// Puts these parts of the state back to what they were when it was [marked](System::mark), as
    /// far as that can be done.
    fn restore(&self, states: &[StateId]);

    /// Schedules this thread, the own one of a test of this process's run, and all threads that it
    /// starts, if the spec asks for it.
    fn begin_schedule(&self, spec: &RunSpec, test: &str);

    /// Lets all threads run free, and records what was done, if they were scheduled until now.
    fn end_schedule(&self);

    /// Lets accesses of this thread to these parts of the state be noted, as far as this machine
    /// can. Whether it can. Each access that is kept is also recorded at once, in its thread, on
    /// request.
    fn watch(&self, states: &[StateId], tell: Option<Tell>) -> bool;

    /// Lets accesses of this thread to what another one [watches](System::watch) be counted, too,
    /// while that one does.
    fn join_watch(&self);

    /// Calls `interruption` on this thread before its access of this number to what it
    /// [watches](System::watch). Calls it again wherever the thread may have let others go on,
    /// until it returns that there is no need.
    fn interrupt(&self, access: u64, interruption: fn() -> bool);

    /// Keeps these parts of the state as they are now; what is accessed by functions, as it is
    /// before another thread first accesses it.
    fn keep(&self, states: &[StateId]);

    /// Puts these parts back to what they were when the state was [marked](System::mark); what is
    /// accessed by functions, once more before another thread first accesses it.
    fn hide(&self, states: &[StateId]);

    /// Puts back what was [kept](System::keep) last.
    fn put_back(&self);

    /// Ends what [`watch`](System::watch) began in this thread: the accesses, in the order in which
    /// they happened.
    fn accesses(&self) -> Vec<Access>;

    /// Writes which code ran until now, the fields of a [`CoveredRecord`](crate::CoveredRecord),
    /// where this program was compiled to record it. Whether it was.
    fn covered(&self, object: &mut Object<'_>) -> bool;
}

/// Hears of an access to the part of this kind with this name, and of its stack. It may take no
/// memory of the program's.
pub type Tell = fn(StateKind, &str, Manner, &Stack);

/// An access to a part of the state.
#[derive(Clone, Debug)]
pub struct Access {
    /// Which part.
    pub state: StateId,
    /// How.
    pub manner: Manner,
}

/// How a part of the state was accessed.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Whether it was changed.
    pub writes: bool,
    /// Whether the test's own thread did it, and none that it started.
    pub own: bool,
    /// Whether that thread was stopped at it.
    pub interrupted: bool,
}

/// What belongs to a process and not to a fork of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Others {
    /// How many threads there are, this one counted.
    pub threads: u64,
    /// Whether there are children, dead ones that nobody waited for counted.
    pub has_children: bool,
}

impl Others {
    /// Whether there is only this thread.
    pub const fn is_none(self) -> bool {
        self.threads == 1 && !self.has_children
    }
}

/// How a fork ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkEnd {
    /// How its process ended.
    pub end: Outcome,
    /// How long it took.
    pub took: Duration,
    /// Whether it left a process that had to be ended.
    pub left_child: bool,
}

static SYSTEM: OnceLock<&'static dyn System> = OnceLock::new();

/// Says what this process can do.
pub fn provide(system: &'static dyn System) {
    let _ = SYSTEM.set(system);
}

/// What this process can do, where somebody provides it.
pub fn system() -> Option<&'static dyn System> {
    SYSTEM.get().copied()
}
