//! The decision about an order or a [number] at one choice point.
//!
//! Each choice has a separate generator, keyed by the seed and by the data that its level
//! considers. No generator is shared between choices: turning one choice off leaves all others
//! unchanged.

#![cfg_attr(
    not(test),
    warn(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)
)]

mod arrange;
pub mod between;
pub mod clock;
mod decision;
pub mod fault;
mod generator;
pub mod hold;
mod number;
mod order;
pub mod own;
mod permutation;
mod schedule;
pub mod stops;

pub use arrange::arrange;
pub use clock::age;
pub use decision::{Decision, Element, Intermediate};
pub use generator::{ChaCha8Rng, Xoshiro256};
pub use hold::hold;
pub use number::{entropy, foreign_keys, number, seen_key, table_key, unrecorded_entropy};
pub use order::{Aspect, decide, decide_at, draw, key};
pub use permutation::Permutation;
pub use schedule::Key;
