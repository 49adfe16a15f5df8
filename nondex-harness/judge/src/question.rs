//! What is asked about one test: its name, the options by which it is judged, and its runs.

use nondex_core::{Level, Outcome, RunSpec};

use super::evidence::Evidence;
use super::options::Options;
use super::run::Run;
use super::specs;
use super::timing;

/// A question about one test. The functions of this crate answer it, or name the runs to make
/// first.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The test.
    pub test: &'a str,
    /// The options by which it is judged.
    pub options: &'a Options,
    /// Its runs.
    pub evidence: &'a Evidence,
}

impl<'a> Question<'a> {
    /// The question about `test`, judged by these options from these runs.
    pub const fn new(test: &'a str, options: &'a Options, evidence: &'a Evidence) -> Self {
        Question { test, options, evidence }
    }

    /// The same, judged by other options.
    pub const fn with_options<'b>(self, options: &'b Options) -> Question<'b>
    where
        'a: 'b,
    {
        Question { options, ..self }
    }

    /// The spec of a clean run, as the campaign runs it.
    pub fn clean_spec(self) -> RunSpec {
        self.options.clean_spec(self.test)
    }

    /// The clean runs.
    pub fn clean(self) -> &'a [Run] {
        self.evidence.of(&self.clean_spec())
    }

    /// The clean runs, and the natural ones where [these](Self::has_natural_clean_run) are the
    /// same at other addresses.
    pub(super) fn repeated(self) -> impl Iterator<Item = &'a Run> {
        let natural = if self.has_natural_clean_run() { self.natural() } else { &[] };
        self.clean().iter().chain(natural)
    }

    /// The spec of a run in canonical order with real threads and real time.
    pub fn natural_spec(self) -> RunSpec {
        self.options.natural_spec(self.test)
    }

    /// The runs in canonical order with real threads and real time.
    pub fn natural(self) -> &'a [Run] {
        self.evidence.of(&self.natural_spec())
    }

    /// The spec of a clean run whose operations are to be shown.
    pub(super) fn shown_spec(self) -> RunSpec {
        self.clean_spec().with_operations(specs::OPERATIONS)
    }

    /// The spec of one seed at `level`, as the campaign runs it.
    pub fn seed_spec(self, level: Level, seed: u64) -> RunSpec {
        self.options.seed_spec(self.test, level, seed)
    }

    /// The runs whose specs draw every choice and are those of a seed that was tried, from the most
    /// realistic level and the first seed, with all runs of each.
    pub fn of_seeds(self) -> Vec<(&'a RunSpec, &'a [Run])> {
        let network = self.clean_spec().network;
        let is_seed =
            |spec: &RunSpec| spec.draws_all() && spec.trace.is_empty() && spec.network == network;
        let place = |seed: u64| self.options.seeds.iter().position(|known| *known == seed);
        let mut specs: Vec<_> = self.evidence.specs().filter(|(spec, _)| is_seed(spec)).collect();
        specs.sort_by_key(|(spec, _)| (spec.level(), place(spec.seed())));
        specs
    }

    /// The specs that made the test fail before, of these levels.
    pub fn regressions(self, levels: &[Level]) -> Vec<RunSpec> {
        let known = self.options.regressions.iter();
        known
            .filter(|(_, level, _)| levels.contains(level) && !self.options.seeds.is_empty())
            .map(|&(schedule, level, seed)| self.seed_spec(level, seed).with_schedule(schedule))
            .collect()
    }

    /// How many clean runs there must be, in canonical order.
    pub fn clean_runs(self) -> usize {
        let all = usize::try_from(self.options.clean_runs.get()).unwrap_or(usize::MAX);
        all - usize::from(self.has_natural_clean_run())
    }

    /// Whether the last clean run is a natural one. Where the first one shows nothing that chance
    /// could decide, that is the same run at other addresses.
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
