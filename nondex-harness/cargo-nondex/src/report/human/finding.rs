//! Findings about one test for which no cause is known.

use std::fmt::Write;

use indexmap::IndexMap;
use nondex_core::{Level, Outcome};

use super::diagnostic::{Diagnostic, Location, Severity};
use super::entry::Entry;
use super::interleaving::is_deadlock;
use super::needed::needed;
use super::{View, state, timing};
use crate::judge::Circumstance;
use crate::report::listing::{self, cut};
use crate::report::{FailureReport, Line, TestReport, Verdict, difference};
use crate::statistics::wilson;

/// Maximum number of lines of a failing run's output, taken from its end.
const OUTPUT_LINES: usize = 40;

/// The same for a brief finding, if no panic shows why the test fails.
const BRIEF_OUTPUT_LINES: usize = 5;

/// Maximum number of characters of a panic message in the label of a brief finding.
const BRIEF_MESSAGE: usize = 60;

/// Maximum number of notes of a brief finding.
const BRIEF_NOTES: usize = 2;

/// Maximum number of lines of a difference, unless the view is verbose.
const DIFFERENCE_LINES: usize = 12;

/// Returns the entry about a test. Returns `None` if the test is stable, if it has a
/// [cause](super::cause), or if it was not run and the view is not verbose.
pub(super) fn entry<'r, 's>(test: &'r TestReport, view: &View<'s>) -> Option<Entry<'r, 's>> {
    let remark = |why: Vec<String>| Some(Entry::remark(test, &why.join("; ")));
    let other = |what: &str| Some(Entry::shown(vec![test], other(test, what, view)));
    if let Some(known) = &test.known {
        return remark(vec![known.to_string()]);
    }
    if test.reason.is_some() && !test.is_sanitised() {
        return None;
    }
    match test.verdict {
        Verdict::ImplementationDependent if !test.is_dependent() => other(&surroundings(test)),
        Verdict::Stable | Verdict::Passed | Verdict::ImplementationDependent => None,
        Verdict::NotRun if test.unjudged => other(&unjudged(test)),
        Verdict::NotRun if view.verbose == 0 && test.failures.is_empty() => None,
        Verdict::NotRun => remark(test.notes.clone()),
        Verdict::Network => {
            let events = test.network.iter().map(ToString::to_string);
            remark(events.chain(test.notes.iter().cloned()).collect())
        }
        _ if test.sanitised_by.is_some() => {
            remark(test.sanitised_by.iter().map(ToString::to_string).collect())
        }
        _ if is_of_order(test) => None,
        Verdict::Broken if is_endless(test) => other("times out in canonical order too"),
        Verdict::Broken => other("fails in canonical order too"),
        Verdict::NonDeterministic => other(&non_deterministic(test)),
        Verdict::OrderDependentVictim => other("fails after another test"),
        Verdict::OrderDependentBrittle => other("fails unless another test ran before"),
        Verdict::Unknown if test.is_to_be_searched() => {
            other("is flaky, and its cause was not searched")
        }
        Verdict::Unknown => other("is flaky for an unknown reason"),
    }
}

/// Returns whether every listed failure is a timeout.
fn is_endless(test: &TestReport) -> bool {
    let mut failures = test.failures.iter();
    !test.failures.is_empty() && failures.all(|failure| failure.outcome == Outcome::TimedOut)
}

/// Describes a dependency that is the same in every run: the build, or a part of the environment.
fn surroundings(test: &TestReport) -> String {
    if let Some(build) = &test.build {
        return format!("depends on how it was built: {build}");
    }
    let part = test.environment.and_then(Circumstance::part);
    format!("depends on {}", part.unwrap_or("its environment"))
}

/// Describes why a test that was run is not judged.
fn unjudged(test: &TestReport) -> String {
    if let Some(build) = &test.build {
        return format!("may depend on how it was built: {build}");
    }
    let why = if test.failures.is_empty() {
        "could not be started in some of its runs"
    } else if test.fails_in_canonical_order() && test.plain.is_none() {
        "fails in canonical order and is not judged"
    } else {
        "fails only with this tool"
    };
    why.to_owned()
}

/// Describes how a test differs between runs. A race with another test is repeatable if both tests
/// stop at the same accesses, so it has a separate text.
fn non_deterministic(test: &TestReport) -> String {
    match &test.race {
        None if test.environment.is_some() => surroundings(test),
        None => "differs between runs with the same choices".to_owned(),
        Some(race) if race.pause_at.is_some() => {
            format!("fails when it is interleaved with `{}`", race.with)
        }
        Some(race) if race.inner => format!("fails when it runs in the middle of `{}`", race.with),
        Some(race) => format!("fails when `{}` runs in the middle of it", race.with),
    }
}

/// Returns whether the test is drawn with the tests that it depends on.
pub(super) fn is_of_order(test: &TestReport) -> bool {
    test.verdict.is_of_order() && !test.is_sanitised() && test.order.is_some()
}

/// Adds notes about the failure rates at each level, and the message of the run to reproduce. A
/// verbose view has the message of every failing run.
pub(super) fn failures(diagnostic: &mut Diagnostic<'_>, test: &TestReport, view: &View<'_>) {
    // Such a test fails in every run without other tests, so rates say nothing.
    let fails_everywhere = matches!(test.verdict, Verdict::Broken | Verdict::OrderDependentBrittle);
    let is_informative = !fails_everywhere && (test.plain.is_none() || test.is_dependent());
    if let Some(rates) = rates(test).filter(|_| is_informative) {
        let confidence = if test.needs_schedule() { "" } else { " with 95 % confidence" };
        let meaning = match (view.brief, test.is_flaky_today()) {
            (true, true) => ": flaky today, now reproducible",
            (true, false) => "",
            (false, _) => confidence,
        };
        diagnostic.note("failures", &format!("{rates}{meaning}"));
    }
    let primary = shown_failure(test).map_or(&[][..], std::slice::from_ref);
    let shown = match view.verbose {
        0 => primary,
        _ => &test.failures,
    };
    let place = failing_place(test, view).filter(|_| view.brief);
    // If the failing line is shown, its label already has the first line of the message.
    let is_marked = place.is_some_and(|(file, line, _)| diagnostic.has_marked(file, line));
    if is_marked || view.brief && timing::has_waits(test) {
        return;
    }
    let mut alike: IndexMap<_, Vec<&FailureReport>> = IndexMap::new();
    for failure in shown {
        let place = (&failure.file, failure.line);
        let run = (failure.level, failure.seed.is_some(), &failure.before);
        alike.entry((run, place, &failure.message)).or_default().push(failure);
    }
    for failures in alike.values() {
        let full = match place {
            Some((file, line, _)) => {
                let first = failures[0].message.trim().lines().next().unwrap_or_default();
                format!("at {file}:{line}: {first}")
            }
            None => message(test, failures),
        };
        let most = if view.brief { BRIEF_OUTPUT_LINES } else { usize::MAX };
        let text: Vec<&str> = full.lines().take(most).collect();
        diagnostic.note("message", &text.join("\n"));
    }
}

/// Returns the label of the failing line. A brief finding includes the first line of the message.
pub(super) fn fails_here(what: &str, test: &TestReport, view: &View<'_>) -> String {
    let first = shown_failure(test).and_then(|failure| failure.message.trim().lines().next());
    match first.filter(|_| view.brief) {
        None => what.to_owned(),
        Some(first) => format!("{what}: {}", cut(first, BRIEF_MESSAGE)),
    }
}

/// Returns the failing run to show: the reproduced one, since other seeds may fail at other places.
fn shown_failure(test: &TestReport) -> Option<&FailureReport> {
    let primary = test.replay.as_ref().and_then(|made| made.primary.as_ref());
    let is_primary = |failure: &&FailureReport| primary.is_some() && failure.id.as_ref() == primary;
    test.failures.iter().find(is_primary).or(test.failures.first())
}

/// Returns the failure rates at each level with Wilson's 95 % interval: `STD 0 of 10 (0 to 28 %),
/// ONE 3 of 10 (11 to 60 %)`. Schedules are not random samples, so their share of failures is not a
/// probability: `STD 6 of 10 schedules tried; needs a delay of 219 ns`.
pub(super) fn rates(test: &TestReport) -> Option<String> {
    if test.needs_schedule() {
        return schedules(test);
    }
    let rate = |level: &Level| {
        let [failed, runs] = *test.failure_rate.get(level)?;
        let [low, high] = wilson(failed, runs).map(|bound| bound * 100.0);
        Some(format!("{level} {failed} of {runs} ({low:.0} to {high:.0} %)"))
    };
    let rates: Vec<String> = Level::ALL.iter().filter_map(rate).collect();
    (!rates.is_empty()).then(|| rates.join(", "))
}

/// Returns the numbers of failing and tried schedules at each level, and the delay they need.
fn schedules(test: &TestReport) -> Option<String> {
    let rates = test.failure_rate.iter();
    let tried: Vec<String> =
        rates.map(|(level, [failed, runs])| format!("{level} {failed} of {runs}")).collect();
    (!tried.is_empty()).then(|| format!("{} schedules tried; {}", tried.join(", "), needed(test)))
}

/// Formats the message that failing runs share, with their specs and place.
fn message(test: &TestReport, failures: &[&FailureReport]) -> String {
    let failure = failures[0];
    let seeds: Vec<u64> = failures.iter().filter_map(|failure| failure.seed).collect();
    let mut message = match (failure.level, seeds.as_slice()) {
        (Some(level), [seed]) => format!("{level}, seed {seed}"),
        (Some(level), [_, ..]) => format!("{level}, seeds {}", listing::seeds(&seeds)),
        // Only a plain build fails.
        _ if test.verdict == Verdict::Unknown && failure.id.is_none() => "plain run".to_owned(),
        _ if failure.before.is_empty() => "clean run".to_owned(),
        _ if test.race.is_some() => {
            format!("at the same time as `{}`", failure.before.join("`, `"))
        }
        _ => format!("after `{}`", failure.before.join("`, `")),
    };
    if let (Some(file), Some(line)) = (&failure.file, failure.line) {
        let _ = write!(message, ", at {file}:{line}");
    }
    let text = failure.message.trim_end();
    // A message of several lines, such as assert_eq's, starts on a new line.
    let separator = if text.contains('\n') { '\n' } else { ' ' };
    format!("{message}:{separator}{text}")
}

/// Adds notes about the difference between the outputs of a failing and a passing run. A verbose
/// view also has the end of the failing run's output.
pub(super) fn output(diagnostic: &mut Diagnostic<'_>, test: &TestReport, view: &View<'_>) {
    // For a deadlock, the report shows what each thread waits for instead of the output.
    if let Some(difference) = test.difference.as_ref().filter(|_| !is_deadlock(test)) {
        let is_short = difference.lines().count() <= DIFFERENCE_LINES;
        let mut changes = difference.lines().filter(|line| !line.starts_with("@@"));
        // A difference with only added lines repeats the output, which a verbose view shows.
        let is_more = view.verbose > 0 && changes.any(|line| !line.starts_with('+'));
        if (is_short || is_more) && !view.brief {
            let difference = format!("of the output: - passing run, + failing run\n{difference}");
            diagnostic.note("difference", &difference);
        }
    }
    if view.verbose > 0 {
        last_output(diagnostic, test, OUTPUT_LINES);
    }
}

/// Adds a note with the last lines of the failing run's output. They do not repeat the message.
fn last_output(diagnostic: &mut Diagnostic<'_>, test: &TestReport, most: usize) {
    let message = shown_failure(test).map_or("", |failure| failure.message.trim_end());
    let output = difference::without_report(test.output.as_deref().unwrap_or_default(), message);
    let lines: Vec<&str> = output.trim_end().lines().collect();
    if lines.is_empty() {
        return;
    }
    let skipped = lines.len().saturating_sub(most);
    let what = match skipped {
        0 => "of the failing run".to_owned(),
        _ => format!("of the failing run, its last {most} lines"),
    };
    diagnostic.note("output", &format!("{what}\n{}", lines[skipped..].join("\n")));
}

/// Adds the test's notes and the command to reproduce the failure.
pub(super) fn close(diagnostic: &mut Diagnostic<'_>, test: &TestReport, view: &View<'_>) {
    let most = if view.brief { BRIEF_NOTES } else { test.notes.len() };
    for sentence in test.notes.iter().take(most) {
        diagnostic.note("note", sentence);
    }
    if let Some(reproduce) = &test.reproduce {
        diagnostic.note("reproduce", reproduce);
    }
}

/// Returns the user's line at which the test fails, if its source is available. The run that has
/// only the culprits' choices takes precedence over the failing run that is shown.
pub(super) fn failing_place<'r>(test: &'r TestReport, view: &View<'_>) -> Option<Location<'r>> {
    let explained = test.interleaving.as_ref().and_then(|found| found.failed.as_ref());
    let (file, line) = match explained {
        Some(Line { file, line }) => (file.as_str(), *line),
        None => {
            let failure = shown_failure(test)?;
            (failure.file.as_deref()?, failure.line?)
        }
    };
    let is_shown = view.sources.is_users(file) && view.sources.has(file, line);
    is_shown.then_some((file, line, None))
}

/// Marks the line at which a test fails or, if that is unknown, the line at which the test begins.
pub(super) fn mark(diagnostic: &mut Diagnostic<'_>, test: &TestReport, view: &View<'_>) {
    if let Some(place) = failing_place(test, view) {
        diagnostic.primary(place, fails_here("it fails here", test, view));
    } else if let (Some(file), Some(line)) = (&test.file, test.line) {
        diagnostic.primary((file, line, None), String::new());
    }
}

/// Draws a verdict without a culprit: the place of the test, and the output of the failing run.
fn other<'s>(test: &TestReport, what: &str, view: &View<'s>) -> Diagnostic<'s> {
    let severity = match test.verdict {
        Verdict::NotRun => Severity::Warning,
        _ => Severity::Error,
    };
    let headline = match timing::ends(test) {
        Some(end) => format!("`{}` {what}: {end}", test.id),
        None => format!("`{}` {what}", test.id),
    };
    let mut diagnostic = Diagnostic::new(view, severity, test.verdict, headline);
    let has_waits = view.brief && timing::mark_waits(&mut diagnostic, test);
    // A brief finding has few lines, and the two sides of a race are better evidence than the
    // failure.
    if let Some(race) = test.race.as_ref().filter(|_| view.brief) {
        state::lines(&mut diagnostic, &race.state, &test.name);
    }
    // The lines where threads wait are better evidence than the line at which the test begins.
    if !has_waits {
        mark(&mut diagnostic, test, view);
    }
    if let Some(race) = test.race.as_ref().filter(|_| !view.brief) {
        state::lines(&mut diagnostic, &race.state, &test.name);
    }
    if !has_waits {
        timing::waits(&mut diagnostic, test);
    }
    failures(&mut diagnostic, test, view);
    if let Some(race) = &test.race {
        diagnostic.note("state", &state::raced_for(&race.state));
    }
    // These findings already have a text about the failure.
    let is_explained = is_deadlock(test) || has_waits || test.race.is_some();
    if view.verbose == 0 && !is_explained {
        let is_panic = shown_failure(test).is_some_and(|failure| failure.file.is_some());
        match (view.brief, is_panic) {
            (false, _) => last_output(&mut diagnostic, test, OUTPUT_LINES),
            (true, false) => last_output(&mut diagnostic, test, BRIEF_OUTPUT_LINES),
            (true, true) => {}
        }
    }
    output(&mut diagnostic, test, view);
    close(&mut diagnostic, test, view);
    diagnostic
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;

    use super::*;
    use crate::report::human::{Sources, render_test};

    #[test]
    fn runs_that_fail_alike_have_one_message() {
        let failed = |level, seed, message: &str| FailureReport {
            level: Some(level),
            seed: Some(seed),
            message: message.to_owned(),
            ..FailureReport::clean(Outcome::Failed)
        };
        let mut test = TestReport::new("shop", "shop", "adds");
        test.verdict = Verdict::NonDeterministic;
        test.failures = vec![
            failed(Level::Std, 3, "left"),
            failed(Level::Std, 4, "right"),
            failed(Level::Std, 7, "left"),
            failed(Level::One, 3, "left"),
        ];
        let sources = Sources::new(Utf8Path::new("/nonexistent"), None);
        let text =
            render_test(&test, false, &View { brief: false, verbose: 1, ..View::brief(&sources) });
        let plain = anstream::adapter::strip_str(&text).to_string();
        let fields = plain.lines().filter_map(|line| line.split_once("message: "));
        let messages: Vec<&str> = fields.map(|(_, message)| message).collect();
        assert_eq!(messages, ["STD, seeds 3,7: left", "STD, seed 4: right", "ONE, seed 3: left"]);
    }

    #[test]
    fn the_headline_of_a_test_that_never_ends_is_that_it_times_out() {
        let headline = |outcomes: &[Outcome]| {
            let mut test = TestReport::new("shop", "shop", "loops");
            test.verdict = Verdict::Broken;
            test.failures = outcomes.iter().cloned().map(FailureReport::clean).collect();
            let sources = Sources::new(Utf8Path::new("/nonexistent"), None);
            let text = render_test(&test, false, &View::brief(&sources));
            let plain = anstream::adapter::strip_str(&text).to_string();
            plain.lines().next().unwrap().to_owned()
        };
        let never = headline(&[Outcome::TimedOut, Outcome::TimedOut]);
        assert_eq!(never, "error[broken]: `shop$loops` times out in canonical order too");
        let fails = headline(&[Outcome::TimedOut, Outcome::Failed]);
        assert_eq!(fails, "error[broken]: `shop$loops` fails in canonical order too");
    }
}
