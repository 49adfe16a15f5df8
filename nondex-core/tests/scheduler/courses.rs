//! All courses of a tiny program: by a model that tries every interleaving, and by systematic runs
//! of the machine.

use std::collections::BTreeSet;

use nondex_core::choice::stops::Stop;
use nondex_core::scheduler::Lease;

use super::choices::Choices;
use super::kernel::Kernel;
use super::program::{OBJECTS, Op, Program};

/// Maximum number of systematic runs.
const RUNS: usize = 20_000;

/// Values of the variables at the end, and those that each thread has read.
pub(super) type Outcome = (Vec<u64>, Vec<Vec<u64>>);

/// State of a program of which every thread runs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Model {
    at: Vec<usize>,
    owner: Option<usize>,
    memory: Vec<u64>,
    read: Vec<Vec<u64>>,
}

/// Returns the outcomes of all interleavings of the threads that the first one starts.
pub(super) fn by_model(program: &Program) -> BTreeSet<Outcome> {
    let threads = &program[1..];
    let mut open = vec![Model {
        at: vec![0; threads.len()],
        owner: None,
        memory: vec![0; OBJECTS],
        read: vec![Vec::new(); threads.len()],
    }];
    let mut seen = BTreeSet::new();
    let mut outcomes = BTreeSet::new();
    while let Some(model) = open.pop() {
        if !seen.insert(model.clone()) {
            continue;
        }
        let mut has_ended = true;
        for (thread, body) in threads.iter().enumerate() {
            let Some(op) = body.get(model.at[thread]) else { continue };
            has_ended = false;
            let mut next = model.clone();
            next.at[thread] += 1;
            match *op {
                Op::Load(number) => next.read[thread].push(model.memory[number]),
                Op::Add(number) => next.memory[number] += 1,
                Op::Lock(_) if model.owner.is_some() => continue,
                Op::Lock(_) => next.owner = Some(thread),
                Op::Unlock(_) => next.owner = None,
                other => panic!("the model has no {other:?}"),
            }
            open.push(next);
        }
        if has_ended {
            outcomes.insert((model.memory, model.read));
        }
    }
    outcomes
}

/// Returns the outcomes of all systematic runs. Each list of stops is continued by every decision
/// after its last one.
pub(super) fn by_systematic_runs(program: &Program) -> BTreeSet<Outcome> {
    let mut outcomes = BTreeSet::new();
    let mut open: Vec<Vec<Stop>> = vec![Vec::new()];
    let mut runs = 0;
    while let Some(stops) = open.pop() {
        runs += 1;
        assert!(runs <= RUNS, "there are too many lists");
        let lease = Lease::new();
        let kernel = Kernel::new(&lease, program, Choices::Stops(stops.clone()), 100, false);
        let course = kernel.run(super::STEPS);
        assert_eq!(course.end, None, "{stops:?}");
        let mut read = vec![Vec::new(); program.len() - 1];
        for (thread, value) in course.read {
            read[thread - 1].push(value);
        }
        outcomes.insert((course.memory, read));
        let last = course.decisions.iter().rposition(|decision| stops.contains(decision));
        let next = last.map_or(0, |last| last + 1);
        for decision in &course.decisions[next..] {
            open.push(stops.iter().chain([decision]).copied().collect());
        }
    }
    outcomes
}
