//! What makes a test flaky, as text that stays the same while the surrounding code changes.

use super::human::Sources;
use super::schema::{TestReport, Verdict};
use crate::judge::timing::is_of_timing;

/// Returns the cause of a flaky test's failures, sorted: the responsible calls, or the tests that
/// it depends on, or else where it panics. A line of the user's source is identified by its text,
/// so that new lines before it do not change the cause.
pub fn cause(test: &TestReport, sources: &Sources) -> Vec<String> {
    let at = |file: &str, line: u32| place(sources, file, line);
    let mut found: Vec<String> = Vec::new();
    if let Some(order) = test.order.as_ref().filter(|_| test.verdict.is_of_order()) {
        let named = |role: &str, names: &[String]| -> Vec<String> {
            names.iter().map(|name| format!("{role} {name}")).collect()
        };
        found.extend(named("polluter", &order.polluters));
        found.extend(named("setter", &order.setters));
    } else {
        found.extend(test.culprits.iter().map(|culprit| {
            let (file, line, _) = culprit.place();
            format!("{} at {}", culprit.api, at(file, line))
        }));
    }
    if found.is_empty() {
        found.extend(failure(test, sources));
    }
    found.sort();
    found.dedup();
    found
}

/// Returns texts that other seeds may have in common with this one, sorted, if delays make the test
/// fail. Under each seed, another call of the same threads may be delayed. So these are the lines
/// on both sides of a race, and the failure.
pub fn shared_by_seeds(test: &TestReport, sources: &Sources) -> Vec<String> {
    let mut culprits = test.culprits.iter();
    let is_delayed =
        test.verdict == Verdict::NonDeterministic && culprits.all(|one| is_of_timing(one.family));
    if !is_delayed || test.culprits.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<String> = failure(test, sources).into_iter().collect();
    if let Some(interleaving) = &test.interleaving {
        let conflicts = interleaving.conflicts.iter();
        let steps = conflicts.flat_map(|one| [one.before, Some(one.meanwhile), one.after]);
        found.extend(steps.flatten().filter_map(|step| {
            let step = interleaving.steps.get(step)?;
            Some(format!("race at {}", place(sources, step.file.as_ref()?, step.line?)))
        }));
    }
    found.sort();
    found.dedup();
    found
}

/// Returns where the test fails, or its message.
fn failure(test: &TestReport, sources: &Sources) -> Option<String> {
    let failure = test.failures.first()?;
    Some(match (&failure.file, failure.line) {
        (Some(file), Some(line)) => format!("panic at {}", place(sources, file, line)),
        _ => failure.message.lines().next().unwrap_or_default().to_owned(),
    })
}

/// Returns a line of the user's source by its text.
fn place(sources: &Sources, file: &str, line: u32) -> String {
    match sources.line(file, line) {
        Some(text) => format!("{file}: {}", text.trim()),
        None => format!("{file}:{line}"),
    }
}
