//! Input of every decision: a test's name, the options by which it is judged, and its runs.

use nondex_core::{Level, Outcome, RunSpec};

use super::evidence::Evidence;
use super::options::Options;
use super::run::Run;
use super::specs;
use super::timing;

/// Question about one test. The functions of this crate answer it or return the runs to make first.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Name of the test.
    pub test: &'a str,
    /// Options by which it is judged.
    pub options: &'a Options,
    /// Runs of the test.
    pub evidence: &'a Evidence,
}

impl<'a> Question<'a> {
    /// Returns the question about `test`, judged by these options from these runs.
    pub const fn new(test: &'a str, options: &'a Options, evidence: &'a Evidence) -> Self {
        Question { test, options, evidence }
    }

    /// Returns the same question with other options.
    pub const fn with_options<'b>(self, options: &'b Options) -> Question<'b>
    where
        'a: 'b,
    {
        Question { options, ..self }
    }

    /// Returns the spec of a clean run.
    pub fn clean_spec(self) -> RunSpec {
        self.options.clean_spec(self.test)
    }

    /// Returns the clean runs.
    pub fn clean(self) -> &'a [Run] {
        self.evidence.of(&self.clean_spec())
    }

    /// Returns the clean runs. Adds the natural runs if [one of them counts as a clean
    /// run](Self::has_natural_clean_run).
    pub(super) fn repeated(self) -> impl Iterator<Item = &'a Run> {
        let natural = if self.has_natural_clean_run() { self.natural() } else { &[] };
        self.clean().iter().chain(natural)
    }

    /// Returns the spec of a run in canonical order with real threads and real time.
    pub fn natural_spec(self) -> RunSpec {
        self.options.natural_spec(self.test)
    }

    /// Returns the first run in which a seed decides all choices at `level`.
    pub(super) fn first_drawn(self, level: Level) -> Option<&'a Run> {
        let is_drawn = |spec: &RunSpec| spec.draws_all() && spec.level() == level;
        self.evidence.specs().find(|(spec, _)| is_drawn(spec))?.1.first()
    }

    /// Returns the runs in canonical order with real threads and real time.
    pub fn natural(self) -> &'a [Run] {
        self.evidence.of(&self.natural_spec())
    }

    /// Returns the spec of a clean run that records its operations.
    pub(super) fn shown_spec(self) -> RunSpec {
        self.clean_spec().with_operations(specs::OPERATIONS)
    }

    /// Returns the spec of the run with this seed at `level`.
    pub fn seed_spec(self, level: Level, seed: u64) -> RunSpec {
        self.options.seed_spec(self.test, level, seed)
    }

    /// Returns the specs that draw every choice from a seed, with their runs. The most realistic
    /// level comes first, and within a level the first seed.
    pub fn of_seeds(self) -> Vec<(&'a RunSpec, &'a [Run])> {
        let network = self.clean_spec().network;
        let is_seed =
            |spec: &RunSpec| spec.draws_all() && spec.trace.is_empty() && spec.network == network;
        let place = |seed: u64| self.options.seeds.iter().position(|known| *known == seed);
        let mut specs: Vec<_> = self.evidence.specs().filter(|(spec, _)| is_seed(spec)).collect();
        specs.sort_by_key(|(spec, _)| (spec.level(), place(spec.seed())));
        specs
    }

    /// Returns the specs of these levels that made the test fail in an earlier campaign.
    pub fn regressions(self, levels: &[Level]) -> Vec<RunSpec> {
        let known = self.options.regressions.iter();
        known
            .filter(|(_, level, _)| levels.contains(level) && !self.options.seeds.is_empty())
            .map(|&(schedule, level, seed)| self.seed_spec(level, seed).with_schedule(schedule))
            .collect()
    }

    /// Returns how many clean runs are needed in canonical order.
    pub fn clean_runs(self) -> usize {
        let all = usize::try_from(self.options.clean_runs.get()).unwrap_or(usize::MAX);
        all - usize::from(self.has_natural_clean_run())
    }

    /// Returns whether a natural run replaces the last clean run. This holds if the first clean run
    /// had nothing that threads or time could decide. Then a natural run is the same run at other
    /// addresses.
    pub(super) fn has_natural_clean_run(self) -> bool {
        let is_same = |run: &Run| {
            !timing::may_be_of_schedule(run) && !run.lost && run.outcome != Outcome::TimedOut
        };
        let options = self.options;
        options.clean_runs.get() > 1
            && options.is_scheduled()
            && self.clean().first().is_some_and(is_same)
    }
}
