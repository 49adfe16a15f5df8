//! Relation of a failure to a change.

use serde::{Deserialize, Serialize};

use super::Line;
pub use crate::judge::change::{Blame, Witness};

/// Relation of a failure to a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeReport {
    /// `flaky`: none; `regression`: it may be the effect; `unknown`.
    pub verdict: Blame,
    /// Evidence; null if there is none.
    pub witness: Option<Witness>,
    /// Changed lines that the test ran, those of the failing file and nearest to the failure first.
    /// Of other files, those that act on the whole executable, such as a constant, come last.
    pub lines: Vec<Line>,
    /// Changed files that it opened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}
