//! The marks of known flakes.

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
    /// Writes `known to be flaky until 2027-01-31: the clock is read twice (#12)`.
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
    /// For missing tests: only candidate for its new id. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed: Option<String>,
}

/// What is wrong with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OverdueReason {
    /// Its last day has passed.
    Expired,
    /// Its tests are stable.
    Stable,
    /// Its test does not exist.
    Missing,
}

impl Overdue {
    /// Describes the problem, without the advice.
    pub fn problem(&self) -> String {
        let what = match (self.reason, self.failure_bound, &self.renamed) {
            (OverdueReason::Expired, ..) => format!("expired on {}", self.expires),
            (OverdueReason::Stable, Some(bound), _) => {
                format!("is stable by now (< {:.0} % at 95 %)", bound * 100.0)
            }
            (OverdueReason::Stable, None, _) => "is stable by now".to_owned(),
            (OverdueReason::Missing, _, Some(renamed)) => {
                format!("no longer exists: was it renamed to `{renamed}`?")
            }
            (OverdueReason::Missing, _, None) => "no longer exists".to_owned(),
        };
        format!("known flake `{}` {what}", self.entry)
    }
}

impl std::fmt::Display for Overdue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.problem())?;
        // A renamed entry should be edited rather than removed.
        match self.renamed {
            None => f.write_str(": `cargo nondex known prune` removes it"),
            Some(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_be_done_follows_unless_the_test_has_another_name_now() {
        let overdue = |renamed: Option<&str>| Overdue {
            entry: "a$reads".to_owned(),
            reason: OverdueReason::Missing,
            expires: "2027-01-31".to_owned(),
            failure_bound: None,
            renamed: renamed.map(str::to_owned),
        };
        let gone = overdue(None);
        assert_eq!(
            gone.to_string(),
            format!("{}: `cargo nondex known prune` removes it", gone.problem())
        );
        let renamed = overdue(Some("a$looks"));
        assert_eq!(renamed.to_string(), renamed.problem());
    }
}
