//! Tests that depend on the tests before them in their process.
//!
//! The tests of a binary are numbered in their original order, which is libtest's. [`experiments`]
//! are the processes that were made until now: which tests ran in which order, and how each ended.
//! [`strategy`] selects the orders to try, [`detection`] finds the tests with another outcome in
//! one of them than alone, and [`roles`] which tests make the difference; [`mod@draws`] separates
//! what they decide from what random choices decide; [`interleavings`] selects the tests that may
//! disturb each other at the same time. [`after_others`] is the evidence about a test that fails
//! alone. As in other modules, whatever needs a process that was not made ends with the
//! [`MissingProcesses`], and is repeated when there are more.

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
pub use experiments::{End, Experiment, Experiments, MissingProcesses, ProcessPlan};
pub use options::{Budget, OrderOptions};
pub use roles::{Dependence, Limits, OrderConclusion, conclude, settled};
pub use sharers::Sharers;
pub use strategy::{Shuffle, Strategy};

#[cfg(test)]
pub(crate) mod simulation;
