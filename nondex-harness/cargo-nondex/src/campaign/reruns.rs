//! Reruns, under other circumstances, of tests that neither a choice nor an order makes fail: see
//! [`judge::reruns`](crate::judge::reruns).

pub mod explained;
mod together;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use nondex_core::{Family, Level, RunSpec};

use super::circumstance::under;
use super::comparison::{Builder, Comparison, once};
use super::ended;
use super::launch::{Launcher, Setting};
use super::pace::Pace;
use super::process::at_random_addresses;
use super::stop::StopFlag;
use super::tree::Tree;
use super::written_paths::WrittenPaths;
use crate::judge::reruns::{NextRerun, RerunCounts, RerunsUnder, Sensitivity, next};
use crate::judge::{Circumstance, Fact, Options, Run, further, is_of_timing};
use crate::project::{Suite, TestCase};
use crate::report::judged::order;
use crate::report::{FailureReport, Step, TestReport};

/// Limit on the duration of all runs under further seeds.
const PATIENCE_FOR_SEEDS: Duration = Duration::from_secs(20);

/// Same limit for a test that was not selected by name and that no other chance affects.
const PATIENCE_FOR_UNNAMED: Duration = Duration::from_secs(5);

/// Minimum number of further seeds, however long a run takes.
const FEWEST_SEEDS: u64 = 20;

/// Reruns of tests, one at a time.
#[expect(missing_debug_implementations, reason = "it holds a closure that builds")]
pub struct Reruns<'a> {
    launcher: Launcher<'a>,
    comparison: Comparison<'a>,
    options: &'a Options,
    limits: RerunCounts,
    stop: &'a StopFlag,
    /// Path for directories that must be empty.
    folder: PathBuf,
}

impl<'a> Reruns<'a> {
    /// Creates reruns that write their records and all other files below `directory`, an existing
    /// absolute path. Files that they leave in the folders of `tree` can be restored.
    pub fn new(
        directory: camino::Utf8PathBuf,
        options: &'a Options,
        limits: RerunCounts,
        builder: &'a dyn Builder,
        tree: &'a Tree,
        stop: &'a StopFlag,
    ) -> Self {
        let folder = directory.join("clean").into();
        let launcher = Launcher::new(directory, stop);
        Reruns {
            folder,
            launcher: launcher.noting(tree.written()),
            comparison: Comparison::new(builder, None, stop),
            options,
            limits,
            stop,
        }
    }

    /// Reruns a test that `report` calls stable until its verdict is settled, and updates the
    /// report. A test that was not selected by name, and that uses nothing uncontrolled, has few
    /// runs. Returns the run of a seed that made it fail, for a campaign to explain.
    pub fn investigate(
        &self,
        suite: &Suite,
        case: &TestCase,
        is_wanted: bool,
        report: &mut TestReport,
    ) -> Option<RunSpec> {
        let sensitivity = self.sensitivity(report);
        let (mut limits, patience) = if is_wanted || !report.sources.is_empty() {
            (self.limits, PATIENCE_FOR_SEEDS)
        } else {
            (self.limits.brief(), PATIENCE_FOR_UNNAMED)
        };
        let mut tried: Vec<RerunsUnder> = Vec::new();
        let mut first: Option<(Run, Option<RunSpec>)> = None;
        let mut for_seeds = Duration::ZERO;
        let mut pace = Pace::of(&report.sources);
        let conclusion = loop {
            let circumstance = match next(&limits, sensitivity, &tried) {
                NextRerun::Run(circumstance) => circumstance,
                done => break done,
            };
            if self.stop.is_set() {
                report.notes.push(format!(
                    "the run was stopped before the reruns for `{}`",
                    circumstance.name()
                ));
                // The conclusion comes from the runs made until now.
                break next(&RerunCounts::new(0, 0, 0), sensitivity, &tried);
            }
            let number = RerunsUnder::of(circumstance, &mut tried).runs;
            pace.wait();
            let begin = Instant::now();
            let is_real = report.real_threads.is_some();
            match self.once(circumstance, number, (sensitivity, is_real), suite, case) {
                Ok(made) => {
                    let these = RerunsUnder::of(circumstance, &mut tried);
                    these.runs += 1;
                    if !made.0.passed() {
                        these.failures += 1;
                        first.get_or_insert(made);
                    }
                }
                Err(reason) => {
                    limits.forget(circumstance);
                    report.notes.push(format!(
                        "the reruns for `{}` were abandoned: {reason}",
                        circumstance.name()
                    ));
                }
            }
            if circumstance == Circumstance::FurtherSeeds {
                for_seeds += begin.elapsed();
                let made = RerunsUnder::of(circumstance, &mut tried).runs;
                if for_seeds > patience && made >= FEWEST_SEEDS {
                    limits.forget(circumstance);
                }
            }
        };
        tried.retain(|tried| tried.runs > 0);
        report.runs += tried.iter().map(|tried| tried.runs).sum::<u64>();
        report.steps.extend(tried.iter().map(|tried| Step {
            name: tried.circumstance.name().to_owned(),
            runs: tried.runs,
            failures: tried.failures,
        }));
        conclude(report, conclusion, &tried);
        let (run, spec) = first.filter(|_| !report.verdict.passes())?;
        let seeded = spec.filter(|spec| !spec.is_clean());
        // A failing run of a seed becomes the run to replay.
        match &seeded {
            Some(spec) => order::fail(report, suite, spec, Some(&run), self.options),
            None => report.failures.push(FailureReport::new(run.outcome, run.failure)),
        }
        seeded
    }

    /// Returns which circumstances could change the outcome of the test of `report`.
    fn sensitivity(&self, report: &TestReport) -> Sensitivity {
        let is_open = |is_wanted: fn(Family) -> bool| {
            report.points.iter().any(|point| is_wanted(point.family))
        };
        // If the test passed with every possible order, no further seed makes another choice.
        let is_verified = report.verified.contains(&Level::Std);
        Sensitivity {
            chance: !report.sources.is_empty() || !self.options.prune,
            values: is_open(|family| !is_of_timing(family)) && !is_verified,
            // No seed controls when real threads run.
            timing: is_open(is_of_timing) && report.real_threads.is_none(),
        }
    }

    /// Makes the run with this number under a circumstance. Returns it without its output, with its
    /// spec unless it is one of a plain build. `is_real` is whether the test was judged with real
    /// threads.
    ///
    /// # Errors
    /// Returns the reason if the run cannot be made.
    fn once(
        &self,
        circumstance: Circumstance,
        number: u64,
        (sensitivity, is_real): (Sensitivity, bool),
        suite: &Suite,
        case: &TestCase,
    ) -> Result<(Run, Option<RunSpec>), String> {
        let timeout = self.options.timeout;
        if circumstance == Circumstance::Natural {
            let (binary, test) = self.comparison.find(suite, case)?;
            self.launcher.note(WrittenPaths::add_plain);
            let (outcome, output) = at_random_addresses(|| once(binary, test, timeout, self.stop))?;
            let failure =
                (!outcome.passed()).then(|| ended::explain(test, &outcome, &output, timeout));
            return Ok((Run { failure, ..Run::ended(outcome) }, None));
        }
        let spec = match circumstance {
            Circumstance::FurtherSeeds => {
                let seed = self.further(suite, case, number, sensitivity);
                if is_real { seed.with_real_threads() } else { seed }
            }
            _ => self.options.natural_spec(&case.name),
        };
        let run = under(circumstance, &suite.binary, &self.folder, |binary| {
            self.launcher.run(Setting::Shared, timeout, binary, case, &spec)
        })
        .map_err(|e| format!("the machine does not allow it: {e}"))?
        .map_err(|_| "the run was stopped".to_owned())?;
        Ok((Run { output: None, ..run }, Some(spec)))
    }

    /// Returns a run with a seed that the campaign has not tried, at the levels that occur on
    /// today's machines.
    fn further(
        &self,
        suite: &Suite,
        case: &TestCase,
        number: u64,
        sensitivity: Sensitivity,
    ) -> RunSpec {
        let first = further::first_untried(self.options);
        // Today, orders and values of level `STD` occur in every run. `ONE` only adds longer
        // delays.
        let (level, number) = if sensitivity.values {
            (Level::Std, number)
        } else {
            ([Level::Std, Level::One][(number % 2) as usize], number / 2)
        };
        let options = self.options.of(&suite.test_id(case));
        options.seed_spec(&case.name, level, first.saturating_add(number))
    }
}

/// Writes the conclusion into the report.
fn conclude(report: &mut TestReport, conclusion: NextRerun, tried: &[RerunsUnder]) {
    let rate = |circumstance: Circumstance| {
        tried
            .iter()
            .find(|tried| tried.circumstance == circumstance)
            .map_or_else(String::new, |tried| format!("{} of {} runs", tried.failures, tried.runs))
    };
    let rate_under = |circumstance| format!("{} {}", rate(circumstance), circumstance.under());
    let note = match conclusion {
        NextRerun::Run(_) | NextRerun::Stable => None,
        NextRerun::Environment(circumstance) => {
            Some(format!("it depends on its environment: {} failed", rate_under(circumstance)))
        }
        NextRerun::NonDeterministic(circumstance) => {
            Some(format!("{} failed", rate_under(circumstance)))
        }
        NextRerun::Unknown => Some(format!(
            "{} in a plain build failed, and no condition that was tried makes it fail",
            rate(Circumstance::Natural)
        )),
    };
    match Fact::of_reruns(conclusion) {
        Some(fact) => report.rule(fact),
        None => {
            let runs = usize::try_from(report.runs).unwrap_or(usize::MAX);
            report.failure_bound = Some(crate::judge::certainty::bound(runs));
        }
    }
    report.notes.extend(note);
}
