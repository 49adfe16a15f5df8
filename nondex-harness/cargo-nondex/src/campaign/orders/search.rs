//! The search in one binary: tests alone, in pairs and in orders, and the conclusions. When it is
//! stopped, each step uses the results until now.

use std::sync::Arc;
use std::time::{Duration, Instant};

use nondex_core::Outcome;

use super::OrderCampaign;
use super::chance::SeededProcesses;
use super::found::{BinaryResult, Suspect};
use crate::campaign::race::{self, UsedState};
use crate::campaign::state::BinaryState;
use crate::campaign::{Processes, budget};
use crate::judge::Run;
use crate::judge::certainty::ENOUGH_FAILURES;
use crate::judge::missing::gather;
use crate::judge::order::experiments::{Experiment, Experiments};
use crate::judge::order::{
    Detection, OrderConclusion, OrderDependence, SearchLimits, Sharers, beginnings, conclude,
    detect, not_idempotent, pairs, settled,
};
use crate::report::{TriedOrder, plural};

impl OrderCampaign<'_> {
    /// Concludes for each requested test whether its outcome in some order differs from its outcome
    /// alone, and why. Also returns what each test that passes alone uses. When it is stopped, each
    /// step uses the results until now.
    pub(super) fn search<'s>(
        &self,
        states: &'s BinaryState<'s>,
        processes: &Processes<'_>,
        names: &[&str],
        requested: &[usize],
        experiments: &mut Experiments,
    ) -> (BinaryResult, Vec<UsedState<'s>>) {
        let id = &processes.suite.binary.id;
        let all: Vec<usize> = (0..names.len()).collect();
        each_alone(processes, &all, experiments);
        let alone = runs_alone(&all, experiments);
        let mut ending = ending(&alone);
        self.step("all tests in their order and in reverse");
        let suite = self.suite_time(processes, &ending, experiments);
        self.step("pairs of tests");
        let (tried, has_pairs) = self.pairs(processes, &alone, (requested, suite), experiments);
        // A test that hangs after another test would do so in half of all orders. It is left out of
        // them.
        for order in &tried {
            let hung = experiments.first(order).ok().and_then(Experiment::hung);
            ending.extend(hung.filter(|test| !ending.contains(test)));
        }
        let passed_alone = |test: &usize| processes.passed(*test, alone[*test].as_ref()?);
        let passes = |test: &&usize| passed_alone(test) == Some(true);
        let passing: Vec<usize> = all.iter().filter(passes).copied().collect();
        self.step("what each test uses");
        let mut uses = race::uses(processes, states, &passing);
        let planned = self.planned(id, names, &race::sharers(&uses), suite);
        self.step("orders");
        let (mut detection, is_tried) = detected(processes, &planned, &ending, experiments);
        let tried_orders = tried_orders(processes, names, &detection, experiments);
        for test in &detection.cutting {
            self.note(format!(
                "`{id}${}` ends the process: the tests after it were run without it",
                names[*test]
            ));
        }
        uses.retain(|used| !detection.cutting.contains(&used.test));
        detection.orders.extend(tried);
        let fails = |test: &usize| {
            passed_alone(test) == Some(false)
                && !ending.contains(test)
                && !detection.has_passed(*test, experiments)
        };
        let failing: Vec<usize> = requested.iter().copied().filter(fails).collect();
        if !failing.is_empty() {
            let may_change = |used: &&UsedState<'_>| {
                used.has_changes() || uses.iter().any(|other| other.leaves_to(used))
            };
            let changing: Vec<usize> =
                uses.iter().filter(may_change).map(|used| used.test).collect();
            let tried = processes
                .answer(experiments, |experiments| beginnings(&changing, &failing, experiments));
            detection.orders.extend(tried.into_iter().flatten());
        }
        self.step("the roles of tests");
        let limits = self.order_options.limits(has_pairs);
        let mut suspects = experiments.suspects(requested);
        let mut all_concluded = Vec::new();
        let mut next = suspects.clone();
        while !next.is_empty() {
            let before = experiments.count();
            let concluded = concluded(processes, &next, &detection, &limits, experiments);
            all_concluded.extend(concluded);
            // Processes that show the roles for one test may show that another test depends on
            // others, too.
            detection.add_orders_since(before, experiments);
            next = experiments.suspects(requested);
            next.retain(|test| !suspects.contains(test));
            suspects.extend(&next);
        }
        let repeated =
            processes.answer(experiments, |experiments| not_idempotent(requested, experiments));
        self.step("tests under other seeds");
        let (mut suspects, open) = Suspect::of(suspects, all_concluded);
        let mut seeded = SeededProcesses::new(processes, experiments);
        let dependent: Vec<(usize, OrderDependence)> =
            suspects.iter().filter_map(|one| Some((one.test, one.dependence()?.clone()))).collect();
        let mut chances = seeded.drawn(&dependent);
        suspects.retain(|suspect| chances.iter().all(|chance| chance.test != suspect.test));
        let of_suspects = suspects.iter().map(|known| known.test);
        let decided: Vec<usize> =
            of_suspects.chain(chances.iter().map(|known| known.test)).collect();
        let is_open = |test: &usize| !decided.contains(test) && !open.contains(test);
        let stable: Vec<usize> =
            requested.iter().copied().filter(|test| is_open(test) && passes(&test)).collect();
        let tests = (&stable[..], &detection.cutting[..]);
        let (crossed, more) = self.crossed(&mut seeded, tests, &uses);
        chances.extend(more);
        // A test that fails alone only under some seeds is not broken.
        let depends = |test: &usize| decided.contains(test);
        let failing: Vec<usize> = failing.into_iter().filter(|test| !depends(test)).collect();
        chances.extend(seeded.failing_by_chance(&failing));
        let _ = processes.answer(experiments, |experiments| {
            let runs = |test: &usize| experiments.runs(&[], *test, ENOUGH_FAILURES, false);
            gather(failing.iter().map(|test| runs(test).map(|_| ())))
        });
        let found = BinaryResult {
            repeated: repeated.unwrap_or_default(),
            // Computed again, because later runs without concurrent processes take precedence.
            alone: runs_alone(&all, experiments),
            suspects,
            open,
            is_tried,
            chances,
            crossed,
            detection,
            tried: tried_orders,
            suite,
        };
        (found, uses)
    }

    /// Returns the orders to try. Notes how many orders of tests that share something would take
    /// too long. `suite` is the result of [`suite_time`](Self::suite_time).
    fn planned(
        &self,
        id: &str,
        names: &[&str],
        sharers: &[Sharers],
        suite: Option<Duration>,
    ) -> Vec<Vec<usize>> {
        let factor = self.context.options.budget_factor;
        let most =
            factor.zip(suite).map(|(factor, suite)| budget::orders_of_sharers(factor, suite));
        let (planned, left) =
            self.order_options.planned(names, sharers, most.unwrap_or(usize::MAX));
        if left > 0 {
            self.note(format!(
                "{} of the tests of `{id}` that begin with tests that share something were not \
                 tried, as all would take too long: `--thorough` tries them",
                plural(left, "order")
            ));
        }
        planned
    }

    /// Measures one run of all tests of the binary, where the time for more is limited. Runs the
    /// original order and its reverse, which give the most evidence in the least time. Tests in
    /// `ending` end their process alone, and are left out.
    ///
    /// Returns the duration divided by the number of jobs, because later experiments use all jobs.
    fn suite_time(
        &self,
        processes: &Processes<'_>,
        ending: &[usize],
        experiments: &mut Experiments,
    ) -> Option<Duration> {
        if self.context.stop.left().is_none() && self.context.options.budget_factor.is_none() {
            return None;
        }
        let tests = 0..processes.tests.len();
        let original: Vec<usize> = tests.filter(|test| !ending.contains(test)).collect();
        let begun = Instant::now();
        let reverse = original.iter().rev().copied().collect();
        detected(processes, &[original, reverse], &[], experiments);
        let jobs = u32::try_from(self.context.options.jobs.get()).unwrap_or(u32::MAX);
        // With two jobs or more, both orders run concurrently.
        let one_run = begun.elapsed() * jobs.min(2) / 2;
        Some(one_run / jobs)
    }

    /// Returns the pairs in which the outcome of a test differs from `alone`, and whether all pairs
    /// were tried. `suite` is the result of [`suite_time`](Self::suite_time).
    fn pairs(
        &self,
        processes: &Processes<'_>,
        alone: &[Option<Arc<Run>>],
        (requested, suite): (&[usize], Option<Duration>),
        experiments: &mut Experiments,
    ) -> (Vec<Vec<usize>>, bool) {
        let id = &processes.suite.binary.id;
        // Each pair of a test that hangs would take the whole time limit.
        let hangs = |test: &usize| {
            let run = alone[*test].as_ref();
            run.is_some_and(|run| run.outcome == Outcome::TimedOut)
        };
        let tests: Vec<usize> = (0..alone.len()).filter(|test| !hangs(test)).collect();
        let hanging = alone.len() - tests.len();
        let requested: Vec<usize> = requested.iter().copied().filter(|test| !hangs(test)).collect();
        let number = tests.len().saturating_sub(1) * requested.len();
        if number == 0 {
            return (Vec::new(), false);
        }
        let left_out = |why: &str| {
            self.note(format!("the {number} pairs of tests of `{id}` were not tried{why}"));
            (Vec::new(), false)
        };
        if number > self.order_options.most_pairs() {
            return left_out(&format!(": `--pairs {number}` tries them"));
        }
        if let Some(suite) = suite {
            let forks = u32::try_from(requested.len()).unwrap_or(u32::MAX);
            let time = suite.saturating_mul(forks.saturating_add(1));
            if self.context.stop.left().is_some_and(|left| time > left / 2) {
                return left_out(
                    ": they would take more than half of the time that is left of `--max-time`",
                );
            }
            let is_free = self.order_options.pairs.is_some();
            if !is_free && self.time_for(suite).is_some_and(|limit| time > limit) {
                let seconds = time.as_secs();
                return left_out(&format!(
                    ", as they would take about {seconds} s: `--thorough` tries them"
                ));
            }
        }
        let tried =
            processes.answer(experiments, |experiments| pairs(&tests, &requested, experiments));
        let Some((tried, has_pairs)) = tried else { return (Vec::new(), false) };
        if !has_pairs {
            self.note(format!(
                "not all pairs of tests of `{id}` have a result: a process with a running thread \
                 cannot be forked, and forks share files; the orders run each test before every \
                 other one"
            ));
        }
        if hanging > 0 {
            self.note(format!(
                "the pairs of {} of `{id}` were not tried: each reaches the time limit alone",
                plural(hanging, "test")
            ));
        }
        (tried, has_pairs && hanging == 0)
    }

    /// Returns the time limit on each kind of experiments, if there is one.
    pub(super) fn time_for(&self, suite: Duration) -> Option<Duration> {
        let factor = self.context.options.budget_factor;
        factor.map(|factor| budget::time_for_pairs(factor, suite))
    }
}

/// Runs each of these tests alone, if that was not done yet. Repeats a failing test without any
/// other process, because another test may have used its port or file.
fn each_alone(processes: &Processes<'_>, tests: &[usize], experiments: &mut Experiments) {
    let _ = processes.answer(experiments, |experiments| {
        experiments.each(tests.iter().map(|test| [*test]))?;
        let runs = runs_alone(tests, experiments);
        let failing = tests.iter().zip(&runs).filter(|(test, run)| {
            // A test that hangs would take the time limit again.
            let run = run.as_ref().filter(|run| run.outcome != Outcome::TimedOut);
            run.is_some_and(|run| processes.passed(**test, run) == Some(false))
        });
        gather(failing.map(|(test, _)| experiments.runs(&[], *test, 1, true).map(|_| ())))
            .map(|_| ())
    });
}

/// Returns those of the orders that ran that contain all tests, as a report shows them.
fn tried_orders(
    processes: &Processes<'_>,
    names: &[&str],
    detection: &Detection,
    experiments: &Experiments,
) -> Vec<TriedOrder> {
    let name = |test: &usize| names[*test].to_owned();
    let tried = |order: &Vec<usize>| {
        let made = experiments.first(order).ok()?;
        let failed = order.iter().zip(&made.runs).filter(|(_, run)| !run.passed());
        let ended = made.cut().and_then(|cut| order.get(cut));
        Some(TriedOrder {
            binary: processes.suite.binary.id.clone(),
            tests: order.iter().map(name).collect(),
            failed: failed.map(|(test, _)| name(test)).collect(),
            ended: ended.map(name),
        })
    };
    let ending = detection.cutting.len();
    let is_of_all = |order: &&Vec<usize>| order.len() > 1 && order.len() + ending >= names.len();
    detection.orders.iter().filter(is_of_all).filter_map(tried).collect()
}

/// Returns the run of each of these tests alone, as far as it was made.
fn runs_alone(tests: &[usize], experiments: &Experiments) -> Vec<Option<Arc<Run>>> {
    let run = |test: &usize| experiments.runs(&[], *test, 1, false).ok()?[0].cloned();
    tests.iter().map(run).collect()
}

/// Returns the tests that end their process alone, given the run of each test alone.
fn ending(alone: &[Option<Arc<Run>>]) -> Vec<usize> {
    let ends = |test: &usize| alone[*test].as_ref().is_some_and(|run| run.ends_process());
    (0..alone.len()).filter(ends).collect()
}

/// Returns what these orders show, and whether all were run. If stopped, uses the results so far.
fn detected(
    processes: &Processes<'_>,
    planned: &[Vec<usize>],
    ending: &[usize],
    experiments: &mut Experiments,
) -> (Detection, bool) {
    let detection =
        processes.answer(experiments, |experiments| detect(planned, ending, experiments));
    match detection {
        Some(detection) => (detection, true),
        None => (Detection::so_far(experiments), false),
    }
}

/// Returns the conclusion about each suspect; `None` where the search was stopped too early.
fn concluded(
    processes: &Processes<'_>,
    suspects: &[usize],
    detection: &Detection,
    limits: &SearchLimits,
    experiments: &mut Experiments,
) -> Vec<Option<OrderConclusion>> {
    let tests = processes.tests.len();
    let concluded = processes.answer(experiments, |experiments| {
        conclude(suspects, tests, detection, limits, experiments)
    });
    match concluded {
        Some(concluded) => concluded.into_iter().map(Some).collect(),
        None => settled(suspects, tests, detection, limits, experiments),
    }
}
