//! The report for people: findings that read like rustc's diagnostics, and a summary.
//!
//! What else shows findings, such as annotations in CI, has the same entries as data.
//!
//! Text is styled with ANSI codes; whoever writes it strips them where they are not wanted.

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
mod order;
mod outcomes;
mod proof;
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
pub use self::proof::proof;
pub use self::sources::Sources;
pub use self::state::named as state_name;
pub use self::summary::Row;
pub use self::timing::{Wait, level_meaning, waiting_threads};
pub use self::walk::{Walk, WalkStep};
pub use self::wording::called;
use super::schema::{Report, TestReport, Verdict};

/// What a report is shown with.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Where source lines are read.
    pub sources: &'a Sources,
    /// Where the report was written.
    pub report: Option<&'a Utf8Path>,
    /// How long the whole command took, the build included.
    pub elapsed: Duration,
    /// Whether a finding has only what decides at first sight: its two lines, how often it fails,
    /// what to do, and how to see it again.
    pub brief: bool,
    /// 0: what was found. 1: also every failing run, tests that were not run, and every model.
    pub verbose: u8,
    /// Leave out notes.
    pub quiet: bool,
}

impl<'a> View<'a> {
    /// Short findings, without what is known of the command only.
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

/// The report as styled text, which ends with a newline. The answer about a change comes first,
/// then findings, the most important last, where they are seen; then the summary.
pub fn render(report: &Report, view: &View<'_>) -> String {
    let causes = Cause::of(&report.tests);
    let is_short = |cause: &Cause<'_>| view.brief && cause.is_advice_on_delays();
    let are_many = causes.iter().filter(|cause| is_short(cause)).count() > FULL_ADVICE;
    let is_short = |cause: &Cause<'_>| are_many && is_short(cause);
    let mut entries = weighed(&report.tests, &causes, report.run.strict, view, &is_short);
    entries.sort_by_key(|(weight, _)| *weight);
    let mut text = summary::first_line(report);
    text.extend(entries.into_iter().map(|(_, entry)| entry.text()));
    summary::render(&mut text, report, &causes, view);
    text
}

/// How many tests ended how: `25 tests: 22 stable, 3 ID (2 causes)`, without styles.
pub fn counts(report: &Report) -> String {
    let counts = summary::counts(report, &Cause::of(&report.tests));
    strip_str(&counts).to_string()
}

/// The entries of some tests, the most important first: a list of findings may be cut. Equally
/// important ones have the same order as in the report for people.
pub(super) fn entries<'r, 's>(
    tests: &'r [TestReport],
    strict: bool,
    view: &View<'s>,
) -> Vec<Entry<'r, 's>> {
    let mut entries = weighed(tests, &Cause::of(tests), strict, view, &|_| false);
    entries.sort_by_key(|(weight, _)| Reverse(*weight));
    entries.into_iter().map(|(_, entry)| entry).collect()
}

/// The lines of the summary.
pub fn summary(report: &Report, view: &View<'_>) -> Vec<Row> {
    summary::rows(report, &Cause::of(&report.tests), view)
}

/// The same with how much each asks of the reader. Of advice that `is_short`, no source is shown.
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
        let entry = Entry::Shown {
            tests: cause.tests().to_vec(),
            first: cause.headline_of_first(),
            diagnostic: Box::new(diagnostic),
        };
        entries.push((weight, entry));
    }
    for (order, tests) in order::causes(tests) {
        let weight = weight(Verdict::OrderDependentVictim);
        let diagnostic = order::diagnostic(order, &tests, view);
        entries.push((weight, Entry::shown(tests, diagnostic)));
    }
    for (_, entry) in &mut entries {
        if let Entry::Shown { tests, diagnostic, .. } = entry
            && !strict
            && tests.iter().all(|test| test.is_of_before())
        {
            diagnostic.soften();
        }
    }
    entries
}

/// The text about one test, as by [`render`]; empty for a stable one.
pub fn render_test(test: &TestReport, strict: bool, view: &View<'_>) -> String {
    entries(std::slice::from_ref(test), strict, view).into_iter().map(Entry::text).collect()
}

/// How many pieces of advice on delays are shown with their source: more hide the findings.
const FULL_ADVICE: usize = 3;

/// How much advice asks of the reader.
const ADVICE: u8 = 7;
/// How much a finding does.
const FINDING: u8 = 8;

/// How much a verdict asks of the reader.
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

/// What a verdict means for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// The test passes.
    Good,
    /// Advice, known flakes, and what was not judged.
    Mild,
    /// A finding.
    Bad,
}

impl Tone {
    /// That of a test.
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

/// The style of a test's verdict: green, yellow for advice and what was not judged, red for
/// findings.
pub fn verdict_style(test: &TestReport) -> Style {
    let color = match Tone::of(test) {
        Tone::Good => AnsiColor::Green,
        Tone::Mild => AnsiColor::Yellow,
        Tone::Bad => AnsiColor::Red,
    };
    color.on_default().bold()
}

/// The last two segments of a path: `HashMap::iter`, `fs::read_dir`.
fn short(api: &str) -> &str {
    api.rmatch_indices("::").nth(1).map_or(api, |(at, _)| &api[at + 2..])
}
