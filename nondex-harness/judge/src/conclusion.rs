//! What is concluded about a test.

use std::collections::HashMap;

use nondex_core::choice::{clock, hold};
use nondex_core::{Family, Level, Model, RunSpec};

use super::culprit::{Culprits, Decisive};
use super::evidence::Evidence;
use super::options::Options;
use super::order;
use super::prerequisite::{Explanation, explained_by, explained_by_network};
use super::timing::{Timing, is_of_timing, is_timing};

/// What is concluded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// It passed in every run.
    Stable,
    /// It passed in every run, and what it writes depends on the choices.
    Latent(Box<Dependence>),
    /// It failed in every run.
    Broken,
    /// It failed in every run, and in none of a plain build.
    FailsOnlyHere,
    /// It failed in every run, and in some of a plain build.
    Flaky,
    /// It has a different outcome after other tests of its binary.
    OrderDependent(Box<order::Dependence>),
    /// Two runs that should be the same were not.
    NonDeterministic {
        /// The spec whose runs differed.
        spec: Box<RunSpec>,
    },
    /// Its outcome depends on the choices.
    Dependent(Box<Dependence>),
    /// It changes when there are choices, whatever is chosen: a shim makes it.
    Artefact(Box<Dependence>),
    /// All its failures are explained by a prerequisite that is not there.
    Explained(Box<Explained>),
}

impl Conclusion {
    /// This, or what the tests before it make of a test that fails alone; `clean` is the spec of
    /// its clean run.
    pub(super) fn after_others(
        self,
        clean: RunSpec,
        evidence: Option<&order::AfterOthers>,
    ) -> Self {
        let (Conclusion::Broken, Some(evidence)) = (&self, evidence) else { return self };
        match &evidence.conclusion {
            // That it passes alone with real threads, where it failed alone with scheduled ones, is
            // not caused by another test: a plain build is better evidence.
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

    /// This, or that all failures are explained. What a choice decides, only the network's absence
    /// explains.
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

/// A test whose failures are all explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// By what.
    pub explanation: Explanation,
    /// What the runs show, were it not for that.
    pub shown: Conclusion,
}

/// A test whose outcome depends on the choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// Whether it passes in canonical order.
    pub passes_clean: bool,
    /// A spec of the weakest level under which it has a different outcome, every time.
    pub spec: RunSpec,
    /// The calls that are responsible.
    pub culprits: Culprits,
    /// Whether the campaign was stopped before it came to its end: other calls may be responsible.
    pub is_cut: bool,
}

impl Dependence {
    /// Why it is non-deterministic: nothing but delays of its threads is responsible or, where that
    /// is not known, nothing else varies in its failing run. `None` when orders or values are.
    pub fn reason(&self, evidence: &Evidence) -> Option<Timing> {
        let families = self.families(evidence);
        let families = || families.iter().copied();
        let is_only_delays = families().next().is_some() && families().all(is_of_timing);
        is_only_delays.then(|| {
            if families().any(|family| family == Family::Schedule) {
                Timing::Race
            } else {
                Timing::Time
            }
        })
    }

    /// Whether it is not known if delays of its threads are responsible or something else is: the
    /// search was stopped before, or confirmed nothing.
    pub fn may_be_delays(&self, evidence: &Evidence) -> bool {
        let is_known = self.culprits.confirmed && !self.is_cut;
        !is_known && self.families(evidence).into_iter().any(is_of_timing)
    }

    /// The families of the calls that are responsible or, where they are not known, of those that
    /// vary in its failing run.
    fn families(&self, evidence: &Evidence) -> Vec<Family> {
        if !self.culprits.groups.is_empty() {
            return self.culprits.sites().map(|site| site.family).collect();
        }
        let failing = evidence.of(&self.spec).first();
        let varying = failing.iter().flat_map(|run| run.points.iter());
        let varying = varying.map(|point| point.site.family);
        varying.filter(|family| family.varies(self.spec.level())).collect()
    }

    /// The weakest level whose delays are known to be long enough, when nothing but delays is
    /// responsible: a seed of a level with longer ones may be the first that shows it.
    pub fn level_of_delays(&self, evidence: &Evidence) -> Option<Level> {
        self.level_of_shortest().or_else(|| self.level_of_longest(evidence))
    }

    /// The level of the longest delay of the run that shows it, whether that one is needed or not.
    /// Nobody knows what a clock that stands still may have done in it.
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

    /// Whether nothing but a delay or a clock is responsible, and such as other machines have and
    /// this one has not: a plain build never fails here then, if that is true.
    pub fn is_of_other_machines(&self) -> bool {
        self.passes_clean && matches!(self.level_of_timing(), Some(Level::One | Level::Eq))
    }

    /// Whether nothing but a delay or a clock lets it pass, and such as this machine has not: a
    /// plain build always fails here then, if that is true. A thread that is started late may be
    /// as late as one that is delayed at the level above.
    pub fn passes_on_other_machines(&self) -> bool {
        let mut sites = self.culprits.sites();
        let is_race = sites.any(|site| site.family == Family::Schedule);
        let here = if is_race { Level::One } else { Level::Std };
        !self.passes_clean && self.level_of_timing().is_some_and(|level| level > here)
    }

    /// Whether a reading of a clock is responsible.
    pub fn has_clock(&self) -> bool {
        let mut sites = self.culprits.sites();
        sites.any(|site| Model::by_api(&site.api).is_some_and(clock::is_clock))
    }

    /// The weakest level whose delays are long enough and whose clocks stand still long enough,
    /// when nothing but these is responsible and the shortest delays are known.
    fn level_of_timing(&self) -> Option<Level> {
        // How long a clock stands still depends on the level alone.
        let of_clock = || self.has_clock().then_some(self.spec.level());
        let is_timed = self.culprits.sites().all(is_timing);
        let level = self.level_of_shortest().or_else(of_clock);
        level.filter(|_| is_timed)
    }

    /// The same, when the shortest of each delay is known. Those of one thread add up: two of a
    /// second are as rare as one of two seconds.
    fn level_of_shortest(&self) -> Option<Level> {
        let mut needed = None;
        let mut delayed: HashMap<&str, u64> = HashMap::new();
        for call in self.culprits.groups.iter().flat_map(|group| &group.calls) {
            let Decisive::Number(number) = &call.turn.as_ref()?.decisive else { return None };
            let together = if Model::by_api(&call.site.api).is_some_and(clock::is_clock) {
                number.value
            } else {
                let delayed = delayed.entry(&call.thread).or_default();
                *delayed = (*delayed + number.value).min(hold::longest(Level::Full));
                *delayed
            };
            needed = needed.max(Some(clock::weakest_level(&call.site, together)?));
        }
        let is_confirmed = self.culprits.confirmed && self.culprits.sites().all(is_timing);
        needed.filter(|_| is_confirmed)
    }
}
