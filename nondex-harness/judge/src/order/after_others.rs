//! Defines the result of a test that fails alone, after the other tests of its binary. It is
//! evidence in addition to the test's own runs.

use std::sync::Arc;

use super::roles;

impl AfterOthers {
    /// Returns the result if nothing could be found out.
    pub fn unknown() -> Self {
        AfterOthers {
            conclusion: roles::OrderConclusion::Unknown,
            names: Arc::default(),
            is_paired: true,
            processes: 0,
        }
    }
}

/// Result of a test that fails alone, after the other tests of its binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AfterOthers {
    /// Conclusion from these processes.
    pub conclusion: roles::OrderConclusion,
    /// Names of the binary's tests, by number.
    pub names: Arc<[String]>,
    /// Whether the test was run directly after each other test. If it fails in the tried orders, it
    /// was also run after their prefixes.
    pub is_paired: bool,
    /// Number of processes that were made for it.
    pub processes: u64,
}
