//! Which choices are responsible for a failure: a search from call sites to calls to what of them
//! decides.
//!
//! A choice that is turned off leaves every other as it was, so a run in which the seed decides at
//! some places only is well defined. The search goes down a hierarchy (Misherghi and Su, "HDD:
//! hierarchical delta debugging", 2006): the [smallest set](subset) of call *sites* that changes
//! the outcome; among the *calls* at these sites again the smallest set; and for each of those the
//! turn: the two elements, or the number, that make the difference. While the test still changes
//! its outcome without the sites found there is another, independent culprit, which is searched in
//! the same way.
//!
//! Of threads and time one culprit is enough: many delays make the same two operations change
//! places, and each that was left out makes room for others. Orders and values are blamed first, so
//! that a delay is blamed only where these do not suffice.

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

pub use self::call::{Call, Decisive, Turn};
pub use self::position::Position;
use self::subset::smallest;
use super::equivalence::is_made;
use super::evidence::Evidence;
use super::missing::{Missing, Purpose};
use super::run::Run;
use super::specs;
use super::timing::is_timing;

/// How often the outcome must be the same with a call, and without it, before it is confirmed.
pub const CONFIRMATIONS: usize = 3;

/// The same for a turn within a call. A test that fails by chance with probability `p`, whatever is
/// chosen, passes this with a probability of at most (p·(1 - p))^7, less than 1 in 16,000. That is
/// after it has already looked deterministic in all other runs.
pub const CONFIRMATIONS_OF_TURN: usize = 8;

/// The same for a call of which no turn is confirmed, for instance since there is none (random
/// bytes).
pub const CONFIRMATIONS_ALONE: usize = 8;

/// How many independent culprits are searched for.
const MAX_GROUPS: usize = 8;

/// How long a spec may be: Linux allows one variable of the environment 128 KiB.
const MAX_SPEC: usize = 100 << 10;

/// What the search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Culprits {
    /// The independent culprits: each changes the outcome without the others.
    pub groups: Vec<Group>,
    /// Whether they were confirmed both ways.
    pub confirmed: bool,
    /// What there is to say about them.
    pub notes: Vec<String>,
}

/// Choices that change the outcome together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Where they are made.
    pub sites: Vec<Site>,
    /// The calls; empty when the search ended before.
    pub calls: Vec<Call>,
    /// Their choice points with stacks, from a [traced] run.
    pub points: Vec<PointRecord>,
    /// The same: the calls that were given a choice.
    pub steps: Vec<StepRecord>,
    /// What the scheduler did in that run, and the operations of the threads.
    pub schedule: Option<ScheduleRecord>,
    /// How that run failed, which need not be how the run of the seed did.
    pub failure: Option<Failure>,
}

impl Group {
    /// Whether it is known of each call where the outcome turns.
    fn is_exact(&self) -> bool {
        !self.calls.is_empty() && self.calls.iter().all(|call| call.turn.is_some())
    }
}

impl Culprits {
    /// The calls that change the outcome by something else than their choice, if there is one in
    /// each group.
    pub fn artefacts(&self) -> Option<Vec<&Call>> {
        let groups = self.groups.iter();
        let found: Option<Vec<&Call>> =
            groups.map(|group| group.calls.iter().find(|call| call.is_artefact)).collect();
        found.filter(|calls| !calls.is_empty())
    }

    /// The sites of all groups.
    pub fn sites(&self) -> impl Iterator<Item = &Site> {
        self.groups.iter().flat_map(|group| &group.sites)
    }
}

/// Searches the choices because of which a run of `spec`, which makes all of them, ended otherwise
/// than the clean runs; `passes_clean` is whether those passed. Asks for no more than about
/// `budget` runs. Once the time for explaining is spent, it goes no further than the runs that were
/// made by then.
///
/// # Errors
/// The runs to make first.
pub fn search(
    evidence: &Evidence,
    spec: &RunSpec,
    passes_clean: bool,
    budget: usize,
) -> Result<Culprits, Missing> {
    let within = |runs| search_within(evidence, spec, passes_clean, runs);
    match evidence.within_budget(Purpose::Explain, within(budget))? {
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
        // These sites suffice: turning on all that a run reached is that very run.
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
            "the search for the culprit ended after its budget of {budget} runs: \
             `cargo nondex explain {}` goes on",
            spec.test
        ));
    }
    if found.groups.iter().any(|group| group.sites.len() > 1 || group.calls.len() > 1) {
        found.notes.push("several of the calls change the outcome only together".to_owned());
    }
    Ok(found)
}

/// The sites at which the seed decided, in order, each once.
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

/// Which sites are blamed first: the first ones that suffice are.
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
    /// Number of questions that are left.
    left: usize,
}

impl<'a> CulpritSearch<'a> {
    fn with(&self, selection: Selection) -> RunSpec {
        self.spec.clone().with_selection(selection)
    }

    /// Only the choices in these scopes, and some of them given.
    fn given(&self, scopes: Vec<Scope>, given: Vec<Given>) -> RunSpec {
        self.with(Selection::Only(scopes)).with_given(given)
    }

    fn run(&self, spec: &RunSpec) -> Result<&'a Run, Missing> {
        Ok(self.evidence.answers(std::slice::from_ref(spec))?[0].run)
    }

    /// Whether the outcome is another than that of the clean runs: not so of a run that was cut.
    fn changes(&mut self, spec: &RunSpec) -> Result<bool, Missing> {
        self.left = self.left.saturating_sub(1);
        Ok(self.run(spec)?.is_otherwise(self.passes_clean))
    }

    /// The smallest set of `sites`, which suffice, that changes the outcome, and whether it is
    /// known to be that.
    fn sites(&mut self, sites: &[Site]) -> Result<(Vec<Site>, bool), Missing> {
        let at = |element: &usize| sites[*element].clone();
        let found = smallest(sites.len(), self.left, |part| {
            let scopes = sites[..part.beginning].iter().cloned();
            let spec = self.with(Selection::only(scopes.chain(part.kept.iter().map(at))));
            self.changes(&spec)
        })?;
        Ok((found.elements.iter().map(at).collect(), found.is_complete))
    }

    /// Whether each group alone changes the outcome every time, and `rest`, everything but them,
    /// never. Searches the calls of each group, too.
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
        // Every run that shows a hang takes the whole time limit: where it is must do.
        if self.run(self.spec)?.outcome == Outcome::TimedOut {
            return Ok(true);
        }
        for group in groups.iter_mut() {
            group.calls = self.calls(&group.sites)?;
        }
        Ok(groups.iter().all(Group::is_exact) || self.confirm(&expected, CONFIRMATIONS_ALONE)?)
    }

    /// Whether each group alone changes the outcome every time, and each of its calls makes the
    /// difference between its turn and what comes before that. Searches the calls of each group.
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

    /// Whether each spec changes the outcome `times` times, or never, as the search assumes.
    fn confirm(&self, expected: &[(RunSpec, bool)], times: usize) -> Result<bool, Missing> {
        let is_as_expected = |runs: &[Run], changes: bool| {
            let mut runs = runs.iter();
            runs.all(|run| !run.has_no_outcome() && run.is_otherwise(self.passes_clean) == changes)
        };
        // One run that is not as expected makes all others needless.
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

/// The run that shows the stacks of a group of culprits of `spec`: of the calls, of the insertion
/// of elements, of the creation of collections. Of operations it shows the last ones, where a run
/// in the evidence shows how many there are.
pub fn traced(evidence: &Evidence, spec: &RunSpec, group: &Group) -> RunSpec {
    let calls = &group.calls;
    let spec = if calls.is_empty() {
        spec.clone()
    } else {
        let scopes = calls.iter().map(Call::scope).collect();
        spec.clone().with_selection(Selection::Only(scopes))
    };
    let spec = spec.with_given(calls.iter().filter_map(Call::given).collect());
    let trace = group.sites.clone();
    if !group.sites.iter().any(is_timing) {
        return RunSpec { trace, ..spec.with_operations(0) };
    }
    let runs = evidence.of(&spec).iter();
    let counts = runs.filter_map(|run| Some(run.schedule.as_ref()?.operations));
    let fewest = counts.min().unwrap_or_default();
    RunSpec { trace, ..spec.with_operations(specs::OPERATIONS).with_last_operations_of(fewest) }
}

/// What the runs say of a call whose choice is given as steps.
pub fn step<'a>(steps: &'a [StepRecord], call: &Call) -> Option<&'a StepRecord> {
    steps.iter().find(|step| {
        step.site == call.site && step.thread == call.thread && step.ordinal == call.ordinal
    })
}

#[cfg(test)]
mod tests;
