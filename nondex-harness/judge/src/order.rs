//! Finds tests that depend on the tests before them in their process.
//!
//! The tests of a binary are numbered in their original order, which is libtest's. [`experiments`]
//! stores the processes that were made: which tests ran in which order, and the run of each. As
//! elsewhere in this crate, a function that needs further processes returns [`MissingProcesses`]
//! and is called again when they were made.
//!
//! - [`strategy`] selects the orders to try.
//! - [`detection`] finds the tests whose outcome in one of them differs from that alone.
//! - [`roles`] finds the tests that make the difference.
//! - [`mod@draws`] separates the effect of other tests from that of random choices.
//! - [`interleavings`] selects tests that may disturb each other when they run at the same time.
//! - [`after_others`] is the evidence about a test that fails alone.

pub mod after_others;
pub mod detection;
pub mod draws;
pub mod experiments;
pub mod interleavings;
pub mod options;
pub mod roles;
pub mod sharers;
pub mod strategy;

pub use after_others::AfterOthers;
pub use detection::{Detection, MAX_BEGINNINGS, beginnings, detect, not_idempotent, pairs};
pub use draws::{Draws, draws};
pub use experiments::{Experiment, Experiments, MissingProcesses, ProcessPlan};
pub use options::{OrderOptions, ProcessBudget};
pub use roles::{OrderConclusion, OrderDependence, SearchLimits, conclude, settled};
pub use sharers::Sharers;
pub use strategy::{Shuffle, Strategy};

#[cfg(test)]
pub(crate) mod simulation;
