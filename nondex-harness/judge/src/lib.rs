//! Draws conclusions about tests from the records of their runs.
//!
//! Every function is pure: it takes runs as data, and runs no test.
//!
//! [`isolation::conclude`] is the entry point. It returns the [`conclusion`] about one test, or the
//! runs that must be made first. Most functions answer a [`Question`], which combines a test, its
//! options and its runs.
//!
//! - [`evidence`] and [`order::experiments`] are views of the stored runs: of one test, and of the
//!   orders of a binary. [`missing`] describes the runs that an answer still needs, and [`plan`]
//!   decides which these are.
//! - [`equivalence`] decides which runs are redundant, [`patience`] how long a run may take, and
//!   [`exhaustive`] when all possible orders were tried.
//! - [`sampling`] decides which tests need few seeds, for example where two levels are `alike`.
//!   [`further`] decides which need many. [`certainty`] decides how many runs a stable test needs,
//!   and `latent` looks at the output of passing tests.
//! - [`culprit`] searches for the responsible call and [`bisect`] for the commit. [`change`]
//!   decides whether a change is to blame.
//! - [`prerequisite`] recognises failures that only concern the machine, and [`circumstance`] what
//!   may change between runs. [`plain`] evaluates runs without this tool, and [`threads`] decides
//!   which tests are judged with real threads.
//! - [`isolation`] judges tests that disturb each other from runs without concurrent tests, unless
//!   [`chance`] explains the difference.
//! - [`verdict`] derives the verdict. [`ending`] only reports the outcome when all choices are
//!   those of one [`world`].

mod alike;
pub mod bisect;
pub mod certainty;
pub mod chance;
pub mod change;
pub mod circumstance;
pub mod clock_start;
pub mod conclusion;
pub mod culprit;
pub mod deadlock;
pub mod ending;
pub mod equivalence;
pub mod evidence;
pub mod exhaustive;
mod exploration;
pub mod further;
pub mod isolation;
mod latent;
mod margin;
pub mod missing;
pub mod options;
pub mod order;
pub mod patience;
pub mod plain;
pub mod plan;
pub mod prerequisite;
pub mod question;
pub mod reruns;
pub mod run;
pub mod sampling;
pub mod slots;
mod specs;
mod store;
pub mod systematic;
pub mod threads;
pub mod timing;
pub mod unexplored;
mod unseen;
pub mod verdict;
pub mod world;

pub use circumstance::Circumstance;
pub use conclusion::Conclusion;
pub use evidence::{Evidence, JointRuns};
pub use isolation::{Available, ExternalFiles, Interference, Judgement, Need, Reason, Runs};
pub use missing::{ExperimentPurpose, Missing, RunLimits, Spent};
pub use options::{Options, TestOptions};
pub use plain::PlainBuild;
pub use prerequisite::{Explanation, FailedOperation, NetworkPolicy, Operations, SanitisedLimit};
pub use question::Question;
pub use run::Run;
pub use slots::{Required, Slots, TestGroup};
pub use timing::{is_of_timing, is_timing_source};
pub use verdict::{Combined, Fact, Verdict};
pub use world::World;

pub mod simulation;
