//! Derives the verdict on a test. No other module of the driver does.
//!
//! A [`Fact`] states what decides about a test, and each fact has one [`Ruling`] with the verdict.
//! If two reports are about the same test, [`Combined`] decides which of their verdicts holds, and
//! [`Verdict::rank`] which report knows more.

use nondex_core::{Family, Site};

use super::certainty;
use super::circumstance::Circumstance;
use super::clock_start;
use super::conclusion::{Conclusion, Dependence};
use super::evidence::Evidence;
use super::plain::PlainBuild;
use super::prerequisite::Explanation;
use super::question::Question;
use super::reruns::NextRerun;
use super::timing::Timing;
use super::unexplored;

/// Verdict on a test, the same in every output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Passed in every run, including runs under seeds.
    Stable,
    /// Passed in every run; no seed was tried, or not all its choices are known.
    Passed,
    /// Implementation-dependent: the outcome depends reproducibly on a choice, or on the
    /// environment.
    ImplementationDependent,
    /// Order-dependent: passes alone and fails after another test.
    OrderDependentVictim,
    /// Order-dependent: fails alone and passes after another test.
    OrderDependentBrittle,
    /// Non-deterministic: two runs with the same choices had different outcomes, or threads and
    /// time decide. Then it has a [reason](Ruling::reason).
    NonDeterministic,
    /// Flaky of unknown cause: fails intermittently in a plain build.
    Unknown,
    /// Failed because there is no network.
    Network,
    /// Fails in canonical order too, whatever is chosen.
    Broken,
    /// Not executed, not run often enough for a verdict, or fails only with this tool.
    #[default]
    NotRun,
}

nondex_core::words!(Verdict {
    Stable = "stable",
    Passed = "passed",
    ImplementationDependent = "ID",
    OrderDependentVictim = "OD-victim",
    OrderDependentBrittle = "OD-brittle",
    NonDeterministic = "ND",
    Unknown = "UD",
    Network = "network",
    Broken = "broken",
    NotRun = "not-run",
});

impl Verdict {
    /// Returns the meaning for the test, as one clause.
    pub const fn meaning(self) -> &'static str {
        match self {
            Verdict::Stable => "passed in every run, including runs under seeds",
            Verdict::Passed => {
                "passed in every run; no seed was tried, or not all its choices are known"
            }
            Verdict::ImplementationDependent => {
                "implementation-dependent: the outcome depends on an unspecified order, value, \
                 schedule or time, or on the environment"
            }
            Verdict::OrderDependentVictim => {
                "order-dependent: passes alone and fails after another test"
            }
            Verdict::OrderDependentBrittle => {
                "order-dependent: fails alone and passes after another test"
            }
            Verdict::NonDeterministic => {
                "non-deterministic: threads or time decide, or two runs with the same choices \
                 differed"
            }
            Verdict::Unknown => {
                "flaky for an unknown reason: fails intermittently in a plain build"
            }
            Verdict::Network => "failed because there is no network",
            Verdict::Broken => "fails in every run, including plain runs",
            Verdict::NotRun => {
                "not executed, not run often enough for a verdict, or fails only with this tool"
            }
        }
    }

    /// Returns whether the test may pass and may fail.
    pub const fn is_flaky(self) -> bool {
        matches!(
            self,
            Verdict::ImplementationDependent
                | Verdict::OrderDependentVictim
                | Verdict::OrderDependentBrittle
                | Verdict::NonDeterministic
                | Verdict::Unknown
        )
    }

    /// Returns whether the test passed in every run.
    pub const fn passes(self) -> bool {
        matches!(self, Verdict::Stable | Verdict::Passed)
    }

    /// Returns whether the tests that run before it make the difference.
    pub const fn is_of_order(self) -> bool {
        matches!(self, Verdict::OrderDependentVictim | Verdict::OrderDependentBrittle)
    }

    /// Returns the rank of a report among others on the same test; the lowest rank is used. A
    /// choice that decides comes first, whatever else was seen. Then come failures, then passes.
    pub const fn rank(self, is_dependent: bool) -> u8 {
        match self {
            _ if is_dependent => 0,
            Verdict::ImplementationDependent => 0,
            Verdict::NonDeterministic => 1,
            Verdict::Unknown => 2,
            Verdict::OrderDependentVictim | Verdict::OrderDependentBrittle => 3,
            Verdict::Broken => 4,
            Verdict::Network => 5,
            Verdict::Stable => 6,
            Verdict::Passed => 7,
            Verdict::NotRun => 8,
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// What decides about a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Passed in every run, including runs under seeds.
    Passes,
    /// Passed in every run; no seed was tried, or not all its choices are known.
    PassesUntried,
    /// Failed in every run.
    Fails,
    /// Equal runs had different outcomes, or the outcome depends on when something happens.
    Varies,
    /// Equal runs had different outcomes under this circumstance.
    VariesUnder(Circumstance),
    /// Delays of threads decide.
    Delays(Timing),
    /// Choices decide.
    Choices,
    /// Fails in this environment only, every time.
    Environment(Circumstance),
    /// Random values that the build draws decide.
    Build,
    /// Tests before it decide.
    Order {
        /// Whether the test passes alone.
        passes_alone: bool,
    },
    /// Fails now and then in a plain build, and no attempt here makes it fail.
    Unexplained,
    /// A missing network explains every failure.
    NoNetwork,
    /// A choice decides, but the search for its kind was stopped.
    Cut,
    /// Ran but cannot be judged: the tool itself may make it fail, or a run is missing.
    Unjudged,
}

/// Verdict with its details.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ruling {
    /// Verdict on the test.
    pub verdict: Verdict,
    /// Kind of the deciding delays.
    pub reason: Option<Timing>,
    /// Only environment in which the test fails.
    pub environment: Option<Circumstance>,
    /// Whether the test ran but was not judged.
    pub is_unjudged: bool,
}

impl Fact {
    /// Returns the verdict that follows.
    pub fn ruling(self) -> Ruling {
        let of = |verdict| Ruling { verdict, ..Ruling::default() };
        let of_delays = |timing| Ruling { reason: Some(timing), ..of(Verdict::NonDeterministic) };
        match self {
            Fact::Passes => of(Verdict::Stable),
            Fact::PassesUntried => of(Verdict::Passed),
            Fact::Fails => of(Verdict::Broken),
            Fact::Varies => of(Verdict::NonDeterministic),
            // Further seeds draw delays.
            Fact::VariesUnder(Circumstance::FurtherSeeds) => of_delays(Timing::Race),
            Fact::VariesUnder(circumstance) => Ruling {
                environment: Some(circumstance).filter(|one| one.part().is_some()),
                ..of(Verdict::NonDeterministic)
            },
            Fact::Delays(timing) => of_delays(timing),
            Fact::Choices | Fact::Build => of(Verdict::ImplementationDependent),
            Fact::Environment(circumstance) => {
                Ruling { environment: Some(circumstance), ..of(Verdict::ImplementationDependent) }
            }
            Fact::Order { passes_alone: true } => of(Verdict::OrderDependentVictim),
            Fact::Order { passes_alone: false } => of(Verdict::OrderDependentBrittle),
            Fact::Unexplained => of(Verdict::Unknown),
            Fact::NoNetwork => of(Verdict::Network),
            Fact::Cut => of(Verdict::NotRun),
            Fact::Unjudged => Ruling { is_unjudged: true, ..of(Verdict::NotRun) },
        }
    }

    /// Returns the fact for a conclusion from the runs of a test alone. `question` is the
    /// question that it answers.
    pub fn of_conclusion(
        conclusion: &Conclusion,
        question: Question<'_>,
        plain: Option<&PlainBuild>,
    ) -> Self {
        let (options, evidence) = (question.options, question.evidence);
        match conclusion {
            // A test that cannot be started, for instance because it is rebuilt, has no known
            // outcome. `stable` would claim more than was seen.
            _ if evidence.all().any(|(_, run)| run.is_missing) => Fact::Unjudged,
            Conclusion::Stable | Conclusion::Latent(_) => {
                // A choice whose event was lost was not seen, and may never have been tried.
                let is_known = !evidence.all().any(|(_, run)| run.lost);
                if is_known && options.tries_seeds() && !unexplored::is_untried(question) {
                    Fact::Passes
                } else {
                    Fact::PassesUntried
                }
            }
            Conclusion::Broken => {
                if may_be_a_choice(question, plain) {
                    Fact::Unjudged
                } else {
                    Fact::Fails
                }
            }
            Conclusion::Flaky => Fact::Unexplained,
            Conclusion::FailsOnlyHere | Conclusion::Artefact(_) => Fact::Unjudged,
            Conclusion::OrderDependent(found) => Fact::Order { passes_alone: found.passes_alone },
            Conclusion::NonDeterministic { spec }
                if spec.is_natural() && certainty::is_of_addresses(question) =>
            {
                Fact::VariesUnder(Circumstance::Addresses)
            }
            Conclusion::NonDeterministic { .. } => Fact::Varies,
            Conclusion::Dependent(found) => Fact::of_choices(found, evidence),
            Conclusion::Explained(found) => match Fact::of_explanation(&found.explanation) {
                Fact::NoNetwork => Fact::NoNetwork,
                // Any other missing prerequisite leaves the verdict.
                _ if found.shown == Conclusion::Broken => Fact::Fails,
                _ => Fact::of_conclusion(&found.shown, question, plain),
            },
        }
    }

    /// Returns the fact for choices that decide. Delays lead to `ND`, even if they are only
    /// suspected.
    fn of_choices(found: &Dependence, evidence: &Evidence) -> Self {
        match found.reason(evidence) {
            Some(timing) => Fact::Delays(timing),
            None if !found.may_be_delays(evidence) => Fact::Choices,
            None if found.is_cut => Fact::Cut,
            None => Fact::Varies,
        }
    }

    /// Returns the fact for an explanation of all failures. Only a missing network hides
    /// everything else about the test.
    pub fn of_explanation(explanation: &Explanation) -> Self {
        if explanation.is_of_network() { Fact::NoNetwork } else { Fact::Fails }
    }

    /// Returns the fact for runs that should have had one outcome: the number of failures, and
    /// of all runs.
    pub const fn of_failures([failed, all]: [usize; 2]) -> Self {
        if failed < all { Fact::Varies } else { Fact::Fails }
    }

    /// Returns the fact for reruns under other circumstances of a test that passed before;
    /// `None` if it still passes.
    pub const fn of_reruns(next: NextRerun) -> Option<Self> {
        match next {
            NextRerun::Run(_) | NextRerun::Stable => None,
            NextRerun::Environment(circumstance) => Some(Fact::Environment(circumstance)),
            NextRerun::NonDeterministic(circumstance) => Some(Fact::VariesUnder(circumstance)),
            NextRerun::Unknown => Some(Fact::Unexplained),
        }
    }
}

/// Returns whether a test that fails in canonical order may depend on a choice: it reached choices
/// for which no seed was tried. A test that always fails in a plain build does not.
fn may_be_a_choice(question: Question<'_>, plain: Option<&PlainBuild>) -> bool {
    let options = question.options;
    let mut points = question.repeated().flat_map(|run| run.points.iter());
    // A seed for threads, time and the network rarely makes a test pass.
    let is_drawn = |site: &Site| {
        !matches!(site.family, Family::Schedule | Family::Time | Family::Fault)
            && !clock_start::is_start(site)
    };
    let fails_plainly =
        matches!(plain, Some(PlainBuild::Runs([failures, runs])) if failures == runs);
    !options.tries_seeds() && !fails_plainly && points.any(|point| is_drawn(&point.site))
}

/// Relation of test orders to an earlier verdict on the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combined {
    /// The verdict from test orders holds.
    Overruled,
    /// Both verdicts agree.
    Agreed,
    /// Both choices and other tests decide: the earlier verdict stays.
    Both,
    /// The earlier verdict stays.
    Stays,
}

impl Combined {
    /// Combines the verdict `known` with the verdict `order` from test orders. `is_of_files` is
    /// whether other tests were proven to make it fail by a file. In a campaign, tests find files
    /// that others have left, independent of the test order.
    pub fn new(known: Verdict, order: Verdict, is_of_files: bool) -> Self {
        let overrules = match known {
            Verdict::NonDeterministic | Verdict::Unknown if is_of_files => order.is_of_order(),
            Verdict::Stable | Verdict::Passed => {
                use Verdict::{ImplementationDependent, NonDeterministic, Unknown};
                let is_of_chance =
                    matches!(order, ImplementationDependent | NonDeterministic | Unknown);
                order.is_of_order() || is_of_chance
            }
            Verdict::Broken | Verdict::OrderDependentBrittle | Verdict::NotRun => {
                order.is_of_order()
            }
            _ => false,
        };
        match [known, order] {
            _ if overrules => Combined::Overruled,
            [Verdict::Broken, Verdict::Broken] => Combined::Agreed,
            both if both.iter().all(|verdict| verdict.passes()) => Combined::Agreed,
            _ if order.is_of_order() => Combined::Both,
            _ => Combined::Stays,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Run;
    use crate::simulation::{options, run, simulate};

    #[test]
    fn a_test_whose_record_lost_events_passed_and_is_not_called_stable() {
        for (lost, expected) in [(false, Fact::Passes), (true, Fact::PassesUntried)] {
            let (conclusion, evidence) = simulate(&options(), |_| Run { lost, ..run(true, [1]) });
            let fact =
                Fact::of_conclusion(&conclusion, Question::new("t", &options(), &evidence), None);
            assert_eq!(fact, expected);
        }
    }

    #[test]
    fn each_fact_has_one_verdict_and_only_some_a_reason() {
        use Circumstance::{Alone, FurtherSeeds, Load, TimeZone};
        for (fact, verdict, reason, environment) in [
            (Fact::Passes, "stable", None, None),
            (Fact::PassesUntried, "passed", None, None),
            (Fact::of_failures([2, 2]), "broken", None, None),
            (Fact::of_failures([1, 2]), "ND", None, None),
            (Fact::Delays(Timing::Time), "ND", Some(Timing::Time), None),
            (Fact::VariesUnder(FurtherSeeds), "ND", Some(Timing::Race), None),
            (Fact::VariesUnder(Alone), "ND", None, None),
            (Fact::VariesUnder(Load), "ND", None, Some(Load)),
            (Fact::Environment(TimeZone), "ID", None, Some(TimeZone)),
            (Fact::Choices, "ID", None, None),
            (Fact::Build, "ID", None, None),
            (Fact::Order { passes_alone: true }, "OD-victim", None, None),
            (Fact::Order { passes_alone: false }, "OD-brittle", None, None),
            (Fact::Unexplained, "UD", None, None),
            (Fact::NoNetwork, "network", None, None),
            (Fact::Cut, "not-run", None, None),
            (Fact::Unjudged, "not-run", None, None),
        ] {
            let ruling = fact.ruling();
            let found = (ruling.verdict.name(), ruling.reason, ruling.environment);
            assert_eq!(found, (verdict, reason, environment), "{fact:?}");
            assert_eq!(ruling.is_unjudged, fact == Fact::Unjudged);
        }
    }
}
