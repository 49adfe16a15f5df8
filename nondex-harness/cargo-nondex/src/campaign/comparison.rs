//! Runs of tests in a plain build, as evidence for the judge: see
//! [`judge::plain`](crate::judge::plain).

use std::cell::OnceCell;
use std::process::Command;
use std::time::{Duration, Instant};

use nondex_core::{Failure, Outcome, Source};

use super::budget::Budget;
use super::ended;
use super::generated;
use super::launch;
use super::pace::Pace;
use super::process::{self, at_random_addresses};
use super::stop::StopFlag;
use super::{SelectedTests, by_id};
use crate::judge::plain::no_comparison;
use crate::judge::{Options, PlainBuild};
use crate::project::{self, Harness, Suite, TestBinary, TestCase};
use crate::report::judged::plain;
use crate::report::{Report, TestReport, Verdict, combined};

/// Reason for a missing comparison when the campaign was stopped.
const INTERRUPTED: &str = "the run was stopped";

/// Minimum number of runs of a test in a plain build, unless they take too long.
pub const RUNS: u64 = 3;

/// Maximum number of runs of a test in a plain build while all have the same outcome. Before the
/// test is reported to fail only with this tool, or always, chance must be unlikely.
const RUNS_THAT_AGREE: u64 = 20;

/// Limit on the duration of these runs while all pass.
const PATIENCE: Duration = Duration::from_secs(10);

/// Limit on the duration of these runs while all fail. This is more common, and needs less
/// evidence.
const PATIENCE_WITH_FAILURES: Duration = Duration::from_secs(5);

/// Reason for a missing comparison when the campaign's budget is spent.
const SPENT: &str = "the budget was spent (`--thorough` has none)";

/// Builder of the tests without this tool.
pub trait Builder: Sync {
    /// Builds all tests. Called at most once, and only if a test is compared.
    ///
    /// # Errors
    /// Returns the reason, a phrase, if the build fails.
    fn build(&self) -> Result<Vec<Suite>, String>;
}

/// Runs of tests in a plain build, one at a time, so that they do not disturb each other.
pub(super) struct Comparison<'a> {
    builder: &'a dyn Builder,
    built: OnceCell<Result<Vec<Suite>, String>>,
    /// Budget of the campaign, if it has one.
    budget: Option<&'a Budget>,
    stop: &'a StopFlag,
}

impl<'a> Comparison<'a> {
    pub(super) const fn new(
        builder: &'a dyn Builder,
        budget: Option<&'a Budget>,
        stop: &'a StopFlag,
    ) -> Self {
        Comparison { builder, built: OnceCell::new(), budget, stop }
    }

    /// Runs the test `case` of `suite` in the plain build. When the budget is spent, only a test
    /// that cannot be judged without it (`is_decisive`) is run, and less often. Also returns the
    /// reason for its first failure. The test is known to use `sources`.
    pub(super) fn compare(
        &self,
        suite: &Suite,
        case: &TestCase,
        timeout: Duration,
        is_decisive: bool,
        sources: &[Source],
    ) -> (PlainBuild, Option<Failure>) {
        if self.is_spent() && !is_decisive {
            return (PlainBuild::Not(SPENT.to_owned()), None);
        }
        let pace = Pace::of(sources).over(RUNS_THAT_AGREE);
        match self.try_compare(suite, case, timeout, is_decisive, pace) {
            Ok((runs, failure)) => (PlainBuild::Runs(runs), failure),
            Err(reason) => (PlainBuild::Not(reason), None),
        }
    }

    /// Returns whether the campaign's budget for these runs is spent.
    fn is_spent(&self) -> bool {
        self.budget.is_some_and(Budget::has_compared)
    }

    /// Returns the test of the plain build that corresponds to `case`, with its binary.
    ///
    /// # Errors
    /// Returns the reason if there is no such test, or the build fails.
    pub(super) fn find(
        &self,
        suite: &Suite,
        case: &TestCase,
    ) -> Result<(&TestBinary, &TestCase), String> {
        if suite.binary.harness == Harness::Doctest {
            return Err("doctests are not compared".to_owned());
        }
        if self.stop.is_set() {
            return Err(INTERRUPTED.to_owned());
        }
        let built = self.built.get_or_init(|| self.builder.build());
        let suites = built.as_ref().map_err(Clone::clone)?;
        project::find(suites, &suite.binary.id, &case.name)
            .map(|(plain, test)| (&plain.binary, test))
            .ok_or_else(|| "the test is not in the plain build".to_owned())
    }

    /// Returns a file that the build script of the test's package wrote with other contents in the
    /// plain build. Returns `None` if there is no such file, or the plain build was not made.
    pub(super) fn generated(&self, suite: &Suite, case: &TestCase) -> Option<String> {
        self.built.get()?;
        let (plain, _) = self.find(suite, case).ok()?;
        Some(generated::differing([&suite.binary, plain])?.into_string())
    }

    fn try_compare(
        &self,
        suite: &Suite,
        case: &TestCase,
        timeout: Duration,
        is_decisive: bool,
        mut pace: Pace,
    ) -> Result<([u64; 2], Option<Failure>), String> {
        let (binary, test) = self.find(suite, case)?;
        let [mut failures, mut runs] = [0, 0];
        let mut took = Duration::ZERO;
        let mut failure = None;
        loop {
            pace.wait();
            let begin = Instant::now();
            let mut command = launch::command(binary, test, None);
            // A backtrace of a large program takes a second. Runs of a campaign have none either.
            if failures > 0 {
                launch::without_backtraces(&mut command);
            }
            let (outcome, output) = once_by(command, binary, test, timeout, self.stop)?;
            let run = begin.elapsed();
            took += run;
            if let Some(budget) = self.budget {
                budget.compared(run);
            }
            runs += 1;
            failures += u64::from(!outcome.passed());
            if !outcome.passed() && failure.is_none() {
                failure = Some(ended::explain(test, &outcome, &output, timeout));
            }
            // Each further run would take the whole time limit, too.
            if outcome == Outcome::TimedOut && failures == runs {
                break;
            }
            let is_spent = self.is_spent();
            let patience = if failures == 0 { PATIENCE } else { PATIENCE_WITH_FAILURES };
            let agree = failures == 0 || failures == runs;
            let wanted = if agree && took < patience && !is_spent {
                RUNS_THAT_AGREE
            } else if took < PATIENCE || is_decisive && !is_spent {
                RUNS
            } else {
                // Sleeps take real time here: further runs may take minutes.
                1
            };
            if runs >= wanted {
                break;
            }
        }
        Ok(([failures, runs], failure))
    }
}

/// Runs each test that always fails, and for which `is_wanted` holds, in a plain build. Writes the
/// results into `report`. `announce` gets the number of these tests first.
pub fn compare_broken(
    report: &mut Report,
    selected: &[SelectedTests<'_>],
    (builder, options, stop): (&dyn Builder, &Options, &StopFlag),
    is_wanted: impl Fn(&TestReport) -> bool,
    announce: impl FnOnce(usize),
) {
    let is_compared = |test: &&mut TestReport| {
        let outcomes = test.failures.iter().map(|failure| &failure.outcome);
        test.verdict == Verdict::Broken
            && !test.is_sanitised()
            && no_comparison(outcomes, options).is_none()
            && is_wanted(test)
    };
    let tests: Vec<&mut TestReport> = report.tests.iter_mut().filter(is_compared).collect();
    if tests.is_empty() {
        return;
    }
    let cases = by_id(selected);
    announce(tests.len());
    at_random_addresses(|| {
        let comparison = Comparison::new(builder, None, stop);
        for test in tests {
            if let Some((suite, case)) = cases.get(&test.id) {
                let timeout = options.of(&test.id).timeout;
                let (found, _) = comparison.compare(suite, case, timeout, true, &test.sources);
                let generated = comparison.generated(suite, case);
                plain::compared(test, &found, generated.as_deref(), &options.workspace_root);
            }
        }
    });
    combined::sum_up(report);
}

/// Runs a test of a plain build once. Returns the outcome and the output.
///
/// # Errors
/// Returns the reason if the test cannot be started or the run was stopped.
pub(super) fn once(
    binary: &TestBinary,
    test: &TestCase,
    timeout: Duration,
    stop: &StopFlag,
) -> Result<(Outcome, String), String> {
    once_by(launch::command(binary, test, None), binary, test, timeout, stop)
}

/// Runs a test with this command: see [`once`].
fn once_by(
    command: Command,
    binary: &TestBinary,
    test: &TestCase,
    timeout: Duration,
    stop: &StopFlag,
) -> Result<(Outcome, String), String> {
    let finished =
        process::run(command, timeout, stop).map_err(|e| format!("it cannot be started: {e}"))?;
    let outcome =
        ended::outcome_of(binary, test, finished.end).ok_or_else(|| INTERRUPTED.to_owned())?;
    Ok((outcome, finished.output.to_text()))
}
