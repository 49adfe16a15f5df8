//! Decides whether a test that fails with this tool also fails without it.
//!
//! This tool adds something to each test: a mirror of std's collections, a variable, time. This may
//! make a test fail that asserts the size of a map or the number of allocations. Such a test is not
//! broken. An effect that no order decides may still be decided by chance, such as the number of
//! key comparisons.
//!
//! A reading of a clock takes longer with this tool. So a test that needs two readings to differ
//! may pass here with a fine clock and always fail without this tool.
//!
//! Therefore a test runs in a plain build, as with `cargo test`, before some conclusions: that it
//! is broken, or fails only with this tool, or fails only on other machines. These runs are
//! evidence like all others.

use nondex_core::{NetworkMode, Outcome};

use super::conclusion::{Conclusion, Dependence};
use super::options::Options;
use super::timing::is_timing;

/// Results of the runs of one test in a plain build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlainBuild {
    /// Number of failures, and number of runs.
    Runs([u64; 2]),
    /// Reason why the test could not be compared.
    Not(String),
}

/// Returns whether a test must run in a plain build before its conclusion is final.
pub fn is_wanted(conclusion: &Conclusion) -> bool {
    match conclusion {
        Conclusion::Broken | Conclusion::Artefact(_) => true,
        Conclusion::Dependent(found) => {
            found.is_of_other_machines()
                || found.passes_on_other_machines()
                || may_be_no_delay(found)
        }
        _ => false,
    }
}

/// Returns whether a test fails under chosen delays that are only suspected. A plain build shows
/// how realistic these are.
fn may_be_no_delay(found: &Dependence) -> bool {
    let mut sites = found.culprits.sites();
    found.passes_clean && !found.culprits.confirmed && !found.is_cut && sites.any(is_timing)
}

/// Returns why runs of a plain build would be no evidence. `outcomes` are those of the test's runs,
/// or of its failing runs.
pub fn no_comparison<'o>(
    outcomes: impl IntoIterator<Item = &'o Outcome>,
    options: &Options,
) -> Option<&'static str> {
    let mut outcomes = outcomes.into_iter();
    match options.network.mode {
        NetworkMode::Block => Some("the network is blocked here"),
        NetworkMode::Fault => Some("the network is made to fail here"),
        NetworkMode::Observe | NetworkMode::Off => {
            outcomes.any(|outcome| *outcome == Outcome::Exited(0)).then_some(
                "its process ends before the test does, which a plain build reports as a pass",
            )
        }
    }
}

impl Conclusion {
    /// Replaces the conclusion if the runs of a plain build refute it. This concerns tests that
    /// always fail, and those that only delays or a shim make fail or pass.
    pub(super) fn compared_with(self, plain: Option<&PlainBuild>) -> Self {
        match (&self, plain) {
            (Conclusion::Broken, Some(PlainBuild::Runs([0, _]))) => Conclusion::FailsOnlyHere,
            (Conclusion::Broken, Some(PlainBuild::Runs([failures, runs]))) if failures < runs => {
                Conclusion::Flaky
            }
            (Conclusion::Artefact(dependence), Some(PlainBuild::Runs([failures, runs])))
                if *failures > 0 && (dependence.passes_clean || failures < runs) =>
            {
                Conclusion::Flaky
            }
            // A failure that only a coarser clock or a busier machine should show occurs on this
            // machine.
            (Conclusion::Dependent(found), Some(PlainBuild::Runs([failures, _])))
                if *failures > 0 && found.is_of_other_machines() =>
            {
                Conclusion::Flaky
            }
            // The test never passes on this machine.
            (Conclusion::Dependent(found), Some(PlainBuild::Runs([failures, runs])))
                if failures == runs && found.passes_on_other_machines() =>
            {
                Conclusion::Broken
            }
            _ => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certainty;
    use crate::conclusion::Dependence;
    use crate::culprit::Culprits;
    use crate::isolation::{Available, Runs, conclude};
    use crate::prerequisite::NetworkPolicy;
    use crate::simulation::{options, run};

    /// Returns the conclusion about a test that fails in all clean runs and has this result in a
    /// plain build.
    fn judged(plain: Option<PlainBuild>, outcome: &Outcome) -> (Conclusion, Runs) {
        let options = options();
        let mut runs = Runs::new(true, false);
        let natural = std::iter::repeat_n(options.natural_spec("t"), certainty::ENOUGH);
        for spec in std::iter::repeat_n(options.clean_spec("t"), 2).chain(natural) {
            let run = crate::run::Run { outcome: outcome.clone(), ..run(false, []) };
            runs.together.add(spec, run);
        }
        runs.plain = plain;
        (conclude("t", &options, Available::default(), &runs).unwrap().conclusion, runs)
    }

    #[test]
    fn the_conclusion_follows_from_the_plain_runs() {
        for (plain, conclusion) in [
            (None, Conclusion::Broken),
            (Some(PlainBuild::Not("x".to_owned())), Conclusion::Broken),
            (Some(PlainBuild::Runs([3, 3])), Conclusion::Broken),
            (Some(PlainBuild::Runs([1, 1])), Conclusion::Broken),
            (Some(PlainBuild::Runs([1, 3])), Conclusion::Flaky),
            (Some(PlainBuild::Runs([0, 3])), Conclusion::FailsOnlyHere),
        ] {
            let (found, _) = judged(plain.clone(), &Outcome::Failed);
            assert_eq!(found, conclusion, "{plain:?}");
            assert_eq!(is_wanted(&found), conclusion == Conclusion::Broken);
            // A plain build does not change the conclusion about a test that passes here.
            assert_eq!(Conclusion::Stable.compared_with(plain.as_ref()), Conclusion::Stable);
        }
    }

    #[test]
    fn what_no_order_decides_is_flaky_if_it_fails_without_this_tool_too() {
        for (passes_clean, plain, is_flaky) in [
            (true, Some(PlainBuild::Runs([0, 20])), false),
            (true, Some(PlainBuild::Runs([1, 3])), true),
            (true, Some(PlainBuild::Runs([3, 3])), true),
            (false, Some(PlainBuild::Runs([1, 3])), true),
            (false, Some(PlainBuild::Runs([0, 20])), false),
            (false, Some(PlainBuild::Runs([3, 3])), false),
            (true, Some(PlainBuild::Not("x".to_owned())), false),
            (true, None, false),
        ] {
            let artefact = Conclusion::Artefact(Box::new(Dependence {
                passes_clean,
                spec: options().clean_spec("t"),
                culprits: Culprits::default(),
                is_cut: false,
            }));
            assert!(is_wanted(&artefact));
            let found = artefact.clone().compared_with(plain.as_ref());
            let expected = if is_flaky { Conclusion::Flaky } else { artefact };
            assert_eq!(found, expected, "{passes_clean} {plain:?}");
        }
    }

    #[test]
    fn what_a_plain_build_cannot_tell_is_said() {
        for (mode, outcome, reason) in [
            (NetworkMode::Observe, Outcome::Failed, None),
            (NetworkMode::Off, Outcome::TimedOut, None),
            (NetworkMode::Observe, Outcome::Exited(0), Some("its process ends")),
            (NetworkMode::Block, Outcome::Failed, Some("the network is blocked")),
            (NetworkMode::Fault, Outcome::Failed, Some("the network is made to fail")),
        ] {
            let (_, runs) = judged(None, &outcome);
            let mut options = options();
            options.network = NetworkPolicy::new(mode, Vec::new(), true);
            let outcomes = runs.together.all().map(|(_, run)| &run.outcome);
            let obstacle = no_comparison(outcomes, &options);
            assert_eq!(obstacle.is_some(), reason.is_some(), "{obstacle:?}");
            assert!(obstacle.unwrap_or_default().starts_with(reason.unwrap_or_default()));
        }
    }
}
