//! What a choice is: the engine of `cargo nondex`, without any shim.
//!
//! Some specifications leave a choice open, such as the order of a `HashMap`. A *shim* asks this crate at each such
//! *choice point* what to do ([`decide`]); the answer depends on the seed, the [`Level`] and the identity of the choice,
//! and is recorded. A [`RunSpec`] goes into a test process, a [`RunRecord`] comes out.
//!
//! - [`level`], [`model`]: the ladder of realism, and the catalogue of specifications.
//! - [`context`]: which test a thread works for. [`choice`]: the decision. [`permutation`]: the order it draws.
//!   [`schedule`]: which permutation a seed means. [`between`], [`partly`]: orders on the way to it.
//! - [`network`]: operations on other machines, and how they ended. [`operation`]: others that failed.
//! - [`fork_lock`]: what interposed functions share, safe where a process is forked.
//! - [`spec`], [`selection`], [`record`]: the protocol between the driver and a test process, versioned.

pub mod between;
pub mod choice;
pub mod context;
pub mod fork_lock;
pub mod generator;
pub mod hash;
pub mod inheritance;
mod journal;
pub mod json;
pub mod level;
pub mod model;
pub mod network;
pub mod operation;
pub mod partly;
pub mod permutation;
pub mod record;
pub mod schedule;
pub mod selection;
pub mod site;
pub mod spec;
pub mod stack;

pub use choice::{Aspect, Decision, decide, entropy};
pub use context::Context;
pub use level::Level;
pub use model::{Family, Kind, Model};
pub use network::{NetworkMode, NetworkOutcome, NetworkRecord};
pub use operation::{Observed, OperationRecord};
pub use partly::Partly;
pub use permutation::Permutation;
pub use record::{
    ChoiceRecord, ElementRecord, Event, Failure, Frame, Outcome, PointRecord, Reading, RunRecord,
    StepRecord,
};
pub use schedule::Schedule;
pub use selection::{Calls, Made, Scope, Selection};
pub use site::{Caller, Site};
pub use spec::{ALGORITHM, Given, GivenOrder, PROTOCOL, RunSpec};
