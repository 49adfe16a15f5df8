//! Tests that run in forks of a process in which other tests have run.

use crate::json;

use super::outcome::Outcome;

/// Tests that run after the tests of a process, each in a separate fork, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forks {
    /// The tests, in the order in which they run.
    pub tests: Vec<String>,
    /// Time limits of the tests, in milliseconds and in the same order.
    pub limits_ms: Vec<u64>,
}

json::object!(strict Forks { tests, limits_ms });

impl Forks {
    /// Extension of the file next to the record to which all forks append their events, one fork
    /// after the other. [`Forked`](super::event::Event::Forked) follows the events of its fork.
    pub const RECORD: &str = "forks";
}

/// Record of one fork.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForkRecord {
    /// Test that ran in the fork.
    pub test: String,
    /// How the process of the fork ended.
    pub end: Outcome,
    /// Duration of the fork, in microseconds.
    pub micros: u64,
    /// Whether the fork left a process that had to be killed.
    pub left_child: bool,
}

json::object!(ForkRecord { test, end, micros, left_child = optional });
