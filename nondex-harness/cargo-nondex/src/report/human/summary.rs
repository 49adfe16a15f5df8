//! The last lines of a report: the number of tests with each verdict, what was reached, and the
//! cost.

mod details;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use anstream::adapter::strip_str;
use anstyle::{AnsiColor, Style};
use nondex_core::Family;
use nondex_core::model::CATALOGUE;

use super::blame;
use super::cause::Cause;
use super::cost;
use super::count::{named, nonzero};
use super::interleaving::is_deadlock;
use super::outcomes;
use super::state::leaves;
use super::{View, short};
use crate::exit_code::ExitCode;
use crate::report::{Report, TestReport, Timing, Verdict, exit_code, plural};

/// Style of counts.
const BOLD: Style = Style::new().bold();
/// The width in which cargo right-aligns the first word of a line.
const WIDTH: usize = 12;

/// A line of the summary.
#[derive(Clone, Debug)]
pub struct Row {
    /// Style of the word.
    style: Style,
    /// Topic of the line, such as `Summary`; empty if the line continues the topic of the line
    /// before.
    pub word: &'static str,
    /// Styled text.
    message: String,
}

impl Row {
    fn new(style: Style, word: &'static str, message: impl Into<String>) -> Self {
        Row { style, word, message: message.into() }
    }

    /// Creates a line that continues the topic of the line before.
    fn further(message: impl Into<String>) -> Self {
        Row::new(BOLD, "", message)
    }

    /// Returns the text without styles.
    pub fn plain(&self) -> String {
        strip_str(&self.message).to_string()
    }
}

fn bold(color: AnsiColor) -> Style {
    color.on_default().bold()
}

/// Draws lines of the summary.
pub(super) fn draw(text: &mut String, rows: impl IntoIterator<Item = Row>) {
    for Row { style, word, message } in rows {
        let _ = writeln!(text, "{style}{word:>WIDTH$}{style:#} {message}");
    }
}

/// Returns the line with the answer about a change.
pub(super) fn change(report: &Report) -> Option<Row> {
    let answer = blame::answer(&report.tests)?;
    Some(Row::new(bold(color(report)), "Change", answer))
}

/// Returns green if nothing fails the run, and red otherwise.
fn color(report: &Report) -> AnsiColor {
    match exit_code(report) {
        ExitCode::Ok => AnsiColor::Green,
        _ => AnsiColor::Red,
    }
}

/// Returns the lines of the summary.
pub(super) fn rows(report: &Report, causes: &[Cause<'_>], view: &View<'_>) -> Vec<Row> {
    let all = view.verbose > 0;
    let mut rows = Vec::new();
    if !view.quiet {
        let run_alone = (report.summary.run_alone > 0).then(|| run_alone(report, all));
        let notes = report.notes.iter().cloned().chain(run_alone);
        rows.extend(notes.map(|note| Row::new(bold(AnsiColor::Cyan), "Note", note)));
    }
    let overdue = report.overdue.iter().map(ToString::to_string);
    rows.extend(overdue.map(|one| Row::new(bold(AnsiColor::Yellow), "Overdue", one)));
    if report.partial {
        let text = "the run did not finish: unfinished tests are not-run";
        rows.push(Row::new(bold(AnsiColor::Yellow), "Partial", text));
    }
    let seconds = view.elapsed.as_secs_f64();
    let counts = format!("[{seconds:>8.3}s] {}", counts(report, causes));
    rows.push(Row::new(bold(color(report)), "Summary", counts));
    rows.extend(change(report));
    let path = view.report.map(|path| Row::new(Style::new(), "Report", path.as_str()));
    if let Some(world) = &report.run.world {
        let sentences = outcomes::sentences(report, world, view);
        rows.extend(sentences.into_iter().map(Row::further));
        rows.extend(path.filter(|_| !view.quiet));
        return rows;
    }
    rows.push(Row::further(reach(report)));
    if view.quiet {
        return rows;
    }
    let mut sentences = details::levels(report);
    sentences.extend(details::schedules(report, all));
    if let Some(left_out) = cost::left_out(report, all) {
        sentences.push(left_out);
        sentences.extend(cost::expensive(report));
    }
    sentences.extend(details::beyond_seeds(report, all));
    sentences.extend(details::dated(report, all));
    sentences.extend(details::latent(report, all));
    sentences.extend(details::not_idempotent(report, all));
    if all {
        sentences.extend(report.tests.iter().flat_map(leaves));
    }
    rows.extend(sentences.into_iter().map(Row::further));
    if all {
        rows.extend(models(report));
    }
    let is_shortened =
        |test: &TestReport| !test.verdict.passes() && test.verdict != Verdict::NotRun;
    if view.brief && report.tests.iter().any(is_shortened) {
        rows.push(Row::further("cargo nondex report -v shows each finding in full"));
    }
    rows.extend(path);
    rows
}

/// Counts the tests by outcome or verdict, in the terms of the command that ran them.
pub(super) fn counts(report: &Report, causes: &[Cause<'_>]) -> String {
    match &report.run.world {
        Some(_) => outcomes::counts(report),
        None => verdicts(report, causes),
    }
}

/// Returns the number of different builds and environments that decide the outcome of a test.
fn outside_of_runs(tests: &[TestReport]) -> u64 {
    let tests = tests.iter().filter(|test| test.verdict == Verdict::ImplementationDependent);
    let causes = tests.filter_map(|test| match (&test.build, test.environment) {
        (Some(build), _) => Some(build.to_string()),
        (None, Some(environment)) => Some(format!("{environment:?}")),
        (None, None) => None,
    });
    causes.collect::<BTreeSet<_>>().len() as u64
}

/// Counts verdicts: `25 tests: 20 stable (4 verified), 3 ID (2 causes, 1 advice), 2 skipped`.
fn verdicts(report: &Report, causes: &[Cause<'_>]) -> String {
    let summary = &report.summary;
    let causes: Vec<_> = causes.iter().filter(|cause| !cause.is_of_timing()).collect();
    let confirmed = causes.iter().filter(|cause| cause.is_confirmed()).count() as u64;
    let known = causes.iter().filter(|cause| cause.is_known()).count() as u64;
    let of = |holds: &dyn Fn(&TestReport) -> bool| {
        report.tests.iter().filter(|test| holds(test)).count() as u64
    };
    // Threads decide all three. They are told apart as in the headlines of the findings.
    let is_timed = |test: &TestReport| {
        test.reason == Some(Timing::Time) || test.reason.is_some() && test.depends_on_clocks()
    };
    let deadlocks = of(&|test| test.reason.is_some() && is_deadlock(test));
    let timed = of(&|test| is_timed(test) && !is_deadlock(test));
    let races = of(&|test| test.reason.is_some() && !is_timed(test) && !is_deadlock(test));
    let late = of(&|test| test.reason.is_some() && test.advice().is_some());
    let noun = |count: u64, one, many| if count == 1 { one } else { many };
    let nd = [
        (races, noun(races, "race", "races")),
        (deadlocks, noun(deadlocks, "deadlock", "deadlocks")),
        (timed, "time"),
        (late, "advice"),
    ];
    let outside = outside_of_runs(&report.tests);
    let (confirmed, known) = (confirmed + outside, known + outside);
    let id = [
        (confirmed, noun(confirmed, "cause", "causes")),
        (known - confirmed, "suspected"),
        (summary.advice - late, "advice"),
    ];
    let verified = of(&|test| test.verdict == Verdict::Stable && !test.verified.is_empty());
    let of_order = super::order::causes(&report.tests).len() as u64;
    let od = [(of_order, noun(of_order, "cause", "causes"))];
    let stable = [(verified, "verified")];
    // After an interruption, it is unknown whether a test was skipped on purpose. A test with a
    // note has another reason not to run.
    let is_skipped = |test: &TestReport| {
        !report.partial && outcomes::is_skipped(test) && test.runs == 0 && test.notes.is_empty()
    };
    let skipped = of(&is_skipped);
    let counts = [
        (summary.stable, "stable", stable.as_slice()),
        (summary.passed, "passed", &[]),
        (summary.id, "ID", &id),
        (summary.od, "OD", &od),
        (summary.nd, "ND", &nd),
        (summary.ud, "UD", &[]),
        (summary.network, "network", &[]),
        (summary.broken, "broken", &[]),
        (summary.not_run - skipped, "not-run", &[]),
        (skipped, "skipped", &[]),
    ];
    let mut words: Vec<String> = counts
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, word, parts)| {
            let parts = nonzero(parts).join(", ");
            let parts = if parts.is_empty() { parts } else { format!(" ({parts})") };
            format!("{BOLD}{count}{BOLD:#} {word}{parts}")
        })
        .collect();
    // Tests of verdict `network` already have a count.
    let others = summary.sanitised.saturating_sub(summary.network);
    if others > 0 {
        words.push(format!("{BOLD}{others}{BOLD:#} of them sanitised"));
    }
    if summary.known > 0 {
        words.push(format!("{BOLD}{}{BOLD:#} of them known", summary.known));
    }
    let (tests, noun) = (summary.tests, noun(summary.tests, "test", "tests"));
    format!("{BOLD}{tests}{BOLD:#} {noun}: {}", words.join(", "))
}

/// Describes which tests were run alone because other tests disturb them.
fn run_alone(report: &Report, all: bool) -> String {
    let (count, names) = named(report, all, |test| test.run_alone);
    let (whose, were) = match count {
        1 => ("the outcome of 1 test changes".to_owned(), "it was"),
        many => (format!("the outcomes of {many} tests change"), "they were"),
    };
    format!(
        "{whose} when other runs of the campaign come before it or run concurrently, most likely \
         because they share something outside the process, such as a path or the processors; \
         {were} run alone: {names}"
    )
}

/// Describes the reach of the campaign: `12 of 50 models reached (3 switched off), 213 choice
/// points; 87 runs, 40 more implied`.
fn reach(report: &Report) -> String {
    let summary = &report.summary;
    let total: usize = CATALOGUE.iter().map(|model| model.families().len()).sum();
    let off = report.run.models_off.len();
    let on = total.saturating_sub(off);
    let switched_off = match off {
        0 => String::new(),
        off => format!(" ({off} switched off)"),
    };
    let points = plural(summary.choice_points, "choice point");
    let runs = plural(summary.runs, "run");
    let implied = match summary.implied {
        0 => String::new(),
        implied => format!(", {implied} more implied"),
    };
    format!(
        "{} of {on} models reached{switched_off}, {points}; {runs}{implied}",
        summary.models_reached.len()
    )
}

/// Lists by family the models that were reached and, unless the report has only one test, those
/// that never were. A green run is no evidence about the latter.
fn models(report: &Report) -> Vec<Row> {
    let reached = &report.summary.models_reached;
    let off = &report.run.models_off;
    const LISTS: [&str; 3] = ["reached", "never reached", "switched off"];
    let mut lists: BTreeMap<(Family, usize), Vec<&str>> = BTreeMap::new();
    for model in CATALOGUE {
        for family in model.families() {
            let name = model.name(*family);
            let list = if off.contains(&name) {
                2
            } else if reached.contains(&name) {
                0
            } else if report.tests.len() > 1 {
                1
            } else {
                continue;
            };
            lists.entry((*family, list)).or_default().push(short(model.api));
        }
    }
    let row = |((family, list), apis): ((Family, usize), Vec<&str>)| {
        let text = format!("{family}, {}: {}", LISTS[list], apis.join(", "));
        Row::new(Style::new(), "", text)
    };
    lists.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::schema::Scheduled;
    use crate::report::schema::tests::{report, test};

    #[test]
    fn of_what_threads_decide_deadlocks_are_told_apart_from_races() {
        let decided = |end: Option<&str>| TestReport {
            reason: Some(Timing::Race),
            scheduled: Some(Scheduled { end: end.map(str::to_owned), ..Scheduled::default() }),
            ..test(Verdict::NonDeterministic)
        };
        let tests = vec![decided(None), decided(Some("deadlock")), decided(None)];
        let counts = counts(&report(tests), &[]);
        assert_eq!(strip_str(&counts).to_string(), "3 tests: 3 ND (2 races, 1 deadlock, 2 advice)");
    }
}
