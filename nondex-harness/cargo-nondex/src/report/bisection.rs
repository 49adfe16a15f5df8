//! What a search in the history found.

use serde::{Deserialize, Serialize};

use super::schema::Line;
use crate::judge::bisect::Tried;

/// When a test was introduced, and since when it is flaky.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bisection {
    /// The test's id.
    pub test: String,
    /// How it is flaky: `ID`, `OD-victim`, `OD-brittle`, `ND` or `UD`.
    pub category: String,
    /// The commit that introduced the test; null when its source was not found.
    pub introduced: Option<CommitReport>,
    /// The commit since which it is flaky; null when the search did not come to its end.
    pub flaky_since: Option<FlakySince>,
    /// How many commits lie between the two.
    pub commits_between: Option<u64>,
    /// How many days do, rounded down.
    pub days_between: Option<i64>,
    /// Commits that may have made it flaky, too, because they could not be tried: none when the
    /// answer is certain.
    pub remaining: Vec<String>,
    /// What was tried, in order.
    pub steps: Vec<BisectionStep>,
    /// How many times the project was built.
    pub builds: u64,
    /// How many test processes were started.
    pub runs: u64,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitReport {
    /// Its full name.
    pub commit: String,
    /// The day, such as `2026-11-22`.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
    /// Whether a shallow clone begins there, so that an earlier commit may be meant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub or_earlier: bool,
}

/// A commit that made a test flaky.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlakySince {
    /// The commit.
    #[serde(flatten)]
    pub commit: CommitReport,
    /// How many files of each kind it changed.
    pub files: FileCounts,
    /// The changed line that is nearest to the call that is responsible, when it changed the file
    /// of that call.
    pub line: Option<Line>,
}

/// How many files of each kind a commit changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCounts {
    /// The file that the test is in: 0 or 1.
    pub test: u64,
    /// Files of other tests.
    pub other_tests: u64,
    /// Other source files.
    pub code: u64,
    /// Manifests, lock files, build scripts, configuration of cargo and the toolchain.
    pub build: u64,
}

/// A commit that was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BisectionStep {
    /// Its full name.
    pub commit: String,
    /// `flaky`, `stable` or `skipped`.
    pub result: Tried,
    /// The verdict there, or why there is none.
    pub what: String,
}
