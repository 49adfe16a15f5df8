//! The report for people: findings that read like rustc's diagnostics, and a summary.
//!
//! Text is styled with ANSI codes; whoever writes it strips them where they are not wanted.

mod diagnostic;
mod finding;
mod summary;

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use camino::Utf8Path;

use super::schema::{Report, TestReport, Verdict};

/// What a report is shown with.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The root of the workspace: where source lines are read.
    pub workspace_root: &'a Utf8Path,
    /// Where the report was written.
    pub report: Option<&'a Utf8Path>,
    /// How long the whole command took, the build included.
    pub elapsed: Duration,
    /// 0: what was found. 1: also every failing run, tests that were not run, and every model.
    pub verbose: u8,
    /// Leave out notes.
    pub quiet: bool,
}

/// The report as styled text, which ends with a newline. Findings come first, the most important last, where they are
/// seen; then the summary.
#[must_use]
pub fn render(report: &Report, view: &View<'_>) -> String {
    let mut text = String::new();
    let mut tests: Vec<&TestReport> = report
        .tests
        .iter()
        .filter(|test| test.verdict != Verdict::Stable)
        .collect();
    tests.sort_by_key(|test| weight(test));
    for test in tests {
        text.push_str(&finding::render(test, report.run.strict, view));
    }
    summary::render(&mut text, report, view);
    text
}

/// How much a test's verdict asks of the reader.
fn weight(test: &TestReport) -> u8 {
    match test.verdict {
        Verdict::Stable => 0,
        Verdict::NotRun => 1,
        Verdict::Network => 2,
        Verdict::Broken => 3,
        Verdict::Unknown => 4,
        Verdict::NonDeterministic => 5,
        Verdict::OrderDependentVictim | Verdict::OrderDependentBrittle => 6,
        Verdict::ImplementationDependent if test.is_full_only() => 7,
        Verdict::ImplementationDependent => 8,
    }
}

/// The style of a test's verdict: green, yellow for advice and what was not judged, red for findings.
#[must_use]
pub fn verdict_style(test: &TestReport) -> Style {
    let color = match test.verdict {
        Verdict::Stable => AnsiColor::Green,
        Verdict::NotRun | Verdict::Network => AnsiColor::Yellow,
        Verdict::ImplementationDependent if test.is_full_only() => AnsiColor::Yellow,
        _ => AnsiColor::Red,
    };
    color.on_default().bold()
}

/// The last two segments of a path: `HashMap::iter`, `fs::read_dir`.
fn short(api: &str) -> &str {
    let mut separators = api.rmatch_indices("::");
    separators.nth(1).map_or(api, |(at, _)| &api[at + 2..])
}
