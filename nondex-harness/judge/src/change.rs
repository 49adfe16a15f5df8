//! Decides whether a change causes a failure, from the code that the test ran and from other facts
//! about the test.

use serde::{Deserialize, Serialize};

/// Relation of a failure to a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Blame {
    /// No relation: the test is flaky.
    Flaky,
    /// The change may have caused it.
    Regression,
    /// Undecided.
    Unknown,
}

/// Evidence for the verdict on a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Witness {
    /// The changed code that it ran, if any.
    Coverage,
    /// A changed file that it opened.
    File,
    /// The responsible call, and whether it was changed.
    Culprit,
    /// The same code also passes in a new process.
    Rerun,
    /// The same code also passes when it runs again in the same process.
    SameProcess,
    /// The same code also passes with an empty home and temporary folder.
    CleanEnvironment,
    /// The preceding tests.
    Order,
    /// The network or another prerequisite is missing.
    Network,
    /// The outcome without the change.
    Base,
    /// It passed earlier without the change, and fails now with the same code.
    History,
}

/// Outcome of a test without the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtBase {
    /// Passes.
    Passes,
    /// Passes so often that it does not fail by chance as often as with the change.
    PassesAlways,
    /// Fails, too.
    Fails,
    /// Fails, too, but passed earlier.
    FailsNow,
    /// The test does not exist without the change.
    Absent,
    /// Could not be tried.
    Untried,
}

/// Reason why a test is not stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instability {
    /// Fails in every run.
    Broken,
    /// Depends on a choice.
    Choice {
        /// Whether the change left all responsible calls as they were; `None` if they are not
        /// confirmed.
        is_unchanged: Option<bool>,
    },
    /// Depends on the tests before it.
    Order,
    /// Passes and fails in equal runs.
    Chance,
    /// The machine explains its failures.
    Explained,
}

/// Facts about a failing test and a change.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Reason why the test is not stable.
    pub instability: Instability,
    /// Outcome without the change.
    pub at_base: AtBase,
    /// Whether the test ran changed code; `None` if the record of what it ran is lost.
    pub ran_change: Option<bool>,
    /// Kind of the rerun that passed, if any.
    pub passed_again: Option<Witness>,
    /// Whether the test opened a changed file.
    pub has_opened: bool,
    /// Whether there are changed files that the test may have read unseen.
    pub may_have_read: bool,
}

/// Returns the relation of a failure to the change, and the evidence.
///
/// A flaky test need not have been flaky before: a change may remove what established an order, or
/// introduce a race. The change is cleared only if the test is flaky without it, or does not run
/// changed code.
pub const fn blame(facts: &Facts) -> (Blame, Option<Witness>) {
    let by_nature = match facts.instability {
        Instability::Explained => return (Blame::Flaky, Some(Witness::Network)),
        Instability::Choice { is_unchanged: Some(false) } => {
            return (Blame::Regression, Some(Witness::Culprit));
        }
        Instability::Choice { is_unchanged: Some(true) } => Some(Witness::Culprit),
        Instability::Choice { is_unchanged: None } => Some(Witness::Rerun),
        Instability::Chance => Some(Witness::Rerun),
        Instability::Order => Some(Witness::Order),
        Instability::Broken => facts.passed_again,
    };
    let (met, by) = match (facts.ran_change, facts.has_opened) {
        (Some(true), _) => (Some(true), Witness::Coverage),
        (_, true) => (Some(true), Witness::File),
        (ran, false) => (ran, Witness::Coverage),
    };
    let is_by_chance = matches!(facts.instability, Instability::Chance | Instability::Broken)
        && by_nature.is_some();
    match (by_nature, facts.at_base, met) {
        (None, AtBase::FailsNow, _) => (Blame::Flaky, Some(Witness::History)),
        (Some(witness), AtBase::Fails | AtBase::FailsNow, _) => (Blame::Flaky, Some(witness)),
        (Some(witness), _, Some(false)) if !facts.may_have_read => (Blame::Flaky, Some(witness)),
        // It may have passed by chance before.
        (Some(_), AtBase::Passes, _) if is_by_chance => (Blame::Unknown, None),
        (None, AtBase::Fails, _) => (Blame::Unknown, Some(Witness::Base)),
        (_, _, Some(true)) => (Blame::Regression, Some(by)),
        // Not for a new test: it always runs changed lines, its own, so a record without any is
        // doubtful.
        (None, AtBase::Passes | AtBase::PassesAlways, Some(false)) if !facts.may_have_read => {
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
            instability: Instability::Broken,
            at_base,
            ran_change,
            passed_again: None,
            has_opened: false,
            may_have_read,
        };
        use AtBase::{Absent, Fails, FailsNow, Passes, PassesAlways, Untried};
        for (facts, expected) in [
            (facts(Passes, Some(false), false), (Blame::Flaky, Some(Witness::Coverage))),
            (facts(Passes, Some(false), true), (Blame::Unknown, None)),
            (facts(Passes, Some(true), false), (Blame::Regression, Some(Witness::Coverage))),
            (facts(Passes, None, false), (Blame::Unknown, None)),
            (facts(Fails, Some(true), false), (Blame::Unknown, Some(Witness::Base))),
            (facts(FailsNow, Some(true), false), (Blame::Flaky, Some(Witness::History))),
            (facts(Absent, Some(true), false), (Blame::Regression, Some(Witness::Coverage))),
            (facts(Absent, Some(false), false), (Blame::Unknown, None)),
            (facts(Untried, Some(false), false), (Blame::Unknown, None)),
        ] {
            assert_eq!(blame(&facts), expected, "{facts:?}");
        }
        for (at_base, ran_change, expected) in [
            (Fails, Some(true), (Blame::Flaky, Some(Witness::Rerun))),
            (Passes, Some(false), (Blame::Flaky, Some(Witness::Rerun))),
            (Passes, Some(true), (Blame::Unknown, None)),
            (Passes, None, (Blame::Unknown, None)),
            (PassesAlways, Some(true), (Blame::Regression, Some(Witness::Coverage))),
            (PassesAlways, None, (Blame::Unknown, None)),
            (Untried, Some(false), (Blame::Flaky, Some(Witness::Rerun))),
            (Absent, Some(true), (Blame::Regression, Some(Witness::Coverage))),
        ] {
            let by_chance = facts(at_base, ran_change, false);
            for facts in [
                Facts { passed_again: Some(Witness::Rerun), ..by_chance },
                Facts { instability: Instability::Chance, ..by_chance },
            ] {
                assert_eq!(blame(&facts), expected, "{facts:?}");
            }
        }
    }

    #[test]
    fn a_changed_file_that_a_test_opened_is_as_good_as_a_changed_line_that_it_ran() {
        let facts = |ran_change, has_opened| Facts {
            instability: Instability::Broken,
            at_base: AtBase::Passes,
            ran_change,
            passed_again: None,
            has_opened,
            may_have_read: false,
        };
        let file = (Blame::Regression, Some(Witness::File));
        assert_eq!(blame(&facts(Some(false), true)), file);
        assert_eq!(blame(&facts(None, true)), file);
        assert_eq!(blame(&facts(Some(true), true)), (Blame::Regression, Some(Witness::Coverage)));
        let by_chance = Facts { instability: Instability::Chance, ..facts(Some(false), true) };
        assert_eq!(blame(&by_chance), (Blame::Unknown, None));
    }

    #[test]
    fn a_call_that_was_left_as_it_was_is_flaky_only_if_it_was_so_before_or_the_change_was_not_run()
    {
        use AtBase::{Fails, Passes, Untried};
        let culprit = Some(Witness::Culprit);
        for (is_unchanged, at_base, ran_change, expected) in [
            (Some(true), Fails, true, (Blame::Flaky, culprit)),
            (Some(true), Passes, false, (Blame::Flaky, culprit)),
            (Some(true), Passes, true, (Blame::Regression, Some(Witness::Coverage))),
            (Some(true), Untried, true, (Blame::Regression, Some(Witness::Coverage))),
            (Some(false), Fails, true, (Blame::Regression, culprit)),
            (None, Fails, true, (Blame::Flaky, Some(Witness::Rerun))),
            (None, Passes, true, (Blame::Regression, Some(Witness::Coverage))),
        ] {
            let facts = Facts {
                instability: Instability::Choice { is_unchanged },
                at_base,
                ran_change: Some(ran_change),
                passed_again: None,
                has_opened: false,
                may_have_read: false,
            };
            assert_eq!(blame(&facts), expected, "{facts:?}");
        }
    }
}
