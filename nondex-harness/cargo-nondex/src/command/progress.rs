//! Progress of a campaign: a bar on a terminal, plain lines otherwise.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nondex_core::{CoveredRecord, Outcome, RunSpec};

use super::console::Console;
use super::coverage::Coverage;
use super::events::Events;
use crate::campaign::Progress;
use crate::locked::Locked;
use crate::report::human::{verdict_style, words};
use crate::report::stream::{self, Stage};
use crate::report::{TestReport, Verdict, plural};

/// Minimum time between plain lines of progress.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Interval at which the bar is redrawn, so that a slow test does not look like a hang.
const TICK: Duration = Duration::from_millis(500);

/// Display of a campaign's progress on a console.
pub(super) struct Display<'a> {
    console: &'a Console,
    bar: Option<ProgressBar>,
    counts: Mutex<Counts>,
    /// Collector of the lines that tests run, if they are recorded.
    pub(super) coverage: Option<&'a Coverage>,
    /// Packages whose tests are not yet shown as broken or not run, because their builds are
    /// compared later.
    pub(super) undecided: BTreeSet<String>,
    /// Whether every test has a line, as in nextest.
    pub(super) has_all: bool,
    /// Whether every seed is tried, also after the time for exploring.
    pub(super) every_seed: bool,
    /// Events for a program that reads along.
    pub(super) events: Option<(&'a Events<'a>, Stage)>,
    /// Function that decides whether a test fails the run.
    pub(super) is_failure: Option<&'a (dyn Fn(&TestReport) -> bool + Sync)>,
}

struct Counts {
    /// Number of tests of which the executor reported that they are explored.
    explored: usize,
    /// Number of tests that are judged.
    judged: usize,
    /// Total number of tests.
    tests: usize,
    /// Number of runs that ended.
    runs: u64,
    /// Whether a run failed and must be explained.
    has_failed: bool,
    /// Time that is left for exploration, if it is limited.
    left: Option<Duration>,
    /// Step of a search for test orders, and the number of its requested runs that have not ended.
    step: Option<(&'static str, usize)>,
    /// Time of the last plain line.
    last_line: Instant,
}

impl<'a> Display<'a> {
    /// Creates a display for a campaign with this number of tests. The number of runs is not known
    /// in advance.
    pub(super) fn new(console: &'a Console, tests: usize) -> Self {
        Display {
            console,
            bar: bar(console, tests),
            counts: Mutex::new(Counts {
                explored: 0,
                judged: 0,
                tests,
                runs: 0,
                has_failed: false,
                left: None,
                step: None,
                last_line: Instant::now(),
            }),
            coverage: None,
            undecided: BTreeSet::new(),
            has_all: false,
            every_seed: false,
            events: None,
            is_failure: None,
        }
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Moves the bar to the number of tests that are explored.
    fn move_bar(&self, counts: &Counts) {
        if let Some(bar) = &self.bar {
            bar.set_position(counts.done() as u64);
        }
    }

    /// Writes a line above the bar.
    fn line(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(self.console.shown(line)),
            None => self.console.folded(&format!("{line}\n")),
        }
    }
}

impl Progress for Display<'_> {
    fn started(&self, test_id: &str, _spec: &RunSpec) {
        if let Some((events, _)) = self.events {
            events.started(test_id);
        }
        if let Some(coverage) = self.coverage {
            coverage.begin(test_id);
        }
        if let Some(bar) = &self.bar {
            let counts = self.counts.locked();
            let runs = plural(counts.runs, "run");
            let left = counts.still(self.every_seed);
            bar.set_message(format!("{runs}{left}: {test_id}"));
        }
    }

    fn left(&self, left: Option<Duration>) {
        self.counts.locked().left = left;
    }

    fn step(&self, step: &'static str) {
        self.counts.locked().step = Some((step, 0));
    }

    fn requested(&self, runs: usize) {
        if let Some((_, open)) = &mut self.counts.locked().step {
            *open = runs;
        }
    }

    fn finished(&self, test_id: &str, _spec: &RunSpec, outcome: &Outcome) {
        if let Some(coverage) = self.coverage {
            coverage.end(test_id);
        }
        let mut counts = self.counts.locked();
        counts.runs += 1;
        counts.has_failed |= !outcome.passed();
        if let Some((_, open)) = &mut counts.step {
            *open = open.saturating_sub(1);
        }
        if let Some((events, stage)) = self.events {
            events.progress(stream::Counts {
                stage,
                judged: counts.judged,
                tests: counts.tests,
                runs: counts.runs,
            });
        }
        if self.bar.is_none() && counts.last_line.elapsed() >= LINE_INTERVAL {
            counts.last_line = Instant::now();
            let Counts { tests, runs, .. } = *counts;
            let explored = counts.done();
            let runs = plural(runs, "run");
            let left = counts.still(self.every_seed);
            let message = format!("{explored} of {tests} tests explored after {runs}{left}");
            self.console.status("Running", &message);
        }
    }

    fn covered(&self, test_id: &str, covered: &[CoveredRecord]) {
        if let Some(coverage) = self.coverage {
            coverage.add(test_id, covered);
        }
    }

    fn comparing(&self, tests: usize) {
        if self.console.quiet {
            return;
        }
        let tests = plural(tests, "test");
        self.line(&format!("{:>12} a plain build, to rerun {tests} that failed here", "Building"));
    }

    fn is_failure(&self, test: &TestReport) -> bool {
        self.is_failure.is_some_and(|is_failure| is_failure(test))
    }

    fn cancelled(&self) {
        self.line(&format!(
            "{:>12} due to test failure: --no-fail-fast runs all tests",
            "Cancelling"
        ));
    }

    fn explored(&self) {
        let mut counts = self.counts.locked();
        counts.explored += 1;
        self.move_bar(&counts);
    }

    fn judged(&self, test: &TestReport) {
        let mut counts = self.counts.locked();
        counts.judged += 1;
        self.move_bar(&counts);
        let (judged, tests) = (counts.judged, counts.tests);
        // Events and lines may block on a slow reader. Release the lock first.
        drop(counts);
        let is_open = test.verdict == Verdict::Broken || test.unjudged;
        let is_undecided = is_open && self.undecided.contains(&test.package);
        if let Some((events, stage)) = self.events.filter(|_| !is_undecided) {
            events.judged(test, stage);
        }
        let line = if self.has_all {
            outcome_of(test, judged, tests, self.console)
        } else {
            line_of(test, self.console)
        };
        if !is_undecided && let Some(line) = line {
            self.line(&line);
        }
    }
}

/// Creates a bar for this number of tests, if there is a terminal.
fn bar(console: &Console, tests: usize) -> Option<ProgressBar> {
    if !io::stderr().is_terminal() || console.quiet {
        return None;
    }
    let prefix = if console.has_colors() { "{prefix:>12.green.bold}" } else { "{prefix:>12}" };
    let template =
        format!("{prefix} [{{elapsed_precise}}] [{{bar:25}}] {{pos}}/{{len}} tests, {{wide_msg}}");
    let style = ProgressStyle::with_template(&template)
        .map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("=> "));
    let target = ProgressDrawTarget::stderr();
    let bar = ProgressBar::with_draw_target(Some(tests as u64), target)
        .with_style(style)
        .with_prefix("Running");
    bar.enable_steady_tick(TICK);
    Some(bar)
}

impl Counts {
    /// Returns the number of tests that are explored. Searches for test orders only report that
    /// tests are judged.
    fn done(&self) -> usize {
        self.explored.max(self.judged)
    }

    /// Returns text about the step of a search for test orders. For other campaigns, returns text
    /// about the time that is left, such as `, at most 90 s more`, or about the work after that
    /// time. That time limits no run if `every_seed` is tried.
    fn still(&self, every_seed: bool) -> String {
        if let Some((step, open)) = self.step {
            let open = if open > 0 { format!(" ({open} more)") } else { String::new() };
            return format!(", now {step}{open}");
        }
        let seconds = self.left.map(|left| left.as_secs_f64().ceil());
        match (seconds, self.has_failed) {
            (None, _) => String::new(),
            (Some(0.0), _) if every_seed => ", finishing every seed and finding".to_owned(),
            (Some(_), _) if every_seed => String::new(),
            (Some(0.0), true) => ", explaining what was found".to_owned(),
            (Some(0.0), false) => ", finishing".to_owned(),
            (Some(seconds), _) => format!(", at most {seconds} s more"),
        }
    }
}

/// Returns the line about a test's outcome, the `judged`th of `tests`. Returns `None` if nothing is
/// shown.
fn outcome_of(test: &TestReport, judged: usize, tests: usize, console: &Console) -> Option<String> {
    if console.quiet && test.verdict == Verdict::Passed && test.parting.is_none() {
        return None;
    }
    let word = words::outcome(test);
    let style = verdict_style(test);
    let seconds = Duration::from_millis(test.elapsed_ms).as_secs_f64();
    let width = tests.to_string().len();
    let TestReport { binary, name, .. } = test;
    Some(format!(
        "{style}{word:>12}{style:#} [{seconds:>8.3}s] ({judged:>width$}/{tests}) {binary} {name}"
    ))
}

/// Returns the line about a judged test. Returns `None` if nothing is shown.
pub(super) fn line_of(test: &TestReport, console: &Console) -> Option<String> {
    let is_quiet = test.verdict.passes() || test.verdict == Verdict::NotRun;
    let routine = is_quiet && !test.unjudged;
    if console.quiet || (routine && console.verbose == 0) {
        return None;
    }
    let style = verdict_style(test);
    let level = test.weakest_level.map_or_else(String::new, |level| format!(" at {level}"));
    let sure = test
        .failure_bound
        .map_or_else(String::new, |bound| format!(" (< {} % at 95 %)", (bound * 100.0).ceil()));
    Some(format!("{style}{:>12}{style:#} {}{level}{sure}", test.verdict, test.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(explored: usize, judged: usize) -> Counts {
        Counts {
            explored,
            judged,
            tests: 9,
            runs: 1,
            has_failed: false,
            left: None,
            step: None,
            last_line: Instant::now(),
        }
    }

    #[test]
    fn a_test_is_done_when_it_is_judged_or_only_waits_for_what_others_need_too() {
        assert_eq!(counts(5, 2).done(), 5, "three wait");
        assert_eq!(counts(0, 2).done(), 2, "a search for test orders");
    }

    #[test]
    fn only_given_seeds_and_what_was_found_are_left_when_the_time_is_over() {
        for (left, has_failed, every_seed, expected) in [
            (None, true, false, ""),
            (Some(Duration::from_millis(1500)), true, false, ", at most 2 s more"),
            (Some(Duration::from_millis(1500)), true, true, ""),
            (Some(Duration::ZERO), true, false, ", explaining what was found"),
            (Some(Duration::ZERO), true, true, ", finishing every seed and finding"),
            (Some(Duration::ZERO), false, false, ", finishing"),
        ] {
            let counts = Counts { has_failed, left, ..counts(0, 0) };
            assert_eq!(counts.still(every_seed), expected, "{left:?} {has_failed} {every_seed}");
        }
        for (open, expected) in [(0, ", now pairs of tests"), (7, ", now pairs of tests (7 more)")]
        {
            let counts = Counts { step: Some(("pairs of tests", open)), ..counts(0, 0) };
            assert_eq!(counts.still(false), expected);
        }
    }
}
