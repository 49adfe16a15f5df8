//! Tests of the workers of a campaign.

mod groups;
mod max_fail;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nondex_core::{Level, ScheduleRecord};

use super::*;
use crate::campaign::progress::Silent;
use crate::judge::order::AfterOthers;
use crate::judge::simulation::{self, options};
use crate::judge::{Conclusion, ExperimentPurpose, Missing, PlainBuild, RunLimits};

/// Maximum time that a test waits, so that a bug makes it fail instead of hang.
const PATIENCE: Duration = Duration::from_secs(30);

/// Place at which this program panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Panics {
    Run,
    Conclude,
    Judged,
}

/// Tests that run twice and are stable, except for one with which this program panics.
struct Simulated {
    panics: Option<(usize, Panics)>,
    judged: Mutex<Vec<usize>>,
    /// Called while a test is judged.
    while_judged: Box<dyn Fn(usize) + Send + Sync>,
    runs: AtomicUsize,
}

impl Simulated {
    fn new(panics: Option<(usize, Panics)>) -> Self {
        Simulated {
            panics,
            judged: Mutex::default(),
            while_judged: Box::new(|_| ()),
            runs: AtomicUsize::new(0),
        }
    }

    fn panic_at(&self, test: usize, place: Panics) {
        assert!(self.panics != Some((test, place)), "at {place:?}");
    }
}

impl Workload for Simulated {
    fn id(&self, test: usize) -> String {
        format!("t{test}")
    }

    fn conclude(&self, test: usize, runs: &Runs) -> Result<Judgement, Need> {
        need_runs(runs, 2)?;
        self.panic_at(test, Panics::Conclude);
        Ok(stable())
    }

    fn run(&self, test: usize, _: &RunSpec, _: RunLimits, _: Setting) -> Result<Run, Unmade> {
        // Panic in the second run of the test, so that there is a first one that must not be lost.
        if self.runs.fetch_add(1, Ordering::Relaxed) > 0 {
            self.panic_at(test, Panics::Run);
        }
        Ok(simulation::run(true, [1]))
    }

    fn judged(&self, test: usize, _runs: &Runs, _judgement: &Judgement) {
        (self.while_judged)(test);
        self.panic_at(test, Panics::Judged);
        self.judged.lock().unwrap().push(test);
    }
}

/// Returns the need of a test until it has this number of runs.
fn need_runs(runs: &Runs, number: usize) -> Result<(), Need> {
    let missing = number.saturating_sub(runs.count());
    if missing == 0 {
        return Ok(());
    }
    Err(Need::Runs(Missing::new(vec![RunSpec::clean("t"); missing])))
}

/// Returns the judgement of a test with all its runs.
fn stable() -> Judgement {
    Judgement::together(Conclusion::Stable)
}

/// Runs the executor without a budget.
fn execute_all(workload: &dyn Workload, tests: usize, jobs: usize, stop: &StopFlag) -> Executed {
    let free = Budget::new(None, NonZeroUsize::MIN, &StopFlag::new());
    execute_within(workload, tests, jobs, &free, stop)
}

/// Runs the executor within a budget.
fn execute_within(
    workload: &dyn Workload,
    tests: usize,
    jobs: usize,
    budget: &Budget,
    stop: &StopFlag,
) -> Executed {
    let means =
        Means { jobs: NonZeroUsize::new(jobs).unwrap(), prune: true, budget, stop, max_fail: None };
    execute(workload, tests, &means, &Silent)
}

/// Runs the executor in a thread, and fails if it hangs.
fn execute_in_time(workload: Simulated, tests: usize, jobs: usize) -> (Executed, Simulated) {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let executed = execute_all(&workload, tests, jobs, &StopFlag::new());
        let _ = send.send((executed, workload));
    });
    receive.recv_timeout(PATIENCE).expect("the executor comes to an end")
}

#[test]
fn a_panic_of_our_own_costs_the_test_with_which_it_happens_and_no_other() {
    for jobs in [1, 4] {
        for place in [Panics::Run, Panics::Conclude, Panics::Judged] {
            let (executed, workload) = execute_in_time(Simulated::new(Some((0, place))), 6, jobs);
            let mut judged = workload.judged.into_inner().unwrap();
            judged.sort_unstable();
            assert_eq!(judged, [1, 2, 3, 4, 5], "{place:?}");
            assert!(!executed.stopped);
            let given_up: Vec<Option<&str>> =
                executed.tests.iter().map(|test| test.panic.as_deref()).collect();
            let expected = format!("at {place:?}");
            assert_eq!(given_up[0], Some(expected.as_str()));
            assert_eq!(given_up[1..], [None; 5]);
            // Earlier runs are not lost.
            let runs: Vec<usize> = executed.tests.iter().map(|t| t.runs.count()).collect();
            assert_eq!(runs[1..], [2; 5]);
            assert!(place == Panics::Run || runs[0] == 2, "{place:?}: {runs:?}");
        }
    }
}

#[test]
fn a_panic_with_every_test_ends_the_executor_too() {
    for jobs in [1, 3] {
        let (executed, _) = execute_in_time(Simulated::new(Some((0, Panics::Conclude))), 1, jobs);
        assert_eq!(executed.tests[0].panic.as_deref(), Some("at Conclude"));
        assert_eq!(executed.tests[0].runs.count(), 2);
    }
}

#[test]
fn a_test_that_asks_for_no_run_is_not_waited_for() {
    struct Nothing;
    impl Workload for Nothing {
        fn id(&self, _test: usize) -> String {
            "t".to_owned()
        }
        fn conclude(&self, _test: usize, _runs: &Runs) -> Result<Judgement, Need> {
            Err(Need::Runs(Missing::new(Vec::new())))
        }
        fn run(&self, _: usize, _: &RunSpec, _: RunLimits, _: Setting) -> Result<Run, Unmade> {
            Err(Unmade::Stopped)
        }
        fn judged(&self, _test: usize, _runs: &Runs, _judgement: &Judgement) {}
    }
    let executed = execute_all(&Nothing, 1, 1, &StopFlag::new());
    assert!(executed.tests[0].panic.is_some());
}

/// Tests that need something besides their runs, which only some receive.
#[derive(Default)]
struct Needing<'a> {
    /// Flag that the first request sets to stop the executor.
    stop: Option<&'a StopFlag>,
    fulfilled: Mutex<Vec<Vec<usize>>>,
    judged: Mutex<Vec<usize>>,
}

impl Workload for Needing<'_> {
    fn id(&self, test: usize) -> String {
        format!("t{test}")
    }

    fn conclude(&self, test: usize, runs: &Runs) -> Result<Judgement, Need> {
        need_runs(runs, 1)?;
        if test > 0 && runs.after_others.is_none() {
            return Err(Need::AfterOthers);
        }
        if runs.plain.is_none() {
            return Err(Need::Plain { limit: PATIENCE, obstacle: None, is_decisive: true });
        }
        Ok(Judgement::provisional(Conclusion::Stable))
    }

    fn run(&self, _: usize, _: &RunSpec, _: RunLimits, _: Setting) -> Result<Run, Unmade> {
        Ok(simulation::run(true, [1]))
    }

    fn fulfil(&self, needs: &[(usize, Need)], runs: &mut [Runs]) {
        assert!(runs.iter().all(|runs| runs.count() == 1), "all are there");
        if let Some(stop) = self.stop {
            return stop.stop();
        }
        for (test, need) in needs {
            match need {
                Need::AfterOthers if *test < 3 => {
                    runs[*test].after_others = Some(AfterOthers::unknown());
                }
                Need::Plain { .. } => runs[*test].plain = Some(PlainBuild::Runs([1, 1])),
                _ => {}
            }
        }
        let tests = needs.iter().map(|(test, _)| *test).collect();
        self.fulfilled.lock().unwrap().push(tests);
    }

    fn judged(&self, test: usize, _runs: &Runs, _judgement: &Judgement) {
        self.judged.lock().unwrap().push(test);
    }
}

#[test]
fn what_tests_need_besides_runs_is_made_once_no_run_is_and_each_is_judged_once() {
    for jobs in [1, 4] {
        let tests = Needing::default();
        let executed = execute_all(&tests, 4, jobs, &StopFlag::new());
        let fulfilled = tests.fulfilled.into_inner().unwrap();
        assert_eq!(fulfilled, [vec![1, 2, 3], vec![0, 1, 2]]);
        assert_eq!(tests.judged.into_inner().unwrap(), [0, 1, 2]);
        let given_up = executed.tests.iter().map(|test| test.panic.is_some());
        assert_eq!(given_up.collect::<Vec<_>>(), [false, false, false, true]);
    }
}

#[test]
fn what_is_needed_when_it_is_stopped_is_left_open() {
    let stop = StopFlag::new();
    let tests = Needing { stop: Some(&stop), ..Needing::default() };
    let executed = execute_all(&tests, 4, 1, &stop);
    assert!(executed.stopped);
    assert!(executed.tests.iter().all(|test| test.judgement.is_none()));
    assert!(executed.tests.iter().all(|test| test.panic.is_none()));
}

#[test]
fn tests_run_while_the_report_of_another_is_written() {
    // The first test is judged until the others have run. If a lock were held, it would wait
    // forever.
    let (send, receive) = mpsc::channel();
    let (send, receive) = (Mutex::new(send), Mutex::new(receive));
    let workload = Simulated {
        while_judged: Box::new(move |test| match test {
            0 => {
                let others = receive.lock().unwrap();
                assert!((1..4).all(|_| others.recv_timeout(PATIENCE / 4).is_ok()));
            }
            _ => send.lock().unwrap().send(()).unwrap(),
        }),
        ..Simulated::new(None)
    };
    let (executed, _) = execute_in_time(workload, 4, 2);
    assert!(executed.tests.iter().all(|test| test.panic.is_none()));
}

/// Two tests with long runs, of which only the first can be confined.
#[derive(Default)]
struct Long {
    /// Number of runs of each test in progress.
    under_way: [AtomicUsize; 2],
    /// Whether two runs of the first test overlapped.
    has_overlapped: AtomicBool,
    /// Number of requests for a confined run, and of those of the second test, which fail.
    confined: AtomicUsize,
    refused: AtomicUsize,
    /// Whether the tests' time is virtual.
    is_scheduled: bool,
    /// Whether this program panics in each confined run.
    panics: bool,
}

impl Workload for Long {
    fn id(&self, test: usize) -> String {
        format!("t{test}")
    }

    fn takes_long(&self, _test: usize, _runs: &Runs) -> bool {
        true
    }

    fn conclude(&self, _test: usize, runs: &Runs) -> Result<Judgement, Need> {
        let specs = (0..6).map(|seed| RunSpec::new("t", Level::Full, seed));
        let specs = specs.map(|spec| if self.is_scheduled { spec.with_scheduler(0) } else { spec });
        if runs.count() == 0 {
            return Err(Need::Runs(Missing::new(specs.collect())));
        }
        Ok(Judgement::provisional(Conclusion::Stable))
    }

    fn run(&self, test: usize, _: &RunSpec, _: RunLimits, setting: Setting) -> Result<Run, Unmade> {
        let under_way = self.under_way[test].fetch_add(1, Ordering::SeqCst) + 1;
        let is_confined = setting == Setting::Confined;
        self.confined.fetch_add(is_confined.into(), Ordering::SeqCst);
        let result = match (test, setting) {
            (0, Setting::Confined) => {
                let begun = Instant::now();
                while !self.has_overlapped.load(Ordering::SeqCst) && begun.elapsed() < PATIENCE {
                    let overlaps = self.under_way[0].load(Ordering::SeqCst) > 1;
                    self.has_overlapped.fetch_or(overlaps, Ordering::SeqCst);
                    thread::yield_now();
                }
                assert!(!self.panics, "with several runs at once");
                Ok(simulation::run(true, [1]))
            }
            (1, Setting::Confined) => {
                self.refused.fetch_add(1, Ordering::SeqCst);
                Err(Unmade::Unconfined)
            }
            _ => {
                assert_eq!(
                    under_way, 1,
                    "two runs of a test that cannot be confined are made at once"
                );
                thread::sleep(Duration::from_millis(2));
                Ok(simulation::run(true, [1]))
            }
        };
        self.under_way[test].fetch_sub(1, Ordering::SeqCst);
        result
    }

    fn judged(&self, _test: usize, _runs: &Runs, _judgement: &Judgement) {}
}

#[test]
fn runs_of_one_test_are_made_at_once_only_while_they_can_be_confined() {
    let long = Long::default();
    let executed = execute_all(&long, 2, 3, &StopFlag::new());
    for test in &executed.tests {
        assert_eq!((test.runs.count(), &test.panic), (6, &None));
    }
    assert!(long.has_overlapped.into_inner(), "its runs are made at once");
    let refused = long.refused.into_inner();
    assert!((1..=3).contains(&refused), "it is not tried again: {refused}");
}

#[test]
fn nothing_is_confined_where_one_run_is_made_at_a_time_or_its_time_matters() {
    for (tests, jobs) in [(2, 1), (1, 3)] {
        let long = Long::default();
        let executed = execute_all(&long, tests, jobs, &StopFlag::new());
        assert!(executed.tests.iter().all(|test| test.panic.is_none()));
        assert_eq!(long.confined.into_inner(), 0);
    }
}

#[test]
fn runs_of_the_only_test_are_made_at_once_when_its_time_is_virtual() {
    let long = Long { is_scheduled: true, ..Long::default() };
    let executed = execute_all(&long, 1, 3, &StopFlag::new());
    assert_eq!(executed.tests[0].runs.count(), 6);
    assert!(long.has_overlapped.into_inner());
}

#[test]
fn a_test_with_two_runs_of_which_this_program_panics_is_given_up_once() {
    let long = Long { panics: true, ..Long::default() };
    let executed = execute_all(&long, 2, 3, &StopFlag::new());
    assert_eq!(executed.tests[0].panic.as_deref(), Some("with several runs at once"));
    assert_eq!((executed.tests[1].runs.count(), &executed.tests[1].panic), (6, &None));
    assert!(!executed.stopped);
}

/// Tests that want one more run each, except for the first, which needs one.
#[derive(Default)]
struct Exploring {
    /// The tests of the runs that were made, in order.
    runs: Mutex<Vec<usize>>,
    /// Duration of each run of a test, in milliseconds.
    took: [u64; 3],
}

impl Workload for Exploring {
    fn id(&self, test: usize) -> String {
        format!("t{test}")
    }

    fn conclude(&self, test: usize, runs: &Runs) -> Result<Judgement, Need> {
        let purpose = match test {
            0 => ExperimentPurpose::Judge,
            _ => ExperimentPurpose::Explore,
        };
        let may_do_without = runs.together.spent().leaves_out(purpose);
        if runs.count() < 3 && !may_do_without {
            let missing = Missing::new(vec![RunSpec::new("t", Level::Std, test as u64)]);
            return Err(Need::Runs(missing.serving(purpose)));
        }
        Ok(Judgement::provisional(Conclusion::Stable))
    }

    fn run(&self, test: usize, _: &RunSpec, _: RunLimits, _: Setting) -> Result<Run, Unmade> {
        self.runs.lock().unwrap().push(test);
        Ok(Run { took: Duration::from_millis(self.took[test]), ..simulation::run(true, [1]) })
    }

    fn judged(&self, _test: usize, _runs: &Runs, _judgement: &Judgement) {}
}

#[test]
fn the_test_that_took_the_least_time_is_next() {
    let tests = Exploring { took: [1, 100, 10], ..Exploring::default() };
    execute_all(&tests, 3, 1, &StopFlag::new());
    let runs = tests.runs.into_inner().unwrap();
    assert_eq!(runs, [0, 1, 2, 0, 0, 2, 2, 1, 1]);
}

/// Returns the state of tests that have one run each, with these durations in seconds.
fn state_after(took: &[u64], jobs: usize) -> QueueState {
    let runs = |took: &u64| {
        let mut runs = Runs::new(true, true);
        let run = Run { took: Duration::from_secs(*took), ..simulation::run(true, [1]) };
        runs.together.add(RunSpec::clean("t"), run);
        (runs, Required::default())
    };
    QueueState::new(took.iter().map(runs), jobs, None)
}

/// Returns a request of this number of runs.
fn batch(number: u64, purpose: ExperimentPurpose) -> Missing {
    let seeds = (0..number).map(|seed| RunSpec::new("t", Level::Std, seed));
    Missing::new(seeds.collect()).serving(purpose)
}

/// Takes all runs, one at a time. Returns their tests.
fn one_by_one(mut state: QueueState) -> Vec<usize> {
    let next = || {
        let (turn, _) = state.take(false)?;
        state.end_run(turn.test);
        Some(turn.test)
    };
    std::iter::from_fn(next).collect()
}

#[test]
fn one_of_several_workers_goes_on_with_the_test_that_took_the_most_time() {
    let mut state = state_after(&[5, 9, 1], 2);
    for test in 0..3 {
        state.request(test, batch(2, ExperimentPurpose::Judge), false);
    }
    let mut next = |longest| state.take(longest).map(|(turn, _)| (turn.test, turn.index));
    assert_eq!(next(true), Some((1, 0)));
    assert_eq!(next(true), Some((0, 0)));
    state.end_run(1);
    state.end_run(0);
    let mut next = |longest| state.take(longest).map(|(turn, _)| (turn.test, turn.index));
    assert_eq!(next(false), Some((2, 0)));
    assert_eq!(next(true), Some((1, 1)));
}

#[test]
fn a_large_batch_of_long_runs_takes_turns_with_the_runs_of_other_tests() {
    let mut state = state_after(&[4, 5], 1);
    for test in 0..2 {
        state.request(test, batch(3, ExperimentPurpose::Explore), false);
    }
    assert_eq!(one_by_one(state), [0, 1, 0, 1, 0, 1]);
}

#[test]
fn a_run_that_sleeps_in_real_time_comes_after_the_runs_of_tests_that_take_less() {
    let mut state = state_after(&[1, 2], 1);
    let slept = ScheduleRecord { time_us: 50_000_000, ..ScheduleRecord::default() };
    let spec = options().clean_spec("t");
    let run = Run { schedule: Some(slept), ..simulation::run(true, []) };
    state.tests[0].runs.together.add(spec.clone(), run);
    let both = vec![spec, options().natural_spec("t")];
    state.request(0, Missing::new(both), false);
    state.request(1, batch(2, ExperimentPurpose::Explore), false);
    assert_eq!(one_by_one(state), [0, 1, 1, 0]);
}

#[test]
fn seeds_that_were_not_requested_come_first_only_for_tests_that_took_far_less_time() {
    for (took, order) in [([1, 9], [0, 0, 1, 1]), ([3, 9], [1, 0, 1, 0]), ([9, 9], [1, 1, 0, 0])] {
        let mut state = state_after(&took, 1);
        state.request(0, batch(2, ExperimentPurpose::Extend), false);
        state.request(1, batch(2, ExperimentPurpose::Explore), false);
        assert_eq!(one_by_one(state), order, "{took:?}");
    }
}

#[test]
fn tests_take_turns_and_once_the_budget_is_spent_each_is_judged_by_what_is_needed() {
    let all = Exploring::default();
    execute_all(&all, 3, 1, &StopFlag::new());
    assert_eq!(all.runs.into_inner().unwrap(), [0, 1, 2, 0, 1, 2, 0, 1, 2]);
    let soon = StopFlag::new().within(Some(Duration::ZERO));
    let budget = Budget::new(None, NonZeroUsize::MIN, &soon);
    let needed = Exploring::default();
    let executed = execute_within(&needed, 3, 1, &budget, &StopFlag::new());
    assert_eq!(needed.runs.into_inner().unwrap(), [0, 0, 0]);
    assert!(executed.tests.iter().all(|test| test.judgement.is_some()));
    assert!(!executed.stopped);
}
