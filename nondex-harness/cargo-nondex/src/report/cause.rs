//! What makes a test flaky, as text that stays the same while the surrounding code changes.

use super::human::Sources;
use super::schema::TestReport;

/// Returns the cause of a flaky test's failures, sorted: the responsible calls, or the tests that
/// it depends on, or else where it panics. A line of the user's source is identified by its text,
/// so that new lines before it do not change the cause.
pub fn cause(test: &TestReport, sources: &Sources) -> Vec<String> {
    let at = |file: &str, line: u32| match sources.line(file, line) {
        Some(text) => format!("{file}: {}", text.trim()),
        None => format!("{file}:{line}"),
    };
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
    if found.is_empty()
        && let Some(failure) = test.failures.first()
    {
        found.push(match (&failure.file, failure.line) {
            (Some(file), Some(line)) => format!("panic at {}", at(file, line)),
            _ => failure.message.lines().next().unwrap_or_default().to_owned(),
        });
    }
    found.sort();
    found.dedup();
    found
}
