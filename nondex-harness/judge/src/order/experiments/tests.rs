//! Tests of which questions a process answers.

use std::time::Duration;

use super::*;
use crate::simulation;

fn experiment(tests: &[usize], ends: &[Outcome], alone: bool) -> Experiment {
    let runs = ends.iter().cloned().map(Run::ended).collect();
    Experiment::new(tests.to_vec(), runs, alone, |_, run| Some(run.passed()))
}

#[test]
fn a_process_answers_for_each_of_its_beginnings_and_for_nothing_else() {
    let mut made = Experiments::new(true);
    let [passed, failed] = [Outcome::Passed, Outcome::Failed];
    made.add(experiment(&[2, 0, 1], &[passed.clone(), failed, passed], false));
    let passes = |before: &[usize], test, alone| made.passed(before, test, 1, alone).ok()?[0];
    assert_eq!(passes(&[], 2, false), Some(true));
    assert_eq!(passes(&[2], 0, false), Some(false));
    assert_eq!(passes(&[2, 0], 1, false), Some(true));
    assert_eq!(passes(&[2], 0, true), None, "others ran meanwhile");
    for (before, test) in [(&[][..], 0), (&[0], 2), (&[2], 1), (&[0, 2], 1)] {
        let order = [before, &[test]].concat();
        assert_eq!(made.runs(before, test, 2, false), Err(in_order(&order, 2, false)));
    }
}

#[test]
fn a_test_that_ends_a_process_while_others_run_is_believed_once_it_does_so_alone() {
    let mut made = Experiments::new(true);
    let [passed, hung] = [Outcome::Passed, Outcome::TimedOut];
    let cut = [passed.clone(), hung];
    let wanted = |order: &[usize]| Err(in_order(order, 1, true));
    made.add(experiment(&[0, 1, 2], &cut, false));
    assert_eq!(made.first(&[0, 1, 2]).cloned(), wanted(&[0, 1, 2]));
    assert!(made.first(&[0]).is_ok(), "it had not yet come to that test");
    let all = [passed.clone(), passed.clone(), passed];
    made.add(experiment(&[0, 1, 2], &all, true));
    assert_eq!(made.first(&[0, 1, 2]).unwrap().cut(), None);
    assert_eq!(made.passed(&[0], 1, 1, false), Ok(vec![Some(true)]));
    made.add(experiment(&[2, 1, 0], &cut, false));
    assert_eq!(made.first(&[2, 1, 0]).cloned(), wanted(&[2, 1, 0]));
    // Once is enough.
    made.add(experiment(&[2, 1, 0], &cut, true));
    made.add(experiment(&[1, 0], &cut[1..], false));
    assert_eq!(made.first(&[1, 0]).unwrap().cut(), Some(0));
}

#[test]
fn the_exact_matrix_of_five_hundred_tests_takes_five_hundred_processes() {
    let mut made = Experiments::new(true);
    let all: Vec<usize> = (0..500).collect();
    let wanted = made.pairs(&all, &all).expect_err("there are none");
    let executions = wanted.experiments.len();
    for plan in wanted.experiments {
        let ProcessPlan::Forked(first, then) = plan else {
            panic!("{plan:?}");
        };
        let forks = then.into_iter().map(|then| (then, Some(true))).collect();
        made.add(experiment(&[first], &[Outcome::Passed], false).with_forks(forks));
    }
    assert_eq!(made.pairs(&all, &all), Ok(()));
    assert_eq!((executions, made.count(), made.forked.len()), (500, 500, 250_000));
}

#[test]
fn what_comes_behind_the_end_of_a_process_was_not_started() {
    let mut made = Experiments::new(false);
    let cut = experiment(&[0, 1, 2], &[Outcome::Passed, Outcome::Exited(0)], false);
    assert_eq!(cut.cut(), Some(1));
    made.add(cut);
    assert_eq!(made.runs(&[0, 1], 2, 1, true), Ok(vec![None]));
    assert_eq!(made.passed(&[0], 1, 1, true), Ok(vec![Some(false)]));
}

#[test]
fn equal_runs_of_a_test_take_memory_once_and_output_is_kept_where_its_test_is_known() {
    let mut made = Experiments::new(false);
    let mut add = |tests: usize, outcome: Outcome, milliseconds| {
        let run = || Run {
            output: Some("text".to_owned()),
            written: milliseconds,
            took: Duration::from_millis(milliseconds),
            ..simulation::run(outcome.passed(), [1])
        };
        let runs = (0..tests).map(|_| run()).collect();
        let passed = |_, run: &Run| Some(run.passed());
        made.add(Experiment::new((0..tests).collect(), runs, false, passed));
    };
    add(1, Outcome::Passed, 1);
    add(2, Outcome::Passed, 2);
    add(1, Outcome::Failed, 3);
    add(MAX_SHOWN + 1, Outcome::Failed, 4);
    let runs: Vec<&Arc<Run>> = made.made().iter().map(|made| &made.runs[0]).collect();
    assert!(made.made().iter().all(|made| made.runs.capacity() == made.runs.len()));
    assert!(Arc::ptr_eq(runs[0], runs[1]));
    assert!(runs.iter().all(|run| Arc::ptr_eq(&run.points, &runs[0].points)));
    assert_eq!(runs[2].took, Duration::from_millis(3));
    let shown: Vec<bool> = runs.iter().map(|run| run.output.is_some()).collect();
    assert_eq!(shown, [false, false, true, false]);
}
