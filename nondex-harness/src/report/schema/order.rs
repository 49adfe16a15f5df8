//! Which tests a test depends on that run before it in its process, and what they share.

use nondex_core::Threads;
use serde::{Deserialize, Serialize};

use super::Culprit;

/// The tests that an order-dependent test depends on, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Make it fail when they run before it.
    pub polluters: Vec<String>,
    /// Make it pass when they run before it.
    pub setters: Vec<String>,
    /// Undo what the first of the sets does when they run between.
    pub cleaners: Vec<String>,
    /// The polluters, or the setters, by what is needed: each of these lists makes the difference
    /// by itself, its tests in this order, and without any of them it does not. The smallest comes
    /// first.
    #[serde(default)]
    pub sets: Vec<Vec<String>>,
    /// Whether the search for these tests came to its end: otherwise there may be others, and fewer
    /// may do.
    #[serde(default)]
    pub complete: bool,
    /// Threads that the tests ran on: `"each"`, one for each test, as libtest runs them. Reports of
    /// earlier versions may have `"one"`.
    #[serde(default)]
    pub threads: Threads,
    /// What they share with the first of the sets.
    #[serde(default)]
    pub state: Vec<SharedState>,
    /// The calls whose choices it needs besides, where it fails after these tests only under
    /// certain seeds.
    #[serde(default)]
    pub choices: Vec<Culprit>,
}

/// One of the orders in which all tests of a binary ran in a process, without those that are known
/// to end it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedOrder {
    /// The id of the binary.
    pub binary: String,
    /// Threads that they ran on: see [`Order::threads`].
    #[serde(default)]
    pub threads: Threads,
    /// The names of the tests, in the order in which they ran.
    pub tests: Vec<String>,
    /// Those of them that failed.
    pub failed: Vec<String>,
    /// The one that ended the process: those behind it were not started.
    pub ended: Option<String>,
}

/// Something that a test leaves changed and others of its binary use, without any that is known to
/// fail for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftState {
    /// What it is: `static`, `env`, `cwd` or `file`.
    pub kind: String,
    /// Its name: a symbol, a variable, a path.
    pub name: String,
    /// The tests that use it and do not leave it changed themselves, by name.
    pub users: Vec<String>,
}

/// Something that outlives a test: what one leaves changed, another one meets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedState {
    /// What it is: `static`, `env`, `cwd`, `file`, and so on.
    pub kind: String,
    /// Its name: a symbol, a variable, a path.
    pub name: String,
    /// Where a static is defined.
    pub defined: Option<Line>,
    /// The line that changes it, with the test that does.
    pub written: Option<WrittenLine>,
    /// The line at which the test meets it.
    pub read: Option<Line>,
    /// Whether the test ends as it does alone once only this is put back; of a race, as if the
    /// other test had not changed this.
    pub confirmed: bool,
    /// Whether that takes all parts of the state that are confirmed, put back together.
    #[serde(default)]
    pub joint: bool,
}

/// A test that fails when it and another one run at the same time: the whole of one of them in the
/// middle of the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Race {
    /// The other one.
    pub with: String,
    /// Whether it is the test that runs in the middle of the other one.
    #[serde(default)]
    pub within: bool,
    /// The access to what they share at which it is stopped in whose middle the other runs, from 0.
    pub access: u64,
    /// The access of that other one at which it waits until the stopped one has ended, from 0;
    /// `null` when all of it runs meanwhile.
    #[serde(default)]
    pub until: Option<u64>,
    /// What they share.
    pub state: SharedState,
}

/// A line of a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The file, relative to the root of the workspace where it is in it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// A line at which a test changes what it shares.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenLine {
    /// The file, relative to the root of the workspace where it is in it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The test.
    pub test: String,
}
