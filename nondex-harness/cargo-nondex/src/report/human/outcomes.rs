//! The last lines of `cargo nondex test`: how many tests passed, and what the tool does not
//! control.

use std::collections::BTreeMap;

use nondex_core::Source;

use super::View;
use super::count::{ids, nonzero};
use crate::judge::is_timing_source;
use crate::report::{Report, TestReport, Verdict, World, plural};

/// Returns whether a test did not run on purpose, for instance because it is ignored.
pub(super) fn is_skipped(test: &TestReport) -> bool {
    test.verdict == Verdict::NotRun && !test.unjudged && !test.cancelled
}

/// Counts outcomes: `48 tests run: 46 passed, 2 failed, 1 skipped`, or `3/48 tests run` if tests
/// were cancelled after failures.
pub(super) fn counts(report: &Report) -> String {
    let count = |holds: &dyn Fn(&&TestReport) -> bool| {
        report.tests.iter().filter(|test| holds(test)).count() as u64
    };
    let skipped = count(&|test| is_skipped(test));
    let passed = count(&|test| test.verdict.passes());
    let unjudged = count(&|test| test.unjudged);
    let excused = count(&|test| !test.verdict.passes() && test.is_excused());
    let cancelled = count(&|test| test.cancelled);
    let all = report.summary.tests - skipped;
    let run = all - cancelled;
    let advice = count(&|test| test.advice().is_some() && !report.run.strict);
    let failed = run - passed - unjudged - excused - advice;
    let mut parts = vec![format!("{passed} passed")];
    let others = [
        (failed, "failed"),
        (advice, "failed only by a delay"),
        (excused, "known or sanitised"),
        (unjudged, "not judged"),
        (skipped, "skipped"),
    ];
    parts.extend(nonzero(&others));
    let run = match cancelled {
        0 => plural(run, "test"),
        _ => format!("{run}/{}", plural(all, "test")),
    };
    format!("{run} run: {}", parts.join(", "))
}

/// Returns the remaining facts about the runs, one sentence each.
pub(super) fn sentences(report: &Report, world: &World, view: &View<'_>) -> Vec<String> {
    let all = view.verbose > 0;
    let mut sentences = vec![time(report, world)];
    if world.verify {
        sentences.extend(partings(report));
    }
    let threads: Vec<&TestReport> =
        report.tests.iter().filter(|test| test.real_threads.is_some()).collect();
    if let Some(why) = threads.first().and_then(|test| test.real_threads.as_ref()) {
        let ids = ids(&threads, all);
        sentences.push(format!(
            "with real threads and real time: {}: {ids}{}",
            plural(threads.len(), "test"),
            if all { format!(" ({why})") } else { String::new() }
        ));
    }
    let mut sources: BTreeMap<&str, Vec<&TestReport>> = BTreeMap::new();
    for test in &report.tests {
        for source in uncontrolled(test) {
            sources.entry(source).or_default().push(test);
        }
    }
    sentences.extend(sources.into_iter().map(|(source, tests)| {
        let count = plural(tests.len(), "test");
        format!("not controlled: {source}, in {count}: {}", ids(&tests, all))
    }));
    sentences
}

/// Describes the choices of the runs, and how much waiting in virtual time was saved.
fn time(report: &Report, world: &World) -> String {
    let choices = match world.seed {
        None => "every choice in canonical order".to_owned(),
        Some(seed) => format!("every choice drawn from seed {seed}"),
    };
    let saved = report.tests.iter().filter_map(|test| {
        let scheduled = test.scheduled.as_ref()?;
        let runs = world.runs() as u64;
        (runs * scheduled.time_us / 1000).checked_sub(test.elapsed_ms)
    });
    let seconds = saved.sum::<u64>() as f64 / 1e3;
    if seconds < 0.1 {
        choices
    } else {
        format!("{choices}; {seconds:.1} s of waiting in virtual time")
    }
}

/// Describes which tests differed between two equal runs, and where they first did.
fn partings(report: &Report) -> Vec<String> {
    let is_compared = |test: &&TestReport| test.verdict != Verdict::NotRun;
    let compared = report.tests.iter().filter(is_compared).count() as u64;
    let parted: Vec<String> = report
        .tests
        .iter()
        .filter_map(|test| Some(format!("{}: {}", test.id, test.parting.as_ref()?)))
        .collect();
    let head = match parted.len() {
        0 => format!("verified: {} behaved the same in two runs", plural(compared, "test")),
        some => format!("verified: {some} of {} differ", plural(compared, "test")),
    };
    std::iter::once(head).chain(parted).collect()
}

/// Returns what a test used that the tool does not control.
fn uncontrolled(test: &TestReport) -> Vec<&'static str> {
    // Time and threads of a scheduled test are virtual.
    let is_real = test.scheduled.is_none() || test.real_threads.is_some();
    let sources = test.sources.iter();
    let mut found: Vec<&str> = sources
        .filter(|source| is_real || !is_timing_source(**source))
        .map(|source| match source {
            Source::Clock => "the real clock",
            Source::Date => "the date",
            Source::Sleep => "sleep in real time",
            Source::Thread => "real threads",
            Source::Child => "a child process",
            Source::RandomFile => "random bytes of the system",
            Source::ProcessNumber => "the process id",
            Source::Port => "a port that the system chooses",
            Source::System => "memory or load of the machine",
        })
        .collect();
    if !test.hosts.is_empty() {
        found.push("another machine");
    }
    let waits = test.scheduled.as_ref();
    if found.is_empty() && waits.is_some_and(|scheduled| scheduled.outside > 0) {
        found.push("something outside the process");
    }
    found
}
