//! Tests of which runs are made concurrently if some tests are in a group or take several slots.

use std::sync::{Arc, Barrier};

use super::*;
use crate::judge::TestGroup;

/// Tests that run several times, and what each requires.
struct Limited {
    required: Vec<Required>,
    running: Mutex<Vec<usize>>,
    /// Running tests, each time that a run began.
    seen: Mutex<Vec<Vec<usize>>>,
    /// Two tests of which each run waits for a run of the other.
    together: Option<([usize; 2], Barrier)>,
}

impl Limited {
    fn executed(required: Vec<Required>, together: Option<[usize; 2]>) -> Vec<Vec<usize>> {
        let tests = required.len();
        let workload = Limited {
            required,
            running: Mutex::default(),
            seen: Mutex::default(),
            together: together.map(|tests| (tests, Barrier::new(2))),
        };
        let executed = execute_all(&workload, tests, 4, &StopFlag::new());
        assert!(!executed.stopped && executed.tests.iter().all(|test| test.judgement.is_some()));
        workload.seen.into_inner().unwrap()
    }
}

impl Workload for Limited {
    fn id(&self, test: usize) -> String {
        format!("t{test}")
    }

    fn conclude(&self, _test: usize, runs: &Runs) -> Result<Judgement, Need> {
        need_runs(runs, 5)?;
        Ok(stable())
    }

    fn required(&self, test: usize) -> Required {
        self.required[test].clone()
    }

    /// Returns true, so that several runs of one test are made concurrently, too.
    fn takes_long(&self, _test: usize, _runs: &Runs) -> bool {
        true
    }

    fn run(&self, test: usize, _: &RunSpec, _: RunLimits, _: Setting) -> Result<Run, Unmade> {
        let running = {
            let mut running = self.running.lock().unwrap();
            running.push(test);
            running.clone()
        };
        self.seen.lock().unwrap().push(running);
        if let Some((tests, both)) = &self.together
            && tests.contains(&test)
        {
            both.wait();
        }
        thread::yield_now();
        let mut running = self.running.lock().unwrap();
        let own = running.iter().position(|one| *one == test).unwrap();
        running.remove(own);
        Ok(simulation::run(true, [1]))
    }

    fn judged(&self, _test: usize, _runs: &Runs, _judgement: &Judgement) {}
}

fn in_group(name: &str, max_threads: usize) -> Required {
    let group =
        TestGroup { name: name.to_owned(), max_threads: NonZeroUsize::new(max_threads).unwrap() };
    Required::new(NonZeroUsize::MIN, Some(Arc::new(group)))
}

#[test]
fn no_two_tests_of_a_group_of_one_run_at_once_and_tests_of_two_groups_do() {
    let required = ["port", "port", "port", "lock"].map(|name| in_group(name, 1));
    // Each run of the last test of the group `port` waits for a run of the test of the group
    // `lock`.
    let seen = Limited::executed(required.to_vec(), Some([2, 3]));
    assert_eq!(seen.len(), 20);
    let is_port = |test: &&usize| **test < 3;
    assert!(seen.iter().all(|running| running.iter().filter(is_port).count() <= 1));
}

#[test]
fn of_a_larger_group_no_more_run_at_once_than_it_allows() {
    let seen = Limited::executed(vec![in_group("database", 2); 6], None);
    assert_eq!(seen.len(), 30);
    assert!(seen.iter().all(|running| running.len() <= 2));
}

#[test]
fn a_test_that_takes_all_slots_runs_with_no_other() {
    let all = Required::new(NonZeroUsize::MAX, None);
    let seen = Limited::executed(vec![all, Required::default(), Required::default()], None);
    assert_eq!(seen.len(), 15);
    let is_heavy = |running: &&Vec<usize>| running.contains(&0);
    assert!(seen.iter().filter(is_heavy).all(|running| running.len() == 1));
}
