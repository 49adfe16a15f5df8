//! A binary whose tests change what they share, as a program: what its processes would come to.

use std::collections::BTreeSet;

use nondex_core::Outcome;

use super::experiments::{End, Experiment, Experiments, MissingProcesses, ProcessPlan};

/// What a simulated test does to the state, and whether it passes.
pub(crate) type Body = Box<dyn Fn(&mut BTreeSet<&'static str>) -> Outcome>;

/// Asks `question` again and again, and makes the processes that it wants. The answer, with the
/// number of processes.
pub(crate) fn settle<T>(
    bodies: &[Body],
    experiments: &mut Experiments,
    question: impl Fn(&Experiments) -> Result<T, MissingProcesses>,
) -> T {
    loop {
        match question(experiments) {
            Ok(answer) => return answer,
            Err(missing) => {
                assert!(!missing.experiments.is_empty(), "it would wait for ever");
                let alone = missing.alone;
                for plan in missing.experiments {
                    let ProcessPlan::InOrder(tests) = plan else {
                        panic!("nothing is forked here: {plan:?}");
                    };
                    let mut state = BTreeSet::new();
                    let mut ends = Vec::new();
                    for test in &tests {
                        let outcome = bodies[*test](&mut state);
                        let is_cut = !matches!(outcome, Outcome::Passed | Outcome::Failed);
                        ends.push(End {
                            outcome,
                            failure: None,
                            output: None,
                            explanation: None,
                            has_choices: false,
                        });
                        if is_cut {
                            break;
                        }
                    }
                    experiments.add(Experiment { tests, ends, alone });
                }
            }
        }
    }
}
