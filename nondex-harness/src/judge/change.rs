//! Whether a failure is that of a change: what follows from the code that a test ran, and from what else is known of it.

use serde::{Deserialize, Serialize};

/// What a failure has to do with a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Blame {
    /// Nothing: the test is flaky.
    Flaky,
    /// It may be its effect.
    Regression,
    /// That cannot be said.
    Unknown,
}

/// What says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Witness {
    /// The changed code that it ran, or that it ran none.
    Coverage,
    /// The call that is responsible, and whether it was changed.
    Culprit,
    /// It also passes, with the same code.
    Rerun,
    /// The tests that run before it.
    Order,
    /// There is no network, or another prerequisite is missing.
    Network,
    /// How it ends without the change.
    Base,
}

/// How a test ends without the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtBase {
    /// It passes.
    Passes,
    /// It fails, too.
    Fails,
    /// There is no such test.
    Absent,
    /// That could not be tried.
    Untried,
}

/// Why a test is not stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It fails in every run.
    Broken,
    /// It depends on a choice; whether the calls that are responsible are confirmed, and were all left as they were.
    Choice {
        /// Whether none of them was changed.
        is_unchanged: Option<bool>,
    },
    /// It depends on the tests before it.
    Order,
    /// It passes and fails in runs that are the same.
    Chance,
    /// Its failures are explained by the machine.
    Explained,
}

/// What is known of a failing test and a change.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Why it is not stable.
    pub kind: Kind,
    /// How it ends without the change.
    pub at_base: AtBase,
    /// Whether it ran changed code; `None` when what it ran is lost.
    pub ran_change: Option<bool>,
    /// Whether it passed when it was run again.
    pub passed_again: bool,
    /// Whether files were changed that are no code, and that it may have read.
    pub may_have_read: bool,
}

/// What a failure has to do with the change, and what says so.
#[must_use]
pub const fn blame(facts: &Facts) -> (Blame, Option<Witness>) {
    match facts.kind {
        Kind::Explained => return (Blame::Flaky, Some(Witness::Network)),
        Kind::Chance => return (Blame::Flaky, Some(Witness::Rerun)),
        // Stronger than what it ran: this call makes it fail, and nobody touched it.
        Kind::Choice {
            is_unchanged: Some(true),
        } => return (Blame::Flaky, Some(Witness::Culprit)),
        Kind::Choice {
            is_unchanged: Some(false),
        } => return (Blame::Regression, Some(Witness::Culprit)),
        Kind::Order => return (Blame::Flaky, Some(Witness::Order)),
        Kind::Broken | Kind::Choice { is_unchanged: None } => {}
    }
    if facts.passed_again {
        return (Blame::Flaky, Some(Witness::Rerun));
    }
    match (facts.at_base, facts.ran_change) {
        (AtBase::Fails, _) => (Blame::Unknown, Some(Witness::Base)),
        (_, Some(true)) => (Blame::Regression, Some(Witness::Coverage)),
        // A new test that runs no change is none: its own lines are changed.
        (AtBase::Passes, Some(false)) if !facts.may_have_read => {
            (Blame::Flaky, Some(Witness::Coverage))
        }
        _ => (Blame::Unknown, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_flaky_only_where_the_test_passed_before_and_ran_no_change() {
        let facts = |at_base, ran_change, may_have_read| Facts {
            kind: Kind::Broken,
            at_base,
            ran_change,
            passed_again: false,
            may_have_read,
        };
        use AtBase::{Absent, Fails, Passes, Untried};
        for (facts, expected) in [
            (
                facts(Passes, Some(false), false),
                (Blame::Flaky, Some(Witness::Coverage)),
            ),
            (facts(Passes, Some(false), true), (Blame::Unknown, None)),
            (
                facts(Passes, Some(true), false),
                (Blame::Regression, Some(Witness::Coverage)),
            ),
            (facts(Passes, None, false), (Blame::Unknown, None)),
            (
                facts(Fails, Some(true), false),
                (Blame::Unknown, Some(Witness::Base)),
            ),
            (
                facts(Absent, Some(true), false),
                (Blame::Regression, Some(Witness::Coverage)),
            ),
            (facts(Absent, Some(false), false), (Blame::Unknown, None)),
            (facts(Untried, Some(false), false), (Blame::Unknown, None)),
        ] {
            assert_eq!(blame(&facts), expected, "{facts:?}");
        }
        let again = Facts {
            passed_again: true,
            ..facts(Passes, Some(true), false)
        };
        assert_eq!(blame(&again), (Blame::Flaky, Some(Witness::Rerun)));
    }

    #[test]
    fn a_confirmed_call_says_more_than_what_was_run() {
        for (is_unchanged, expected) in [
            (Some(true), Blame::Flaky),
            (Some(false), Blame::Regression),
            (None, Blame::Regression),
        ] {
            let facts = Facts {
                kind: Kind::Choice { is_unchanged },
                at_base: AtBase::Passes,
                ran_change: Some(true),
                passed_again: false,
                may_have_read: false,
            };
            assert_eq!(blame(&facts).0, expected);
        }
    }
}
