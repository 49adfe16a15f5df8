//! Tests that depend on the tests before them in their process.
//!
//! The tests of a binary are numbered in their original order, which is libtest's. [`experiments`]
//! are the processes that were made so far: which tests ran in which order, and how each ended.
//! [`strategy`] says which orders are tried, [`detection`] which tests end otherwise in one of them
//! than alone, and [`roles`] which tests make the difference; [`mod@draws`] tells what they decide
//! from what random choices decide; [`meetings`] which tests may disturb each other at the same
//! time. [`behind`] is what that says of a test that fails alone. As elsewhere, whatever needs a
//! process that was not made ends with the [`Wanted`] ones, and is asked again when there are more.

pub mod after_others;
pub mod detection;
pub mod draws;
pub mod experiments;
pub mod interleavings;
pub mod options;
pub mod roles;
pub mod strategy;

pub use after_others::AfterOthers;
pub use detection::{Detection, MAX_BEGINNINGS, beginnings, detect, not_idempotent, pairs};
pub use draws::{Draws, draws};
pub use experiments::{End, Experiment, Experiments, Wanted};
pub use options::{Budget, OrderOptions};
pub use roles::{Dependence, Limits, OrderConclusion, conclude, settled};
pub use strategy::{Shuffle, Strategy};

#[cfg(test)]
pub(crate) mod simulation;
