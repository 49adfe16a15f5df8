//! Simulates a binary whose tests change shared state.

use std::collections::BTreeSet;

use nondex_core::Outcome;

use crate::simulation;

use super::experiments::{Experiment, Experiments, MissingProcesses, ProcessPlan};
use crate::run::Run;

/// Effect of a simulated test on the state, and its outcome.
pub(crate) type Body = Box<dyn Fn(&mut BTreeSet<&'static str>) -> Outcome>;

/// Part of the initial state if other processes run at the same time.
pub(crate) const OTHERS: &str = "other processes";

/// Asks `question`, and simulates the processes that it needs.
pub(crate) fn settle<T>(
    bodies: &[Body],
    experiments: &mut Experiments,
    question: impl Fn(&Experiments) -> Result<T, MissingProcesses>,
) -> T {
    simulation::settle(experiments, question, |experiments, plan, missing| {
        let ProcessPlan::InOrder(tests) = plan else {
            panic!("nothing is forked here: {plan:?}");
        };
        let mut state = BTreeSet::new();
        if experiments.is_shared() && !missing.alone {
            state.insert(OTHERS);
        }
        let mut runs = Vec::new();
        for test in &tests {
            runs.push(Run::ended(bodies[*test](&mut state)));
            if runs.last().is_some_and(Run::ends_process) {
                break;
            }
        }
        let passed = |_, run: &Run| Some(run.passed());
        experiments.add(Experiment::new(tests, runs, missing.alone, passed));
    })
}
