//! The report for people: findings that read like rustc's diagnostics, and a summary.
//!
//! Other renderers of findings, such as annotations in CI, use the same entries as data.
//!
//! Text is styled with ANSI codes. The writer of the text strips them where they are unsupported.

mod blame;
mod cause;
mod cost;
mod count;
mod delay;
mod diagnostic;
mod entry;
mod finding;
mod fixes;
mod interleaving;
mod needed;
mod order;
mod outcomes;
mod sources;
mod state;
mod summary;
mod timing;
mod walk;
mod wording;
pub mod words;

use std::cmp::Reverse;
use std::time::Duration;

use anstream::adapter::strip_str;
use anstyle::{AnsiColor, Style};
use camino::Utf8Path;

use self::cause::Cause;
pub use self::diagnostic::Severity;
pub(super) use self::diagnostic::{Diagnostic, Mark, Note, span};
pub(super) use self::entry::Entry;
pub use self::sources::Sources;
pub use self::state::named as state_name;
pub use self::summary::Row;
pub use self::timing::{ThreadWait, level_meaning, waiting_threads};
pub use self::walk::{WalkStep, Walkthrough};
pub use self::wording::{called, proof};
use super::schema::{Report, TestReport, Verdict};

/// The options and context for showing a report.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Reader of source lines.
    pub sources: &'a Sources,
    /// Path of the written report.
    pub report: Option<&'a Utf8Path>,
    /// Duration of the whole command, including the build.
    pub elapsed: Duration,
    /// Whether findings are brief: the two most important lines, the failure rate, the advice, and
    /// the command to reproduce it.
    pub brief: bool,
    /// 0: what was found. 1: also every failing run, tests that were not run, and every model.
    pub verbose: u8,
    /// Whether notes are left out.
    pub quiet: bool,
}

impl<'a> View<'a> {
    /// Returns a view with brief findings, for reports without data about the command.
    pub const fn brief(sources: &'a Sources) -> Self {
        View {
            sources,
            report: None,
            elapsed: Duration::ZERO,
            brief: true,
            verbose: 0,
            quiet: false,
        }
    }
}

/// Renders the report as styled text that ends with a newline. The answer about a change comes
/// first. The findings follow, the most important last, so that they stay visible in a terminal.
/// The summary is at the end.
pub fn render(report: &Report, view: &View<'_>) -> String {
    let causes = Cause::of(&report.tests);
    let is_delay_advice = |cause: &Cause<'_>| view.brief && cause.is_advice_on_delays();
    let are_many = causes.iter().filter(|cause| is_delay_advice(cause)).count() > FULL_ADVICE;
    let is_short = |cause: &Cause<'_>| are_many && is_delay_advice(cause);
    let mut entries = weighed(&report.tests, &causes, report.run.strict, view, &is_short);
    entries.sort_by_key(|(weight, _)| *weight);
    let mut text = String::new();
    summary::draw(&mut text, summary::change(report));
    text.extend(entries.into_iter().map(|(_, entry)| entry.text()));
    summary::draw(&mut text, summary::rows(report, &causes, view));
    text
}

/// Returns the number of tests with each verdict, without styles: `25 tests: 22 stable, 3 ID (2
/// causes)`.
pub fn counts(report: &Report) -> String {
    let counts = summary::counts(report, &Cause::of(&report.tests));
    strip_str(&counts).to_string()
}

/// Returns the entries of some tests, the most important first, because a list of findings may be
/// truncated. Equally important entries have the same order as in the report for people.
pub(super) fn entries<'r, 's>(
    tests: &'r [TestReport],
    strict: bool,
    view: &View<'s>,
) -> Vec<Entry<'r, 's>> {
    let mut entries = weighed(tests, &Cause::of(tests), strict, view, &|_| false);
    entries.sort_by_key(|(weight, _)| Reverse(*weight));
    entries.into_iter().map(|(_, entry)| entry).collect()
}

/// Returns the lines of the summary.
pub fn summary(report: &Report, view: &View<'_>) -> Vec<Row> {
    summary::rows(report, &Cause::of(&report.tests), view)
}

/// Returns the entries with their weights. Advice for which `is_short` holds comes without source
/// lines.
fn weighed<'r, 's>(
    tests: &'r [TestReport],
    causes: &[Cause<'r>],
    strict: bool,
    view: &View<'s>,
    is_short: &dyn Fn(&Cause<'_>) -> bool,
) -> Vec<(u8, Entry<'r, 's>)> {
    let mut entries: Vec<(u8, Entry<'r, 's>)> = Vec::new();
    for test in tests {
        let weight =
            if test.is_excused() { weight(Verdict::Network) } else { weight(test.verdict) };
        entries.extend(finding::entry(test, view).map(|entry| (weight, entry)));
    }
    for cause in causes {
        let weight = if cause.advice().is_some() { ADVICE } else { FINDING };
        let diagnostic = if !strict && is_short(cause) {
            cause.short_advice(view)
        } else {
            cause.diagnostic(strict, view)
        };
        let first = cause.headline_of_first();
        let entry = Entry { first, ..Entry::shown(cause.tests().to_vec(), diagnostic) };
        entries.push((weight, entry));
    }
    for (order, tests) in order::causes(tests) {
        let weight = weight(Verdict::OrderDependentVictim);
        let diagnostic = order::diagnostic(order, &tests, view);
        entries.push((weight, Entry::shown(tests, diagnostic)));
    }
    for (_, entry) in &mut entries {
        if let Some(diagnostic) = &mut entry.diagnostic
            && !strict
            && entry.tests.iter().all(|test| test.is_of_before())
        {
            diagnostic.soften();
        }
    }
    entries
}

/// Renders the text about one test like [`render`]. Returns an empty text for a stable test.
pub fn render_test(test: &TestReport, strict: bool, view: &View<'_>) -> String {
    entries(std::slice::from_ref(test), strict, view).into_iter().map(Entry::text).collect()
}

/// Maximum number of pieces of advice on delays with source lines. More would hide the findings.
const FULL_ADVICE: usize = 3;

/// Weight of advice.
const ADVICE: u8 = 7;
/// Weight of a finding.
const FINDING: u8 = 8;

/// Returns the weight of a verdict: how much attention it needs.
pub(super) const fn weight(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Stable | Verdict::Passed => 0,
        Verdict::NotRun => 1,
        Verdict::Network => 2,
        Verdict::Broken => 3,
        Verdict::Unknown => 4,
        Verdict::NonDeterministic => 5,
        Verdict::OrderDependentVictim | Verdict::OrderDependentBrittle => 6,
        Verdict::ImplementationDependent => FINDING,
    }
}

/// How good or bad a test's verdict is for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// The test passes.
    Good,
    /// Advice, known flakes, and tests that were not judged.
    Mild,
    /// A finding.
    Bad,
}

impl Tone {
    /// Returns the tone of a test.
    pub fn of(test: &TestReport) -> Self {
        match test.verdict {
            Verdict::Stable | Verdict::Passed if test.parting.is_some() => Tone::Mild,
            Verdict::Stable | Verdict::Passed => Tone::Good,
            Verdict::NotRun | Verdict::Network => Tone::Mild,
            _ if test.is_excused() || test.advice().is_some() => Tone::Mild,
            _ => Tone::Bad,
        }
    }
}

/// Returns the style of a test's verdict: green, red for findings, or yellow for advice and tests
/// that were not judged.
pub fn verdict_style(test: &TestReport) -> Style {
    let color = match Tone::of(test) {
        Tone::Good => AnsiColor::Green,
        Tone::Mild => AnsiColor::Yellow,
        Tone::Bad => AnsiColor::Red,
    };
    color.on_default().bold()
}

/// Returns the last two segments of a path: `HashMap::iter`, `fs::read_dir`.
fn short(api: &str) -> &str {
    api.rmatch_indices("::").nth(1).map_or(api, |(at, _)| &api[at + 2..])
}
