//! The runs of one test, as answers to questions.

mod answers;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use nondex_core::{Level, Outcome, RunSpec, Selection, Source};

pub use self::answers::Answer;
use super::missing::{Missing, Purpose, Spent};
use super::run::Run;
use super::timing::has_timing;

/// All runs of one test.
///
/// A question that was answered once is answered in constant time, so that asking all of them again
/// after each batch stays cheap with thousands of seeds.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    runs: Vec<(RunSpec, Vec<Run>)>,
    /// The places in `runs` of the specs with this key.
    places: HashMap<Key, Vec<usize>>,
    /// Which run represents a spec that was not run, as found before.
    implied: RefCell<HashMap<Key, Vec<(RunSpec, usize)>>>,
    /// Whether the output of a failing run in canonical order is kept already, and of another: the
    /// one that is replayed is most often the first of its kind.
    has_output: [bool; 2],
    /// The same of a passing one.
    has_passing_output: bool,
    /// The place, and the run there, whose output is kept because it made all choices but some and
    /// passed.
    rest: Option<(usize, usize)>,
    prune: bool,
    /// Whether a run reached a choice of threads or time. Another one may have come to none only
    /// because its seed chose so.
    is_timed: bool,
    /// How many runs the time limit ended that were made again with a longer one.
    replaced: usize,
    /// Whether runs of one spec ended in two ways: something decides that is no choice, so that no
    /// run represents another.
    is_contradicted: bool,
    /// Whether a run read random bytes that no seed controls: the same holds then.
    is_uncontrolled: bool,
    /// The budgets that are spent.
    spent: Spent,
}

/// Key that nearly distinguishes specs of one test, and is cheap to hash.
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
    /// No runs yet. With `prune`, a run that makes the choices of another one is not asked for.
    pub fn new(prune: bool) -> Self {
        Evidence { prune, ..Evidence::default() }
    }

    /// Takes note that these budgets are spent: from now on no experiment is made for what they are
    /// for.
    pub const fn spend(&mut self, spent: Spent) {
        self.spent = spent;
    }

    /// The budgets that are spent.
    pub const fn spent(&self) -> Spent {
        self.spent
    }

    /// The answer to a question that serves this purpose, or `None` where there is none and its
    /// budget is spent.
    ///
    /// # Errors
    /// The runs to make first.
    pub fn within_budget<T>(
        &self,
        purpose: Purpose,
        answer: Result<T, Missing>,
    ) -> Result<Option<T>, Missing> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(_) if self.spent.leaves_out(purpose) => Ok(None),
            Err(missing) => Err(missing.serving(purpose)),
        }
    }

    /// Whether threads and time take the course that is chosen for them in runs of `spec`.
    pub const fn chooses_timing(&self, spec: &RunSpec) -> bool {
        self.is_timed && spec.is_scheduled()
    }

    /// Adds a run of `spec`, which names no record. It replaces one that a shorter time limit
    /// ended.
    pub fn add(&mut self, spec: RunSpec, mut run: Run) {
        if run.passed() && self.times_out(&spec, &run) {
            run = run.timed_out();
        }
        // Most often it reached what the clean run reached, or the run before.
        let ends = [self.runs.first(), self.runs.last()];
        let known = || ends.into_iter().flatten().flat_map(|(_, runs)| runs);
        if let Some(same) = known().map(|run| &run.points).find(|p| **p == run.points) {
            run.points = Arc::clone(same);
        }
        if let Some(same) = known().map(|run| &run.choices).find(|c| **c == run.choices) {
            run.choices = Arc::clone(same);
        }
        if !self.is_timed && has_timing(&run) {
            self.is_timed = true;
            self.implied.get_mut().clear();
        }
        self.is_uncontrolled |= run.sources.contains(&Source::RandomFile);
        let place = self.place(&spec);
        let cut = place.and_then(|place| Some((place, self.cut_short(place, &run)?)));
        if let Some((place, number)) = cut {
            self.replaced += 1;
            if self.runs[place].1[number].output.take().is_some() {
                self.has_output[usize::from(!spec.is_clean())] = false;
            }
            self.keep_output(&spec, Some(place), &mut run);
            self.runs[place].1[number] = run;
            self.implied.get_mut().clear();
            return;
        }
        self.keep_output(&spec, place, &mut run);
        match place {
            Some(place) => {
                let mut earlier = self.runs[place].1.iter().filter(|run| !run.has_no_outcome());
                let is_other = earlier.any(|earlier| earlier.passed() != run.passed());
                self.is_contradicted |= is_other && !run.has_no_outcome();
                self.runs[place].1.push(run);
                // It may contradict the first run, which then no longer represents others.
                self.implied.get_mut().clear();
            }
            None => {
                self.places.entry(key(&spec)).or_default().push(self.runs.len());
                self.runs.push((spec, vec![run]));
            }
        }
    }

    /// Whether a run slept so long that it would have timed out in real time, as no clean run does:
    /// a choice decides that.
    fn times_out(&self, spec: &RunSpec, run: &Run) -> bool {
        let mut clean = self.all().filter(|(spec, _)| spec.is_clean()).peekable();
        run.oversleeps()
            && !spec.is_clean()
            && clean.peek().is_some()
            && clean.all(|(_, run)| !run.oversleeps())
    }

    /// The number of the first run at `place` that was ended by a shorter time limit than `run`
    /// had.
    fn cut_short(&self, place: usize, run: &Run) -> Option<usize> {
        let mut runs = self.runs[place].1.iter();
        runs.position(|earlier| earlier.outcome == Outcome::TimedOut && earlier.limit < run.limit)
    }

    /// Forgets the output of a run that comes to `place`, or that of an earlier one, unless it is
    /// needed.
    fn keep_output(&mut self, spec: &RunSpec, place: Option<usize>, run: &mut Run) {
        if run.output.is_none() {
            return;
        }
        if run.passed() && matches!(spec.selection(), Some(Selection::Except(_))) {
            let new = match place {
                Some(place) => (place, self.runs[place].1.len()),
                None => (self.runs.len(), 0),
            };
            if let Some((place, earlier)) = self.rest.replace(new) {
                self.runs[place].1[earlier].output = None;
            }
            return;
        }
        // Two runs of one spec that wrote something else are compared.
        let first = place.map(|place| &self.runs[place].1[..]);
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
        self.places.get(&key(spec))?.iter().copied().find(|&place| self.runs[place].0 == *spec)
    }

    /// Adds those runs that there are.
    pub fn extend(&mut self, runs: impl IntoIterator<Item = (RunSpec, Option<Run>)>) {
        for (spec, run) in runs {
            if let Some(run) = run {
                self.add(spec, run);
            }
        }
    }

    /// Every run with its spec.
    pub fn all(&self) -> impl Iterator<Item = (&RunSpec, &Run)> {
        self.runs.iter().flat_map(|(spec, runs)| runs.iter().map(move |run| (spec, run)))
    }

    /// How many runs there are.
    pub fn count(&self) -> usize {
        self.runs.iter().map(|(_, runs)| runs.len()).sum::<usize>() + self.replaced
    }

    /// The runs without some of them.
    pub fn without(&self, is_left_out: impl Fn(&RunSpec, &Run) -> bool) -> Self {
        let mut kept = Evidence { spent: self.spent, ..Evidence::new(self.prune) };
        for (spec, run) in self.all().filter(|(spec, run)| !is_left_out(spec, run)) {
            kept.add(spec.clone(), run.clone());
        }
        kept
    }

    /// The same runs with other outcomes: used to ask another question of the same runs.
    pub fn with_outcomes(&self, outcome: impl Fn(&Run) -> Outcome) -> Self {
        let mut judged = self.clone();
        judged.implied.get_mut().clear();
        for run in judged.runs.iter_mut().flat_map(|(_, runs)| runs) {
            run.outcome = outcome(run);
        }
        judged
    }

    /// The first spec whose runs did not all end alike, with them. One that was cut has no end, and
    /// where a test is judged with real threads, its scheduled runs are no evidence.
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

    /// The runs of each spec.
    pub fn specs(&self) -> impl Iterator<Item = (&RunSpec, &[Run])> {
        self.runs.iter().map(|(spec, runs)| (spec, runs.as_slice()))
    }

    /// The runs of exactly this spec.
    pub fn of(&self, spec: &RunSpec) -> &[Run] {
        self.place(spec).map_or(&[], |place| &self.runs[place].1)
    }
}

#[cfg(test)]
mod tests;
