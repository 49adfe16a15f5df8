//! What is shown while tests run: a line for each that ended, as nextest prints it.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use anstyle::Style;
use indicatif::ProgressBar;
use nondex_core::{Outcome, RunSpec};

use crate::campaign::Progress;
use crate::command::console::Console;
use crate::command::{progress, selection};
use crate::report::human::{verdict_style, words};
use crate::report::{TestReport, Verdict};

/// Shows the tests of a run on a console.
pub(super) struct Display<'a> {
    console: &'a Console,
    bar: Option<ProgressBar>,
    tests: usize,
    judged: Mutex<usize>,
}

impl<'a> Display<'a> {
    /// A display of a run of this number of tests.
    pub(super) fn new(console: &'a Console, tests: usize) -> Self {
        Display {
            console,
            bar: progress::bar(console, tests),
            tests,
            judged: Mutex::new(0),
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn line(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(self.console.shown(line)),
            None => self.console.text(&format!("{line}\n")),
        }
    }
}

impl Progress for Display<'_> {
    fn started(&self, test_id: &str, _spec: &RunSpec) {
        if let Some(bar) = &self.bar {
            bar.set_message(test_id.to_owned());
        }
    }

    fn finished(&self, _test_id: &str, _spec: &RunSpec, _outcome: &Outcome) {}

    fn comparing(&self, tests: usize) {
        if !self.console.quiet {
            let tests = selection::count(tests, "test");
            self.line(&format!(
                "{:>12} a plain build, to run {tests} in it that failed here",
                "Building"
            ));
        }
    }

    fn judged(&self, test: &TestReport) {
        let mut judged = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        *judged += 1;
        if let Some(bar) = &self.bar {
            bar.set_position(*judged as u64);
        }
        let is_routine = test.verdict == Verdict::Passed && test.parting.is_none();
        if self.console.quiet && is_routine {
            return;
        }
        let word = words::outcome(test);
        let style: Style = verdict_style(test);
        let seconds = Duration::from_millis(test.elapsed_ms).as_secs_f64();
        let width = self.tests.to_string().len();
        let TestReport { binary, name, .. } = test;
        self.line(&format!(
            "{style}{word:>12}{style:#} [{seconds:>8.3}s] ({judged:>width$}/{}) {binary} {name}",
            self.tests
        ));
    }
}
