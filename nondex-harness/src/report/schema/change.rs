//! What a failure has to do with a change.

use serde::{Deserialize, Serialize};

use super::Line;
pub use crate::judge::change::{Blame, Witness};

/// What a test's failure has to do with a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeReport {
    /// `flaky`: nothing; `regression`: it may be its effect; `unknown`.
    pub verdict: Blame,
    /// What says so: `coverage`, `file`, `culprit`, `rerun`, `same-process`, `clean-environment`,
    /// `order`, `network`, `base` or `history`; null when nothing does.
    pub witness: Option<Witness>,
    /// The changed lines that it ran, those of the failing file and nearest to the failure first.
    pub lines: Vec<Line>,
    /// The changed files that it opened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}
