//! Whether a test that fails in base order fails without this tool, too.
//!
//! What this tool adds to a test (a mirror of std's collections, a variable, time) may make it fail: one that asserts how large a
//! map is, or how often it allocates. Such a test is not broken. So every test that is about to be called so is run in an
//! ordinary build, as `cargo test` makes it, and what is said of it follows from those runs.

use std::cell::OnceCell;
use std::time::Duration;

use camino::Utf8Path;
use nondex_core::{NetworkMode, Outcome};

use super::launch;
use super::process::{self, disable_address_randomisation};
use super::stop::StopFlag;
use crate::judge::prerequisite::Policy;
use crate::project::{Harness, Suite, TestCase};
use crate::report::{TestReport, Verdict};

/// Why a test was not compared when the campaign was stopped.
const INTERRUPTED: &str = "the run was stopped before";

/// How often a test is run in an ordinary build.
pub const RUNS: u64 = 3;

/// Who can build the tests without this tool.
pub trait Builder {
    /// Builds them all. Is called once, and only when a test is to be compared.
    ///
    /// # Errors
    /// Why that is not possible, a phrase.
    fn build(&self) -> Result<Vec<Suite>, String>;
}

/// What came of the runs of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// So many failed, of so many.
    Runs([u64; 2]),
    /// It could not be compared, and why.
    Not(String),
}

/// Whether a test is to be compared before its verdict stands. Where the network is blocked or made to fail, an ordinary build would be
/// asked for something else.
#[must_use]
pub fn is_wanted(report: &TestReport, network: &Policy) -> bool {
    let is_changed = matches!(network.mode, NetworkMode::Block | NetworkMode::Fault);
    report.verdict == Verdict::Broken && !report.is_sanitised() && !is_changed
}

/// Runs tests of an ordinary build, one at a time, so that none disturbs another.
pub(super) struct Comparison<'a> {
    builder: &'a dyn Builder,
    built: OnceCell<Result<Vec<Suite>, String>>,
    stop: &'a StopFlag,
}

impl<'a> Comparison<'a> {
    pub(super) const fn new(builder: &'a dyn Builder, stop: &'a StopFlag) -> Self {
        Comparison {
            builder,
            built: OnceCell::new(),
            stop,
        }
    }

    /// Runs the test that `suite` calls `case`, and of which `report` is known.
    pub(super) fn compare(
        &self,
        suite: &Suite,
        case: &TestCase,
        report: &TestReport,
        timeout: Duration,
    ) -> Compared {
        let mut failures = report.failures.iter();
        if failures.any(|failure| failure.outcome == Outcome::Exited(0)) {
            let reason =
                "its process ends before it does, which an ordinary build takes for a pass";
            return Compared::Not(reason.to_owned());
        }
        self.try_compare(suite, case, timeout)
            .map_or_else(Compared::Not, Compared::Runs)
    }

    fn try_compare(
        &self,
        suite: &Suite,
        case: &TestCase,
        timeout: Duration,
    ) -> Result<[u64; 2], String> {
        if suite.binary.harness == Harness::Doctest {
            return Err("doctests are not compared".to_owned());
        }
        if self.stop.is_set() {
            return Err(INTERRUPTED.to_owned());
        }
        let built = self.built.get_or_init(|| self.builder.build());
        let suites = built.as_ref().map_err(Clone::clone)?;
        let found = suites.iter().find_map(|ordinary| {
            let is_same = ordinary.binary.id == suite.binary.id;
            let mut tests = ordinary.tests.iter().filter(|_| is_same);
            let test = tests.find(|test| test.name == case.name)?;
            Some((&ordinary.binary, test))
        });
        let Some((binary, test)) = found else {
            return Err("it is not in one".to_owned());
        };
        let [mut failures, mut runs] = [0, 0];
        while runs < RUNS {
            let command = launch::command(binary, test, None);
            let finished = process::run(command, timeout, self.stop)
                .map_err(|e| format!("it cannot be started: {e}"))?;
            let outcome = launch::outcome_of(binary, test, finished.end)
                .ok_or_else(|| INTERRUPTED.to_owned())?;
            runs += 1;
            failures += u64::from(!outcome.passed());
            // It takes the whole time limit, as it did before.
            if outcome == Outcome::TimedOut && failures == runs {
                break;
            }
        }
        Ok([failures, runs])
    }
}

/// What is said of a broken test that was compared. `root` is that of its workspace.
#[must_use]
pub fn judge(mut report: TestReport, compared: &Compared, root: &Utf8Path) -> TestReport {
    let note = match *compared {
        Compared::Not(ref reason) => {
            format!("whether it fails in an ordinary build too is not known: {reason}")
        }
        Compared::Runs([failures, runs]) if failures == runs => {
            "it fails in an ordinary build too".to_owned()
        }
        Compared::Runs([0, runs]) => {
            report.verdict = Verdict::NotRun;
            report.unjudged = true;
            report.reproduce = None;
            format!(
                "it is not judged: it passes in {runs} of {runs} runs of an ordinary build, and fails in base order here, most likely \
                 because of {}",
                addition(&report, root)
            )
        }
        Compared::Runs([failures, runs]) => {
            report.verdict = Verdict::Unknown;
            format!(
                "it fails in every run here, but in {failures} of {runs} runs of an ordinary build"
            )
        }
    };
    if let Compared::Runs(rate) = *compared {
        report.ordinary = Some(rate);
        report.runs += rate[1];
    }
    report.notes.push(note);
    report
}

/// What a line of source that asks for something names, and what this tool changes of it.
const ADDITIONS: [(&str, &str); 3] = [
    (
        "alloc",
        "the number or size of allocations, which are others in the std that tests are run over",
    ),
    (
        "env::",
        "the environment, which has a variable of this tool",
    ),
    (
        "current_exe",
        "the path of the executable, which is in a folder of this tool",
    ),
];

/// How many lines a statement has that is looked at.
const STATEMENT: usize = 8;

/// What makes a test fail that passes in an ordinary build, as far as it can be known.
fn addition(report: &TestReport, root: &Utf8Path) -> String {
    let Some(failure) = report.failures.first() else {
        return "what this tool adds".to_owned();
    };
    if failure.outcome == Outcome::TimedOut {
        return "the time that this tool takes: `--timeout` gives it more".to_owned();
    }
    let statement = || {
        let source = std::fs::read_to_string(root.join(failure.file.as_deref()?)).ok()?;
        let first = (failure.line? as usize).checked_sub(1)?;
        let mut lines = Vec::new();
        for line in source.lines().skip(first).take(STATEMENT) {
            lines.push(line.to_owned());
            if line.trim_end().ends_with([';', '}']) {
                break;
            }
        }
        Some(lines.join("\n"))
    };
    let statement = statement().unwrap_or_default();
    let known = ADDITIONS
        .iter()
        .find(|(word, _)| statement.contains(word) || failure.message.contains(word));
    known.map_or_else(
        || {
            "what this tool adds to it, such as allocations, a variable in the environment, or time"
                .to_owned()
        },
        |(_, what)| format!("what its failing line asks for: {what}"),
    )
}

/// Gives back to the processes that this thread will start what [`disable_address_randomisation`] took.
pub(super) fn as_ordinary<T>(action: impl FnOnce() -> T) -> T {
    process::enable_address_randomisation();
    let result = action();
    let _ = disable_address_randomisation();
    result
}

#[cfg(test)]
mod tests;
