//! The engine of `cargo nondex`: decides and records choices, without any shim.
//!
//! Some specifications leave a choice open, such as the order of a `HashMap`. At each such *choice
//! point* a *shim* calls this crate ([`decide`]). The answer depends on the seed, the [`Level`] and
//! the identity of the choice, and is recorded. A test process receives a [`RunSpec`] and produces
//! a [`RunRecord`].
//!
//! The modules from the bottom up; each uses only those listed before it:
//!
//! - [`word`], [`channel`]: general tools that know nothing about choices.
//! - [`catalogue`]: the levels, and the APIs whose specification leaves a choice open.
//! - [`protocol`]: the input and output of a test process, versioned.
//! - [`scheduler`]: the threads of a test, as a state machine without a process.
//! - [`context`]: the test that a thread works for, and the recording of the thread's choices.
//! - [`choice`]: the decision about an order or a number, and the generators that it draws from.

pub mod arena;
pub mod catalogue;
#[cfg(unix)]
pub mod channel;
pub mod choice;
pub mod context;
pub mod fork_lock;
pub mod hash;
pub mod hidden;
pub mod json;
mod pages;
pub mod process_number;
pub mod protocol;
pub mod scheduler;
pub mod sorted;
pub mod word;

pub use catalogue::family::Scale;
pub use catalogue::{Family, Kind, Level, Model, model};
pub use choice::{
    Aspect, Decision, Element, Intermediate, Permutation, decide, decide_at, entropy,
};
pub use context::Context;
pub use protocol::choice::Choice;
pub use protocol::choices::{Choices, DrawnChoices, Given, GivenChoice};
pub use protocol::covered::CoveredRecord;
pub use protocol::event::Event;
pub use protocol::execution::{Execution, Interleaving, ScheduledTest, TestSequence};
pub use protocol::files::Files;
pub use protocol::fork::{ForkRecord, Forks};
pub use protocol::network::{Network, NetworkMode, NetworkOutcome, NetworkRecord};
pub use protocol::operation::{Observed, OperationRecord};
pub use protocol::outcome::{Failure, Outcome};
pub use protocol::point::{
    ChoiceRecord, ElementRecord, NumberRecord, PointRecord, Reading, StepRecord,
};
pub use protocol::record::RunRecord;
pub use protocol::schedule::Schedule;
pub use protocol::scheduling::{
    Course, ScheduleEnd, ScheduleEndKind, ScheduleRecord, SleepRecord, WaitRecord,
};
pub use protocol::selection::{Calls, Scope, Selected, Selection};
pub use protocol::site::{Caller, Frame, Site};
pub use protocol::source::Source;
pub use protocol::spec::{ALGORITHM, PROTOCOL, RunSpec, TestStart};
pub use protocol::state::{AccessRecord, StateChange, StateId, StateKind, folder_for_tests};
pub use protocol::trace::{Trace, TracedOperation, TracedStack, TracedThread};
