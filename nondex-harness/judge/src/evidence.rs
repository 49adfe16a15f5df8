//! Stores the runs of one test and answers questions from them.

mod answers;

use std::cell::RefCell;

use nondex_core::{Level, Outcome, RunSpec, Selection, Source};

pub use self::answers::Answer;
use super::missing::{ExperimentPurpose, Missing, Spent};
use super::run::Run;
use super::store::Store;
use super::timing::has_timing;

/// All runs of one test.
///
/// Answers are cached: repeating a question takes constant time. All questions are repeated after
/// each batch, so this keeps a campaign with thousands of seeds cheap.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    runs: Store<Key, (RunSpec, Vec<Run>)>,
    /// Cache: the index into `runs` of the spec that represents a spec without runs.
    implied: RefCell<Store<Key, (RunSpec, usize)>>,
    /// Whether the output of a failing clean run is stored, and whether that of another failing run
    /// is. The replayed run is usually the first of its kind.
    has_output: [bool; 2],
    /// Whether the output of a passing run is stored.
    has_passing_output: bool,
    /// Index into `runs`, and of a run there, of the last passing run that made all choices except
    /// some. Its output is stored.
    rest: Option<(usize, usize)>,
    prune: bool,
    /// Whether a run reached a choice of threads or time. A run without such a choice may have
    /// reached none only because of its seed.
    is_timed: bool,
    /// Number of runs that the time limit ended and that were repeated with a longer limit.
    replaced: usize,
    /// Whether two runs of one spec had different outcomes. Then something other than a choice
    /// decides, and no run represents another.
    is_contradicted: bool,
    /// Whether a run read random bytes that no seed controls. Then no run represents another
    /// either.
    is_uncontrolled: bool,
    /// Spent budgets.
    spent: Spent,
    /// Natural runs in one process with other tests of the binary.
    joint: Option<JointRuns>,
}

/// What the outcomes of a test show that ran some times together with other tests of its binary in
/// one process: in canonical order, with real threads and time, at random addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointRuns {
    /// Two of them differ.
    Vary,
    /// All are that of the first run alone.
    Agree {
        /// Number of outcomes.
        runs: usize,
        /// Whether a hasher in one of the tests may have drawn from an address.
        may_draw: bool,
    },
}

/// Cheap hash key that nearly identifies a spec of one test.
type Key = (Level, u64, u8, usize, usize);

fn key(spec: &RunSpec) -> Key {
    let (kind, sites) = match spec.selection() {
        None => (0, 0),
        Some(Selection::All) => (1, 0),
        Some(Selection::Only(sites)) => (2, sites.len()),
        Some(Selection::Except(sites)) => (3, sites.len()),
    };
    (spec.level(), spec.seed(), kind, sites, spec.given().len())
}

impl Evidence {
    /// Returns a store without runs. With `prune`, a run also answers for specs that make the same
    /// choices.
    pub fn new(prune: bool) -> Self {
        Evidence { prune, ..Evidence::default() }
    }

    /// Records which budgets are spent. From now on, no experiments are requested for their
    /// purposes.
    pub const fn spend(&mut self, spent: Spent) {
        self.spent = spent;
    }

    /// Returns which budgets are spent.
    pub const fn spent(&self) -> Spent {
        self.spent
    }

    /// Records what runs in one process with other tests showed.
    pub const fn note_joint_runs(&mut self, found: JointRuns) {
        self.joint = Some(found);
    }

    /// Returns what such runs showed, if they were made.
    pub const fn joint_runs(&self) -> Option<JointRuns> {
        self.joint
    }

    /// Returns the number of such runs that replace runs alone: those that agree, if something that
    /// no choice controls may vary in them.
    pub fn agreeing_jointly(&self) -> usize {
        match self.joint {
            Some(JointRuns::Agree { runs, may_draw }) if may_draw || self.has_sources() => runs,
            _ => 0,
        }
    }

    /// Returns whether a run used a source that no choice controls.
    pub fn has_sources(&self) -> bool {
        self.all().any(|(_, run)| !run.sources.is_empty())
    }

    /// Returns the answer to a question that serves `purpose`. Returns `None` if it needs more runs
    /// and their budget is spent.
    ///
    /// # Errors
    /// Returns the runs to make first.
    pub fn within_budget<T>(
        &self,
        purpose: ExperimentPurpose,
        answer: Result<T, Missing>,
    ) -> Result<Option<T>, Missing> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(_) if self.spent.leaves_out(purpose) => Ok(None),
            Err(missing) => Err(missing.serving(purpose)),
        }
    }

    /// Returns whether runs of `spec` have chosen thread schedules and chosen time.
    pub const fn chooses_timing(&self, spec: &RunSpec) -> bool {
        self.is_timed && spec.is_scheduled()
    }

    /// Adds a run of `spec`, which must not name a record. The run replaces an earlier one of the
    /// spec that a shorter time limit ended.
    pub fn add(&mut self, spec: RunSpec, mut run: Run) {
        if run.passed() && self.times_out(&spec, &run) {
            run = run.timed_out();
        }
        // Usually it reached the same points as the clean run or the previous run: share them.
        let ends = [self.runs.made.first(), self.runs.made.last()];
        for known in ends.into_iter().flatten().flat_map(|(_, runs)| runs) {
            run.share_parts(known);
        }
        if !self.is_timed && has_timing(&run) {
            self.is_timed = true;
            *self.implied.get_mut() = Store::default();
        }
        self.is_uncontrolled |= run.sources.contains(&Source::RandomFile);
        let place = self.place(&spec);
        let cut = place.and_then(|place| Some((place, self.cut_short(place, &run)?)));
        if let Some((place, number)) = cut {
            self.replaced += 1;
            if self.runs.made[place].1[number].output.take().is_some() {
                self.has_output[usize::from(!spec.is_clean())] = false;
            }
            self.keep_output(&spec, Some(place), &mut run);
            self.runs.made[place].1[number] = run;
            *self.implied.get_mut() = Store::default();
            return;
        }
        self.keep_output(&spec, place, &mut run);
        match place {
            Some(place) => {
                let mut earlier =
                    self.runs.made[place].1.iter().filter(|run| !run.has_no_outcome());
                let is_other = earlier.any(|earlier| earlier.passed() != run.passed());
                self.is_contradicted |= is_other && !run.has_no_outcome();
                self.runs.made[place].1.push(run);
                // It may contradict the first run, which then no longer represents others.
                *self.implied.get_mut() = Store::default();
            }
            None => {
                self.runs.add([key(&spec)], (spec, vec![run]));
            }
        }
    }

    /// Returns whether a run slept beyond its limit in virtual time while no clean run did. In real
    /// time it would have timed out, because of a choice.
    fn times_out(&self, spec: &RunSpec, run: &Run) -> bool {
        let mut clean = self.all().filter(|(spec, _)| spec.is_clean()).peekable();
        run.oversleeps()
            && !spec.is_clean()
            && clean.peek().is_some()
            && clean.all(|(_, run)| !run.oversleeps())
    }

    /// Returns the index of the first run at `place` that a shorter time limit ended than `run`
    /// had.
    fn cut_short(&self, place: usize, run: &Run) -> Option<usize> {
        let mut runs = self.runs.made[place].1.iter();
        runs.position(|earlier| earlier.outcome == Outcome::TimedOut && earlier.limit < run.limit)
    }

    /// Drops the output of `run`, which is about to be stored at `place`, unless it is needed.
    /// Drops the output of an earlier run if this one supersedes it.
    fn keep_output(&mut self, spec: &RunSpec, place: Option<usize>, run: &mut Run) {
        if run.output.is_none() {
            return;
        }
        if run.passed() && matches!(spec.selection(), Some(Selection::Except(_))) {
            let new = match place {
                Some(place) => (place, self.runs.made[place].1.len()),
                None => (self.runs.made.len(), 0),
            };
            if let Some((place, earlier)) = self.rest.replace(new) {
                self.runs.made[place].1[earlier].output = None;
            }
            return;
        }
        // Two runs of one spec with different output are compared later: keep both.
        let first = place.map(|place| &self.runs.made[place].1[..]);
        if let Some([first]) = first
            && first.output.is_some()
            && first.written != run.written
        {
            return;
        }
        let has_one = if run.passed() {
            &mut self.has_passing_output
        } else {
            &mut self.has_output[usize::from(!spec.is_clean())]
        };
        if std::mem::replace(has_one, true) {
            run.output = None;
        }
    }

    fn place(&self, spec: &RunSpec) -> Option<usize> {
        let mut places = self.runs.places(&key(spec)).iter().copied();
        places.find(|place| self.runs.made[*place].0 == *spec)
    }

    /// Adds the runs that were made; skips `None`.
    pub fn extend(&mut self, runs: impl IntoIterator<Item = (RunSpec, Option<Run>)>) {
        for (spec, run) in runs {
            if let Some(run) = run {
                self.add(spec, run);
            }
        }
    }

    /// Returns every run with its spec.
    pub fn all(&self) -> impl Iterator<Item = (&RunSpec, &Run)> {
        self.runs.made.iter().flat_map(|(spec, runs)| runs.iter().map(move |run| (spec, run)))
    }

    /// Returns the number of runs, including those that were replaced.
    pub fn count(&self) -> usize {
        self.runs.made.iter().map(|(_, runs)| runs.len()).sum::<usize>() + self.replaced
    }

    /// Returns a copy without the runs for which `is_left_out` holds.
    pub fn without(&self, is_left_out: impl Fn(&RunSpec, &Run) -> bool) -> Self {
        let Evidence { spent, joint, prune, .. } = *self;
        let mut kept = Evidence { spent, joint, ..Evidence::new(prune) };
        for (spec, run) in self.all().filter(|(spec, run)| !is_left_out(spec, run)) {
            kept.add(spec.clone(), run.clone());
        }
        kept
    }

    /// Returns a copy with the outcomes that `outcome` gives, to ask another question about the
    /// same runs.
    pub fn with_outcomes(&self, outcome: impl Fn(&Run) -> Outcome) -> Self {
        let mut judged = self.clone();
        *judged.implied.get_mut() = Store::default();
        for run in judged.runs.made.iter_mut().flat_map(|(_, runs)| runs) {
            run.outcome = outcome(run);
        }
        judged
    }

    /// Returns the first spec whose runs have different outcomes, with these runs. Runs without an
    /// outcome are ignored. Unless the test `is_scheduled`, its scheduled runs are ignored too.
    pub fn contradiction(&self, is_scheduled: bool) -> Option<(&RunSpec, &[Run])> {
        self.specs().find(|(spec, runs)| {
            if spec.is_scheduled() && !is_scheduled {
                return false;
            }
            let mut ended = runs.iter().filter(|run| !run.has_no_outcome());
            let first = ended.next();
            first.is_some_and(|first| ended.any(|run| run.passed() != first.passed()))
        })
    }

    /// Returns each spec with its runs.
    pub fn specs(&self) -> impl Iterator<Item = (&RunSpec, &[Run])> {
        self.runs.made.iter().map(|(spec, runs)| (spec, runs.as_slice()))
    }

    /// Returns the runs of exactly this spec.
    pub fn of(&self, spec: &RunSpec) -> &[Run] {
        self.place(spec).map_or(&[], |place| &self.runs.made[place].1)
    }
}

#[cfg(test)]
mod tests;
