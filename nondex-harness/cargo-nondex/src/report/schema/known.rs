//! Marks of known flakes.

use serde::{Deserialize, Serialize};

/// Entry that covers a flaky test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFlake {
    /// Why it is not fixed yet.
    pub reason: String,
    /// Last day on which it may be flaky, such as `2027-01-31`.
    pub expires: String,
    /// Address of a description, such as an issue.
    pub link: Option<String>,
}

impl std::fmt::Display for KnownFlake {
    /// `known to be flaky until 2027-01-31: the clock is read twice (#12)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "known to be flaky until {}: {}", self.expires, self.reason)?;
        match &self.link {
            None => Ok(()),
            Some(link) => write!(f, " ({link})"),
        }
    }
}

/// Known flake that needs attention: an error in a strict run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overdue {
    /// Id of the test, or the filterset.
    pub entry: String,
    /// What is wrong with it.
    pub reason: OverdueReason,
    /// Last day.
    pub expires: String,
    /// For stable tests: failure rate that their runs leave possible, with 95 percent confidence.
    pub failure_bound: Option<f64>,
    /// For missing tests: the only test that it may be now. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed: Option<String>,
}

/// What is wrong with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OverdueReason {
    /// Its day is over.
    Expired,
    /// Its tests are stable.
    Stable,
    /// Its test does not exist.
    Missing,
}

impl std::fmt::Display for Overdue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Overdue { entry, expires, .. } = self;
        match (self.reason, self.failure_bound) {
            (OverdueReason::Expired, _) => write!(f, "known flake `{entry}` expired on {expires}"),
            (OverdueReason::Stable, Some(bound)) => write!(
                f,
                "known flake `{entry}` is stable by now (< {:.0} % at 95 %): `cargo nondex known \
                 prune` removes it",
                bound * 100.0
            ),
            (OverdueReason::Stable, None) => write!(f, "known flake `{entry}` is stable by now"),
            (OverdueReason::Missing, _) => match &self.renamed {
                Some(renamed) => write!(
                    f,
                    "known flake `{entry}` does not exist any more: is it `{renamed}` now?"
                ),
                None => write!(f, "known flake `{entry}` does not exist any more"),
            },
        }
    }
}
