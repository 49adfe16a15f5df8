//! Tests of how a campaign ends after the maximum number of failures.

use super::*;

/// Tests that run once. Those that fail need further runs and a plain build, in which some of them
/// fail too.
struct Failing<'a> {
    further: usize,
    fails: &'a [usize],
    fails_plainly: &'a [usize],
    begun: Mutex<Vec<usize>>,
    compared: Mutex<Vec<usize>>,
    is_cancelled: AtomicBool,
}

impl Workload for Failing<'_> {
    fn id(&self, test: usize) -> String {
        format!("t{test}")
    }

    fn conclude(&self, test: usize, runs: &Runs) -> Result<Judgement, Need> {
        need_runs(runs, 1)?;
        let is_compared = self.compared.lock().unwrap().contains(&test);
        if self.fails.contains(&test) && !is_compared {
            need_runs(runs, 1 + self.further)?;
            return Err(Need::Plain { limit: Duration::ZERO, obstacle: None, is_decisive: true });
        }
        Ok(stable())
    }

    fn fulfil(&self, needs: &[(usize, Need)], _runs: &mut [Runs]) {
        let tests = needs.iter().map(|(test, _)| *test);
        self.compared.lock().unwrap().extend(tests);
    }

    fn run(&self, test: usize, _: &RunSpec, _: RunLimits, _: Setting) -> Result<Run, Unmade> {
        self.begun.lock().unwrap().push(test);
        // The run takes time, so further runs of a test come after the first runs of the others.
        let took = Duration::from_millis(1);
        let run = simulation::run(!self.fails.contains(&test), [1]);
        Ok(Run { took, ..run })
    }

    fn judged(&self, _test: usize, _runs: &Runs, _judgement: &Judgement) {}

    fn is_failure(&self, test: usize) -> bool {
        self.fails_plainly.contains(&test)
    }

    fn cancelled(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }
}

/// Runs six tests, one at a time. Returns the tests that were begun, whether the campaign was
/// cancelled, and the cancelled tests.
fn begun(max: usize, fails: &[usize], fails_plainly: &[usize]) -> (Vec<usize>, bool, Vec<usize>) {
    begun_with(0, max, fails, fails_plainly)
}

/// Does the same as [`begun`], but a test that fails needs this number of further runs.
fn begun_with(
    further: usize,
    max: usize,
    fails: &[usize],
    fails_plainly: &[usize],
) -> (Vec<usize>, bool, Vec<usize>) {
    let workload = Failing {
        further,
        fails,
        fails_plainly,
        begun: Mutex::default(),
        compared: Mutex::default(),
        is_cancelled: AtomicBool::new(false),
    };
    let stop = StopFlag::new();
    let free = Budget::new(None, NonZeroUsize::MIN, &stop);
    let means = Means {
        jobs: NonZeroUsize::MIN,
        prune: true,
        budget: &free,
        stop: &stop,
        max_fail: NonZeroUsize::new(max),
    };
    let executed = execute(&workload, 6, &means, &Silent);
    assert!(!executed.stopped);
    let tests = executed.tests.iter().enumerate();
    let cancelled = tests.filter(|(_, test)| test.is_cancelled);
    (
        workload.begun.into_inner().unwrap(),
        workload.is_cancelled.into_inner(),
        cancelled.map(|(test, _)| test).collect(),
    )
}

#[test]
fn no_test_is_begun_after_so_many_failures_and_the_others_are_cancelled() {
    let all: Vec<usize> = (0..6).collect();
    for (max, expected) in [(1, 2), (2, 4), (3, 6)] {
        let (found, is_cancelled, cancelled) = begun(max, &[1, 3], &[1, 3]);
        assert_eq!(found, all[..expected], "{max}");
        assert_eq!(cancelled, all[expected..], "{max}");
        assert_eq!(is_cancelled, expected < 6);
    }
    assert_eq!(begun(0, &[1, 3], &[1, 3]), (all, false, vec![]));
}

#[test]
fn a_test_that_fails_only_with_this_tool_cancels_no_other() {
    let all: Vec<usize> = (0..6).collect();
    assert_eq!(begun(1, &[1, 3], &[]), (all.clone(), false, vec![]));
    let (found, is_cancelled, cancelled) = begun(1, &[1, 3], &[3]);
    assert_eq!((&found[..], is_cancelled), (&all[..4], true));
    assert_eq!(cancelled, [4, 5]);
}

#[test]
fn no_test_is_begun_while_further_runs_are_made_of_one_that_fails() {
    let (found, _, cancelled) = begun_with(2, 1, &[1, 3], &[1, 3]);
    assert_eq!((&found[..], &cancelled[..]), (&[0, 1, 1, 1][..], &[2, 3, 4, 5][..]));
    let (found, is_cancelled, _) = begun_with(2, 1, &[1, 3], &[]);
    assert_eq!((&found[..], is_cancelled), (&[0, 1, 1, 1, 2, 3, 3, 3, 4, 5][..], false));
}
