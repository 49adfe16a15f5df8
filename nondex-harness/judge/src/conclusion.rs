//! Defines what is concluded about a test.

use std::collections::HashMap;

use nondex_core::choice::{clock, hold};
use nondex_core::{Family, Level, Model, RunSpec};

use super::culprit::{Culprits, Decisive};
use super::evidence::Evidence;
use super::options::Options;
use super::order;
use super::prerequisite::{Explanation, explained_by, explained_by_network};
use super::timing::{Timing, is_of_timing, is_timing};

/// Conclusion about a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// Passed in every run.
    Stable,
    /// Passed in every run, but its output depends on the choices.
    Latent(Box<Dependence>),
    /// Failed in every run.
    Broken,
    /// Failed in every run, but in none of a plain build.
    FailsOnlyHere,
    /// Failed in every run, and in some of a plain build.
    Flaky,
    /// Has a different outcome after other tests of its binary.
    OrderDependent(Box<order::OrderDependence>),
    /// Two runs that should have been equal had different outcomes.
    NonDeterministic {
        /// Spec whose runs differed.
        spec: Box<RunSpec>,
    },
    /// The outcome depends on the choices.
    Dependent(Box<Dependence>),
    /// The outcome changes whenever there are choices, whatever is chosen: a shim causes it.
    Artefact(Box<Dependence>),
    /// A missing prerequisite explains all failures.
    Explained(Box<Explained>),
}

impl Conclusion {
    /// Replaces the conclusion about a test that fails alone by that about test orders, if other
    /// tests make a difference. `clean` is the spec of its clean run.
    pub(super) fn after_others(
        self,
        clean: RunSpec,
        evidence: Option<&order::AfterOthers>,
    ) -> Self {
        let (Conclusion::Broken, Some(evidence)) = (&self, evidence) else { return self };
        match &evidence.conclusion {
            // It passes alone with real threads, but failed alone when scheduled. Another test does
            // not cause this, and a plain build is better evidence.
            order::OrderConclusion::Dependent(found) if found.passes_alone => self,
            order::OrderConclusion::Dependent(found) => {
                Conclusion::OrderDependent(found.clone().into())
            }
            order::OrderConclusion::NonDeterministic { before, .. } => {
                let before = before.iter().map(|test| evidence.names[*test].clone());
                Conclusion::NonDeterministic {
                    spec: Box::new(clean.with_real_threads().after(before.collect())),
                }
            }
            order::OrderConclusion::Independent | order::OrderConclusion::Unknown => self,
        }
    }

    /// Replaces the conclusion if a prerequisite explains all failures. A dependence on a choice is
    /// only explained by a missing network.
    pub(super) fn or_explained(self, evidence: &Evidence, options: &Options) -> Conclusion {
        let (policy, own) = (&options.network, &options.prerequisites);
        let explanation = match self {
            Conclusion::Broken | Conclusion::NonDeterministic { .. } => {
                explained_by_network(evidence, policy)
                    .or_else(|| explained_by(evidence, policy, own))
            }
            Conclusion::Dependent(_) => explained_by_network(evidence, policy),
            Conclusion::Stable
            | Conclusion::Latent(_)
            | Conclusion::FailsOnlyHere
            | Conclusion::OrderDependent(_)
            | Conclusion::Flaky
            | Conclusion::Artefact(_)
            | Conclusion::Explained(_) => None,
        };
        match explanation {
            None => self,
            Some(explanation) => {
                Conclusion::Explained(Box::new(Explained { explanation, shown: self }))
            }
        }
    }
}

/// Test whose failures are all explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// Explanation of the failures.
    pub explanation: Explanation,
    /// Conclusion from the runs without the explanation.
    pub shown: Conclusion,
}

/// Dependence of a test's outcome on the choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// Whether the test passes in canonical order.
    pub passes_clean: bool,
    /// Spec of the weakest level that changes the outcome every time.
    pub spec: RunSpec,
    /// Responsible calls.
    pub culprits: Culprits,
    /// Whether the campaign was stopped early: other calls may be responsible.
    pub is_cut: bool,
}

impl Dependence {
    /// Returns why the test is non-deterministic if only delays are responsible. If the culprits
    /// are unknown, nothing but delays must vary in its failing run. Returns `None` if orders or
    /// values are responsible.
    pub fn reason(&self, evidence: &Evidence) -> Option<Timing> {
        let all = self.families(evidence);
        let families = || all.iter().copied();
        let is_only_delays = families().next().is_some() && families().all(is_of_timing);
        is_only_delays.then(|| {
            if families().any(|family| family == Family::Schedule) {
                Timing::Race
            } else {
                Timing::Time
            }
        })
    }

    /// Returns whether delays may be responsible, but it is unknown whether they are: the search
    /// was stopped, or confirmed nothing.
    pub fn may_be_delays(&self, evidence: &Evidence) -> bool {
        let is_known = self.culprits.confirmed && !self.is_cut;
        !is_known && self.families(evidence).into_iter().any(is_of_timing)
    }

    /// Returns the families of the responsible calls or, if these are unknown, the families that
    /// vary in the failing run.
    fn families(&self, evidence: &Evidence) -> Vec<Family> {
        if !self.culprits.groups.is_empty() {
            return self.culprits.sites().map(|site| site.family).collect();
        }
        let failing = evidence.of(&self.spec).first();
        failing
            .iter()
            .flat_map(|run| run.points.iter())
            .map(|point| point.site.family)
            .filter(|family| family.varies(self.spec.level()))
            .collect()
    }

    /// Returns the weakest level whose delays are known to be long enough, if only delays are
    /// responsible. The first seed that shows the failure may be of a level with longer delays.
    pub fn level_of_delays(&self, evidence: &Evidence) -> Option<Level> {
        self.level_of_shortest().or_else(|| self.level_of_longest(evidence))
    }

    /// Returns the level of the longest delay in the failing run, whether or not that delay is
    /// needed. Returns `None` if a clock stood still in the run, because its effect is unknown.
    fn level_of_longest(&self, evidence: &Evidence) -> Option<Level> {
        self.reason(evidence)?;
        let run = evidence.of(&self.spec).first()?;
        let models = run.points.iter().map(|point| Model::by_api(&point.site.api));
        if models.flatten().any(clock::is_clock) {
            return None;
        }
        let longest = run.schedule.as_ref()?.longest_delay;
        Level::ALL.into_iter().find(|level| longest <= hold::longest(*level))
    }

    /// Returns whether only a delay or a clock is responsible, of a kind that other machines have
    /// and this one does not. If this is true, a plain build never fails on this machine.
    pub fn is_of_other_machines(&self) -> bool {
        self.passes_clean && matches!(self.level_of_timing(), Some(Level::One | Level::Eq))
    }

    /// Returns whether the test only passes with a delay or a clock that this machine does not
    /// have. If this is true, a plain build always fails on this machine. A thread may start as
    /// late as one that is delayed at the level above.
    pub fn passes_on_other_machines(&self) -> bool {
        let mut sites = self.culprits.sites();
        let is_race = sites.any(|site| site.family == Family::Schedule);
        let here = if is_race { Level::One } else { Level::Std };
        !self.passes_clean && self.level_of_timing().is_some_and(|level| level > here)
    }

    /// Returns whether a reading of a clock is responsible.
    pub fn has_clock(&self) -> bool {
        let mut sites = self.culprits.sites();
        sites.any(|site| Model::by_api(&site.api).is_some_and(clock::is_clock))
    }

    /// Returns the weakest level whose delays and stopped clocks are long enough. Returns `None`
    /// unless only these are responsible and the shortest delays are known.
    fn level_of_timing(&self) -> Option<Level> {
        // How long a clock stands still depends on the level only.
        let of_clock = || self.has_clock().then_some(self.spec.level());
        let is_timed = self.culprits.sites().all(is_timing);
        let level = self.level_of_shortest().or_else(of_clock);
        level.filter(|_| is_timed)
    }

    /// Returns the weakest level whose delays are long enough, if the shortest length of each delay
    /// is known. Delays of one thread add up: two of one second are as rare as one of two seconds.
    fn level_of_shortest(&self) -> Option<Level> {
        let mut needed = None;
        let mut delayed: HashMap<&str, u64> = HashMap::new();
        for call in self.culprits.groups.iter().flat_map(|group| &group.calls) {
            let Decisive::Number(number) = &call.turn.as_ref()?.decisive else { return None };
            let together = if Model::by_api(&call.site.api).is_some_and(clock::is_clock) {
                number.value
            } else {
                let sum = delayed.entry(&call.thread).or_default();
                *sum = (*sum + number.value).min(hold::longest(Level::Full));
                *sum
            };
            needed = needed.max(Some(clock::weakest_level(&call.site, together)?));
        }
        let is_confirmed = self.culprits.confirmed && self.culprits.sites().all(is_timing);
        needed.filter(|_| is_confirmed)
    }
}
