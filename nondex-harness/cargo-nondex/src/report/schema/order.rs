//! The earlier tests of its process that a test depends on, and the state that they share.

use serde::{Deserialize, Serialize};

use super::Culprit;

/// Tests that an order-dependent test depends on, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Tests that make it fail when they run before it.
    pub polluters: Vec<String>,
    /// Tests that make it pass when they run before it.
    pub setters: Vec<String>,
    /// Tests that undo the effect of the first set when they run in between.
    pub cleaners: Vec<String>,
    /// Alternative sets of polluters or setters, the smallest first. Each decides alone, its tests
    /// in this order, and needs all of them.
    #[serde(default)]
    pub sets: Vec<Vec<String>>,
    /// Whether the search ended. Otherwise there may be other sets or smaller ones.
    #[serde(default)]
    pub complete: bool,
    /// State shared with the first set.
    #[serde(default)]
    pub state: Vec<SharedState>,
    /// Calls whose choices it also needs, if it fails only under certain seeds.
    #[serde(default)]
    pub choices: Vec<Culprit>,
}

impl Order {
    /// Returns the tests of the first set. Older versions did not separate sets, so for their
    /// reports this is all polluters or setters.
    pub fn first_set(&self) -> &[String] {
        match self.sets.first() {
            Some(set) => set,
            None if self.polluters.is_empty() => &self.setters,
            None => &self.polluters,
        }
    }
}

/// Order in which all tests of a binary ran in one process, without those known to end it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedOrder {
    /// Id of the binary.
    pub binary: String,
    /// Names of the tests, in order.
    pub tests: Vec<String>,
    /// Names of the failing tests.
    pub failed: Vec<String>,
    /// Test that ended the process. Later ones were not started.
    pub ended: Option<String>,
}

/// State that a test leaves changed and others use, without a known failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftState {
    /// `static`, `env`, `cwd` or `file`.
    pub kind: String,
    /// Symbol, variable or path.
    pub name: String,
    /// Names of the tests that use it and do not leave it changed.
    pub users: Vec<String>,
}

/// State that outlives one test and affects another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedState {
    /// `static`, `env`, `cwd`, `file` and others.
    pub kind: String,
    /// Symbol, variable or path.
    pub name: String,
    /// Where a static is defined.
    pub defined: Option<Line>,
    /// Line that changes it, with the test.
    pub written: Option<WrittenLine>,
    /// Line at which the test reads it.
    pub read: Option<Line>,
    /// Whether restoring only this gives the outcome of the test alone; for a race, the outcome
    /// without the other test's change.
    pub confirmed: bool,
    /// Whether that takes all confirmed parts together.
    #[serde(default)]
    pub joint: bool,
}

/// Other test that makes a test fail when both run at the same time: one runs completely in the
/// middle of the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Race {
    /// The other test.
    pub with: String,
    /// Whether the failing test is the inner one.
    #[serde(default)]
    pub inner: bool,
    /// Access to the shared state at which the outer test stops, from 0.
    pub interrupt_at: u64,
    /// Access at which the inner test waits until the outer one has ended, from 0; `null` if it
    /// does not wait.
    pub pause_at: Option<u64>,
    /// Shared state.
    pub state: SharedState,
}

/// Line of a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// File, relative to the workspace root if it is inside.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
}

/// Line at which a test changes shared state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenLine {
    /// File, relative to the workspace root if it is inside.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Test.
    pub test: String,
}
