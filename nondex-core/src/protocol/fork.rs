//! Tests that run in forks of a process in which others have run.

use crate::json;

use super::outcome::Outcome;

/// What runs after the tests of a process: each of these tests in a separate fork, one after the
/// other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forks {
    /// The tests, in the order in which they run.
    pub tests: Vec<String>,
    /// How long each may take, in their order.
    pub limits_ms: Vec<u64>,
}

json::object!(strict Forks { tests, limits_ms });

impl Forks {
    /// The extension of the file next to the record to which all forks append their events, one
    /// fork after the other: after those of a fork comes the
    /// [`Forked`](super::event::Event::Forked) of it.
    pub const RECORD: &str = "forks";
}

/// How one fork ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkRecord {
    /// The test that ran in it.
    pub test: String,
    /// How its process ended.
    pub end: Outcome,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// Whether it left a process that had to be killed.
    pub left_child: bool,
}

json::object!(ForkRecord { test, end, micros, left_child = optional });
