//! Simulates tests for the tests of this crate. A simulated test is a function from a spec to a
//! run.

use std::time::Duration;

use nondex_core::{Family, Frame, Level, Outcome, PointRecord, RunSpec, Site};

use super::conclusion::Conclusion;
use super::equivalence::is_made;
use super::evidence::Evidence;
use super::missing::{Missing, answer};
use super::options::Options;
use super::plan::conclude;
use super::question::Question;
use super::run::Run;

/// Returns the call site on this line.
pub fn site(line: u32) -> Site {
    Site {
        api: "std::collections::HashMap::iter".into(),
        family: Family::HashMap,
        file: "src/lib.rs".into(),
        line,
        column: 5,
    }
}

/// Returns a frame of a stack.
pub fn frame(function: &str, file: &str, line: u32) -> Frame {
    Frame { function: function.to_owned(), file: file.to_owned(), line }
}

/// Returns a point that was reached often, with so many elements that no two seeds agree on their
/// order.
pub fn point(site: Site) -> PointRecord {
    PointRecord { site, thread: "0".into(), count: 3, max_len: 100, keys: 0, stack: Vec::new() }
}

/// Returns a run that reached these lines.
pub fn run(passed: bool, lines: impl IntoIterator<Item = u32>) -> Run {
    let outcome = if passed { Outcome::Passed } else { Outcome::Failed };
    Run { points: lines.into_iter().map(|line| point(site(line))).collect(), ..Run::ended(outcome) }
}

/// Returns whether the seed decides at the site on this line in a run of `spec`.
pub fn made(spec: &RunSpec, line: u32) -> bool {
    is_made(spec, &site(line), "0")
}

/// Returns options with all levels and ten seeds.
pub fn options() -> Options {
    Options::new("/nonexistent")
}

/// Runs a simulated test like the executor, one batch at a time.
pub fn simulate(
    options: &Options,
    mut test: impl FnMut(&RunSpec) -> Run,
) -> (Conclusion, Evidence) {
    simulate_within(options, |spec, _| test(spec))
}

/// Runs like [`simulate`] a test that also sees its time limit.
pub fn simulate_within(
    options: &Options,
    mut test: impl FnMut(&RunSpec, Duration) -> Run,
) -> (Conclusion, Evidence) {
    simulate_limited(options, |spec, limit, _| test(spec, limit))
}

/// Runs like [`simulate`] a test that also sees its limits, of time and of processor time.
pub fn simulate_limited(
    options: &Options,
    mut test: impl FnMut(&RunSpec, Duration, Option<Duration>) -> Run,
) -> (Conclusion, Evidence) {
    let mut evidence = Evidence::new(options.prune);
    let ask = |evidence: &Evidence| conclude(Question::new("t", options, evidence));
    let conclusion = settle(&mut evidence, ask, |evidence, spec: RunSpec, missing| {
        let limit = missing.limits.elapsed.unwrap_or(options.timeout);
        let busy = missing.limits.busy.filter(|_| !spec.is_clean());
        let run = Run { limit, ..test(&spec, limit, busy) };
        evidence.add(spec, run);
    });
    (conclusion, evidence)
}

/// Maximum number of batches for one question.
const MAX_BATCHES: usize = 1000;

/// Asks a question until there is an answer, like the executor. `make` makes each experiment, and
/// gets its conditions, such as the time limit.
pub fn settle<S, T, E>(
    store: &mut S,
    question: impl Fn(&S) -> Result<T, Missing<E>>,
    mut make: impl FnMut(&mut S, E, &Missing<()>),
) -> T {
    let mut batches = 0;
    let answer = answer(store, question, |store, missing| {
        assert!(!missing.experiments.is_empty(), "it would wait for ever");
        batches += 1;
        let how = Missing {
            experiments: Vec::new(),
            limits: missing.limits,
            alone: missing.alone,
            fresh: missing.fresh,
            joinable: missing.joinable,
            purpose: missing.purpose,
        };
        missing.experiments.into_iter().for_each(|experiment| make(store, experiment, &how));
        (batches < MAX_BATCHES).then_some(())
    });
    answer.expect("it comes to an end")
}

/// Returns the number of runs that made all choices at `level`.
pub fn runs_at(evidence: &Evidence, level: Level) -> usize {
    evidence.all().filter(|(spec, _)| spec.draws_all() && spec.level() == level).count()
}
