//! Result of a test that fails alone after the others of its binary: evidence in addition to its
//! own runs.

use std::sync::Arc;

use super::roles;

impl AfterOthers {
    /// The result when nothing could be found out.
    pub fn unknown() -> Self {
        AfterOthers {
            conclusion: roles::OrderConclusion::Unknown,
            names: Arc::default(),
            is_paired: true,
            processes: 0,
        }
    }
}

/// Result of a test that fails alone after the others of its binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AfterOthers {
    /// What is concluded from that.
    pub conclusion: roles::OrderConclusion,
    /// The names of the binary's tests, by number.
    pub names: Arc<[String]>,
    /// Whether it was run right after each of them, and after the beginnings of the orders that
    /// were tried, where it fails in these.
    pub is_paired: bool,
    /// Number of processes that were made for it.
    pub processes: u64,
}
