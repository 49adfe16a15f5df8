//! What a test that fails alone comes to behind the others of its binary: evidence besides its own
//! runs.

use std::sync::Arc;

use super::roles;

/// What came of a test that fails alone behind the others of its binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AfterOthers {
    /// What is concluded from that.
    pub conclusion: roles::OrderConclusion,
    /// The names of the binary's tests, by number.
    pub names: Arc<[String]>,
    /// Whether it was run right behind each of them, and behind the beginnings of the orders that
    /// were tried, where it fails in these.
    pub is_paired: bool,
    /// So many processes were made for it.
    pub processes: u64,
}
