//! Searches for the choices that are responsible for a failure: first call sites, then calls, then
//! what decides within a call.
//!
//! Turning one choice off leaves all others unchanged, so a run with choices at some places only is
//! well defined. The search descends a hierarchy (Misherghi and Su, "HDD: hierarchical delta
//! debugging", 2006):
//!
//! 1. the [smallest set](subset) of call *sites* that changes the outcome;
//! 2. the smallest set of *calls* at these sites;
//! 3. for each of these calls the turn: the two elements, or the number, that decide.
//!
//! If the outcome still changes without these sites, there is another, independent culprit. It is
//! searched for in the same way.
//!
//! One culprit is enough for threads and time. Many delays make the same two operations change
//! places, and other delays replace one that is left out. Orders and values are blamed first, so
//! that a delay is only blamed if they do not suffice.

mod call;
mod calls;
mod elements;
mod position;
pub mod subset;
mod turn;

use nondex_core::{
    Failure, Family, Given, Outcome, PointRecord, RunSpec, ScheduleRecord, Scope, Selection, Site,
    StepRecord,
};

pub use self::call::{Call, Decisive, TurningPoint};
pub use self::position::Position;
use self::subset::smallest;
use super::equivalence::is_made;
use super::evidence::Evidence;
use super::missing::{ExperimentPurpose, Missing};
use super::run::Run;
use super::specs;
use super::timing::is_timing;

/// Number of runs with a call, and without it, that must have the same outcome to confirm the call.
pub const CONFIRMATIONS: usize = 3;

/// Same number for a turn within a call. Consider a test that fails by chance with probability `p`.
/// It passes this check with a probability of at most (p·(1 - p))^7, less than 1 in 16,000. Before
/// this check it must already have looked deterministic in all other runs.
pub const CONFIRMATIONS_OF_TURN: usize = 8;

/// Same number for a call without a confirmed turn, for instance because there is none (random
/// bytes).
pub const CONFIRMATIONS_ALONE: usize = 8;

/// Maximum number of independent culprits.
const MAX_GROUPS: usize = 8;

/// Maximum size of a spec in bytes: Linux limits an environment variable to 128 KiB.
const MAX_SPEC: usize = 100 << 10;

/// Result of the search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Culprits {
    /// Independent culprits: each changes the outcome without the others.
    pub groups: Vec<Group>,
    /// Whether they were confirmed both ways: with them the outcome changes, without them it does
    /// not.
    pub confirmed: bool,
    /// Remarks for the report.
    pub notes: Vec<String>,
}

/// Choices that only change the outcome together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Call sites of the choices.
    pub sites: Vec<Site>,
    /// Calls; empty if the search ended before it reached calls.
    pub calls: Vec<Call>,
    /// Choice points with stacks, from a [traced] run.
    pub points: Vec<PointRecord>,
    /// Steps of the calls whose choice was given in that run.
    pub steps: Vec<StepRecord>,
    /// Record of the scheduler in that run, with the operations of the threads.
    pub schedule: Option<ScheduleRecord>,
    /// Failure of that run, which may differ from the failure under the seed.
    pub failure: Option<Failure>,
}

impl Group {
    /// Returns whether the turn of each call is known.
    fn is_exact(&self) -> bool {
        !self.calls.is_empty() && self.calls.iter().all(|call| call.turn.is_some())
    }
}

impl Culprits {
    /// Returns the calls that change the outcome by something other than their choice, if each
    /// group has one.
    pub fn artefacts(&self) -> Option<Vec<&Call>> {
        let groups = self.groups.iter();
        let found: Option<Vec<&Call>> =
            groups.map(|group| group.calls.iter().find(|call| call.is_artefact)).collect();
        found.filter(|calls| !calls.is_empty())
    }

    /// Returns the sites of all groups.
    pub fn sites(&self) -> impl Iterator<Item = &Site> {
        self.groups.iter().flat_map(|group| &group.sites)
    }

    /// Adds to each group what a traced run with its choices under `spec` shows.
    ///
    /// # Errors
    /// Returns the runs to make first.
    pub(crate) fn trace(&mut self, evidence: &Evidence, spec: &RunSpec) -> Result<(), Missing> {
        let traced: Vec<RunSpec> =
            self.groups.iter().map(|group| traced(evidence, spec, group)).collect();
        for (group, answer) in self.groups.iter_mut().zip(evidence.answers(&traced)?) {
            group.points = answer.run.points.to_vec();
            group.steps.clone_from(&answer.run.steps);
            group.schedule.clone_from(&answer.run.schedule);
            group.failure.clone_from(&answer.run.failure);
        }
        Ok(())
    }
}

/// Searches for the choices that change the outcome in a run of `spec`, which makes all of them.
/// `passes_clean` is whether the clean runs passed. Requests about `budget` runs at most. Once the
/// time for explanations is spent, the search only uses the runs that were made.
///
/// # Errors
/// Returns the runs to make first.
pub fn search(
    evidence: &Evidence,
    spec: &RunSpec,
    passes_clean: bool,
    budget: usize,
) -> Result<Culprits, Missing> {
    let within = |runs| search_within(evidence, spec, passes_clean, runs);
    match evidence.within_budget(ExperimentPurpose::Explain, within(budget))? {
        Some(found) => Ok(found),
        None => (1..budget).rev().find_map(|runs| within(runs).ok()).map_or_else(|| within(0), Ok),
    }
}

fn search_within(
    evidence: &Evidence,
    spec: &RunSpec,
    passes_clean: bool,
    budget: usize,
) -> Result<Culprits, Missing> {
    let mut search = CulpritSearch { evidence, spec, passes_clean, left: budget };
    let mut found = Culprits::default();
    let mut rest = search.spec.clone();
    loop {
        // A run with only the sites that it reached makes the same choices, so these sites suffice.
        let sites = made_sites(&rest, &search.run(&rest)?.points);
        if sites.is_empty() {
            break;
        }
        if search.with(Selection::only(sites.clone())).to_json().len() > MAX_SPEC {
            found.notes.push(format!(
                "{} call sites are too many to search for the responsible one",
                sites.len()
            ));
            break;
        }
        let (group, is_complete) = search.sites(&sites)?;
        let is_delay = group.iter().all(is_timing);
        found.groups.push(Group { sites: group, ..Group::default() });
        if is_delay {
            found.confirmed = is_complete && search.confirm_each(&mut found.groups)?;
            break;
        }
        rest = search.with(Selection::except(found.sites().cloned()));
        if !search.changes(&rest)? {
            found.confirmed = is_complete && search.confirm_all(&mut found.groups, &rest)?;
            break;
        }
        if found.groups.len() == MAX_GROUPS {
            found.notes.push("there are more culprits than these".to_owned());
            break;
        }
        if search.left == 0 {
            break;
        }
    }
    if search.left == 0 {
        found.notes.push(format!(
            "the search for the culprit ended after its budget of {budget} runs: `cargo nondex \
             explain {}` continues it",
            spec.test
        ));
    }
    if found.groups.iter().any(|group| group.sites.len() > 1 || group.calls.len() > 1) {
        found.notes.push("several of the calls change the outcome only together".to_owned());
    }
    Ok(found)
}

/// Returns the sites at which the seed decided, sorted by blame and without duplicates.
fn made_sites(spec: &RunSpec, points: &[PointRecord]) -> Vec<Site> {
    let mut sites: Vec<Site> = points
        .iter()
        .filter(|point| is_made(spec, &point.site, &point.thread))
        .map(|point| point.site.clone())
        .collect();
    sites.sort_unstable_by(|a, b| (rank(a), a).cmp(&(rank(b), b)));
    sites.dedup();
    sites
}

/// Returns the rank of a site. Among several sufficient sets, sites of a lower rank are blamed.
const fn rank(site: &Site) -> u8 {
    match site.family {
        Family::Schedule => 2,
        Family::Time => 1,
        _ => 0,
    }
}

struct CulpritSearch<'a> {
    evidence: &'a Evidence,
    spec: &'a RunSpec,
    passes_clean: bool,
    /// Number of runs that may still be requested.
    left: usize,
}

impl<'a> CulpritSearch<'a> {
    fn with(&self, selection: Selection) -> RunSpec {
        self.spec.clone().with_selection(selection)
    }

    /// Returns the spec that makes only the choices in these scopes, some of them as given.
    fn given(&self, scopes: Vec<Scope>, given: Vec<Given>) -> RunSpec {
        self.with(Selection::Only(scopes)).with_given(given)
    }

    fn run(&self, spec: &RunSpec) -> Result<&'a Run, Missing> {
        Ok(self.evidence.answers(std::slice::from_ref(spec))?[0].run)
    }

    /// Returns whether a run of `spec` has a different outcome than the clean runs. A run without
    /// an outcome does not count as different.
    fn changes(&mut self, spec: &RunSpec) -> Result<bool, Missing> {
        self.left = self.left.saturating_sub(1);
        Ok(self.run(spec)?.is_otherwise(self.passes_clean))
    }

    /// Returns the smallest subset of `sites` that changes the outcome, and whether it is known to
    /// be minimal. All `sites` together must change the outcome.
    fn sites(&mut self, sites: &[Site]) -> Result<(Vec<Site>, bool), Missing> {
        let at = |element: &usize| sites[*element].clone();
        let found = smallest(sites.len(), self.left, |part| {
            let scopes = sites[..part.beginning].iter().cloned();
            let spec = self.with(Selection::only(scopes.chain(part.kept.iter().map(at))));
            self.changes(&spec)
        })?;
        Ok((found.elements.iter().map(at).collect(), found.is_complete))
    }

    /// Returns whether each group alone changes the outcome every time, and `rest`, which makes all
    /// other choices, never does. Also searches for the calls of each group.
    fn confirm_all(&mut self, groups: &mut [Group], rest: &RunSpec) -> Result<bool, Missing> {
        let expected = |search: &Self, groups: &[Group]| -> Vec<_> {
            let changing = groups.iter().map(|group| {
                let only = Selection::only(group.sites.clone());
                (search.with(only), true)
            });
            changing.chain([(rest.clone(), false)]).collect()
        };
        let expected = expected(self, groups);
        if !self.confirm(&expected, CONFIRMATIONS)? {
            return Ok(false);
        }
        // Every run that shows a hang takes the whole time limit: the sites must suffice.
        if self.run(self.spec)?.outcome == Outcome::TimedOut {
            return Ok(true);
        }
        for group in groups.iter_mut() {
            group.calls = self.calls(&group.sites)?;
        }
        Ok(groups.iter().all(Group::is_exact) || self.confirm(&expected, CONFIRMATIONS_ALONE)?)
    }

    /// Returns whether each group alone changes the outcome every time and each of its calls has a
    /// confirmed turn. Also searches for the calls of each group.
    fn confirm_each(&mut self, groups: &mut [Group]) -> Result<bool, Missing> {
        let only = |group: &Group| (self.with(Selection::only(group.sites.clone())), true);
        let expected: Vec<_> = groups.iter().map(only).collect();
        if !self.confirm(&expected, CONFIRMATIONS)? {
            return Ok(false);
        }
        for group in groups.iter_mut() {
            group.calls = self.calls(&group.sites)?;
            if !group.calls.is_empty() {
                let is_left = |site: &Site| group.calls.iter().any(|call| call.site == *site);
                group.sites.retain(is_left);
            }
        }
        Ok(groups.iter().all(Group::is_exact))
    }

    /// Returns whether each spec changes the outcome in all of `times` runs, or in none, as
    /// expected.
    fn confirm(&self, expected: &[(RunSpec, bool)], times: usize) -> Result<bool, Missing> {
        let is_as_expected = |runs: &[Run], changes: bool| {
            let mut runs = runs.iter();
            runs.all(|run| !run.has_no_outcome() && run.is_otherwise(self.passes_clean) == changes)
        };
        // One unexpected run among those that exist makes further runs redundant.
        let refuted = expected.iter().any(|(spec, changes)| {
            let runs = self.evidence.standing_for(spec);
            !is_as_expected(runs, *changes)
        });
        if refuted {
            return Ok(false);
        }
        let specs: Vec<&RunSpec> = expected.iter().map(|(spec, _)| spec).collect();
        let mut repeated = self.evidence.repeat_in_turns(&specs, times)?.into_iter().zip(expected);
        Ok(repeated.all(|(runs, (_, changes))| is_as_expected(runs, *changes)))
    }
}

/// Returns the spec of a run that shows the stacks of a group of culprits of `spec`. It records
/// stacks of the calls, of the insertion of elements and of the creation of collections. It also
/// records the last operations of threads if an earlier run shows how many there are.
pub fn traced(evidence: &Evidence, spec: &RunSpec, group: &Group) -> RunSpec {
    let calls = &group.calls;
    let selected = if calls.is_empty() {
        spec.clone()
    } else {
        let scopes = calls.iter().map(Call::scope).collect();
        spec.clone().with_selection(Selection::Only(scopes))
    };
    let spec = selected.with_given(calls.iter().filter_map(Call::given).collect());
    let trace = group.sites.clone();
    if !group.sites.iter().any(is_timing) {
        return RunSpec { trace, ..spec.with_operations(0) };
    }
    let runs = evidence.of(&spec).iter();
    let counts = runs.filter_map(|run| Some(run.schedule.as_ref()?.operations));
    let fewest = counts.min().unwrap_or_default();
    RunSpec { trace, ..spec.with_operations(specs::OPERATIONS).with_last_operations_of(fewest) }
}

/// Returns the record of a call whose choice is given as steps.
pub fn step<'a>(steps: &'a [StepRecord], call: &Call) -> Option<&'a StepRecord> {
    steps.iter().find(|step| {
        step.site == call.site && step.thread == call.thread && step.ordinal == call.ordinal
    })
}

#[cfg(test)]
mod tests;
