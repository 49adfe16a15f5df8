//! A campaign of orders: which tests of a binary depend on those before them in their process.

use std::sync::{Mutex, PoisonError};

use camino::Utf8PathBuf;
use nondex_core::{ALGORITHM, RunSpec};

use super::launch::Launcher;
use super::order::Processes;
use super::process;
use super::progress::Progress;
use super::state::States;
use super::stop::StopFlag;
use super::{Selected, absolute};
use crate::error::{Error, Result};
use crate::judge::order::experiments::{Experiments, gather};
use crate::judge::order::{
    Conclusion, Dependence, Detection, End, OrderOptions, conclude, detect, not_idempotent, pairs,
};
use crate::judge::{Options, specs};
use crate::project::{Harness, Suite, TestCase};
use crate::report::judged::{self, order};
use crate::report::schema::{RunInfo, SCHEMA, Summary};
use crate::report::workspace::Workspace;
use crate::report::{Report, RunDirectory, TestReport, Verdict};

/// What all binaries of the campaign have in common.
struct Campaign<'a> {
    launcher: Launcher<'a>,
    options: &'a Options,
    asked: &'a OrderOptions,
    progress: &'a dyn Progress,
    stop: &'a StopFlag,
    notes: Mutex<Vec<String>>,
    workspace: Workspace,
}

/// Runs the tests of each binary in many orders, and returns the report, not yet written.
///
/// # Errors
/// When no test is to be run.
pub fn run(
    selected: &[Selected<'_>],
    options: &Options,
    asked: &OrderOptions,
    run: &RunDirectory,
    progress: &dyn Progress,
    stop: &StopFlag,
) -> Result<Report> {
    if !selected
        .iter()
        .any(|one| one.tests.iter().any(|(_, is_run)| *is_run))
    {
        return Err(Error::no_tests("no tests to run"));
    }
    // One schedule for several tests is none of them's: they run as `cargo test` runs them.
    let options = &options.with_real_threads();
    let stop = &stop.within(options.max_time);
    let records: Utf8PathBuf = absolute(&run.records())?;
    let _ = process::disable_address_randomisation();
    let campaign = Campaign {
        launcher: Launcher::new(records, options.timeout, stop),
        options,
        asked,
        progress,
        stop,
        notes: Mutex::default(),
        workspace: Workspace::new(absolute(&options.workspace_root)?),
    };
    let mut is_partial = false;
    let mut tests = Vec::new();
    for selected in selected {
        let judged = campaign.judge(selected);
        is_partial |= judged.is_none();
        let judged = judged.unwrap_or_default();
        for (case, _) in &selected.tests {
            let known = judged.iter().find(|report| report.name == case.name);
            let report = known.cloned();
            tests.push(report.unwrap_or_else(|| judged::not_run(selected.suite, case)));
        }
    }
    if is_partial && stop.is_late() {
        campaign.note("the time of `--max-time` was over before all orders were tried".to_owned());
    }
    let notes = campaign.notes.into_inner();
    Ok(Report {
        schema: SCHEMA,
        partial: is_partial,
        run: RunInfo {
            id: run.id().to_owned(),
            command: options.command.clone(),
            network: options.network.mode,
            algorithm: ALGORITHM,
            clean_runs: 1,
            timeout_ms: u64::try_from(options.timeout.as_millis()).unwrap_or(u64::MAX),
            models_off: options.models_off.clone(),
            max_sanitised: options.max_sanitised,
            ..RunInfo::default()
        },
        summary: Summary::new(&tests, Vec::new()),
        tests,
        notes: notes.unwrap_or_else(PoisonError::into_inner),
        overdue: Vec::new(),
    })
}

impl Campaign<'_> {
    fn note(&self, note: String) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push(note);
    }

    /// The reports of the selected tests of one binary; `None` when it was stopped.
    fn judge(&self, selected: &Selected<'_>) -> Option<Vec<TestReport>> {
        let suite = selected.suite;
        let is_run = |case: &TestCase| {
            let mut tests = selected.tests.iter();
            tests.any(|(known, is_run)| *is_run && known.name == case.name)
        };
        let id = &suite.binary.id;
        if suite.binary.harness != Harness::Nondex {
            self.note(format!(
                "the tests of `{id}` were not run: each has a process of its own, or a harness that runs one in a process"
            ));
            return Some(Vec::new());
        }
        let tests: Vec<&TestCase> = suite
            .tests
            .iter()
            .filter(|case| !case.ignored || is_run(case))
            .collect();
        let names: Vec<&str> = tests.iter().map(|case| case.name.as_str()).collect();
        let asked: Vec<usize> = (0..tests.len())
            .filter(|test| is_run(tests[*test]))
            .collect();
        let processes = Processes {
            launcher: &self.launcher,
            suite,
            tests,
            unstarted: Mutex::default(),
            options: self.options,
            progress: self.progress,
            stop: self.stop,
        };
        let mut experiments = Experiments::new(self.options.jobs.get() > 1);
        let found = self.search(&processes, &names, &asked, &mut experiments)?;
        let unstarted = processes.unstarted.lock();
        if let Some((why, count)) = &*unstarted.unwrap_or_else(PoisonError::into_inner) {
            self.note(format!(
                "{count} of the processes with several tests of `{id}` told nothing: {why}"
            ));
        }
        let mut states = None;
        let mut reports = Vec::new();
        for (place, test) in asked.iter().enumerate() {
            let mut report = self.report(&processes, *test, &found, &names, &experiments);
            // They are the price of all; the first one has them, for the sum to be right.
            report.runs = if place == 0 {
                experiments.count() as u64
            } else {
                0
            };
            if let (Some(dependence), Some(order)) = (found.dependence(*test), &mut report.order) {
                let states = states.get_or_insert_with(|| States::new(&processes, &self.workspace));
                let (first, passes_alone) = (&dependence.sets[0], dependence.passes_alone);
                let made;
                (order.state, made) = states.shared(first, *test, passes_alone);
                report.runs += made;
            }
            self.progress.judged(&report);
            reports.push(report);
        }
        Some(reports)
    }

    /// What is concluded of each asked test that ended otherwise in some order than alone.
    fn search(
        &self,
        processes: &Processes<'_>,
        names: &[&str],
        asked: &[usize],
        experiments: &mut Experiments,
    ) -> Option<Found> {
        let id = &processes.suite.binary.id;
        let number = names.len().saturating_sub(1) * asked.len();
        let mut has_pairs = (1..=self.asked.pairs).contains(&number);
        let mut tried = Vec::new();
        if has_pairs {
            (tried, has_pairs) = processes.answer(experiments, |experiments| {
                pairs(names.len(), asked, experiments)
            })?;
            if !has_pairs {
                self.note(format!(
                    "not all pairs of tests of `{id}` are settled: a process that left a thread behind cannot be forked, and forks share \
                     files; the orders have each test before every other one"
                ));
            }
        } else if number > 0 {
            self.note(format!(
                "the {number} pairs of tests of `{id}` were not tried: `--pairs {number}` does"
            ));
        }
        let all: Vec<usize> = (0..names.len()).collect();
        let alone = processes.answer(experiments, |experiments| {
            let ends = all.iter().map(|test| {
                let ends = experiments.ends(&[], *test, 1, false)?;
                Ok(ends[0].cloned())
            });
            gather(ends.collect::<Vec<_>>())
        })?;
        let ending: Vec<usize> = all
            .iter()
            .copied()
            .filter(|test| alone[*test].as_ref().is_some_and(End::ends_process))
            .collect();
        let planned = self.asked.planned(names);
        let mut detection = processes.answer(experiments, |experiments| {
            detect(&planned, &ending, experiments)
        })?;
        for test in &detection.cutting {
            self.note(format!(
                "`{id}${}` ends the process: the tests behind it were run without it",
                names[*test]
            ));
        }
        detection.orders.extend(tried);
        let suspects = detection.suspects(asked, experiments);
        let limits = self.asked.limits(has_pairs);
        let concluded = processes.answer(experiments, |experiments| {
            conclude(&suspects, names.len(), &detection, &limits, experiments)
        })?;
        let repeated = processes.answer(experiments, |experiments| {
            not_idempotent(asked, experiments)
        })?;
        Some(Found {
            repeated,
            alone,
            suspects: suspects.into_iter().zip(concluded).collect(),
            detection,
        })
    }

    fn report(
        &self,
        processes: &Processes<'_>,
        test: usize,
        found: &Found,
        names: &[&str],
        experiments: &Experiments,
    ) -> TestReport {
        let suite = processes.suite;
        let mut report = judged::not_run(suite, processes.tests[test]);
        let options = processes.options_of(test);
        let clean = specs::clean_spec(&report.name, &options);
        let conclusion = found.suspects.iter().find(|(suspect, _)| *suspect == test);
        let alone = found.alone[test].as_ref();
        match conclusion.map(|(_, conclusion)| conclusion) {
            Some(Conclusion::Dependent(dependence)) => {
                order::dependent(&mut report, dependence, names, &options);
                let before = match dependence.passes_alone {
                    true => dependence.sets[0].clone(),
                    false => Vec::new(),
                };
                self.fail(
                    &mut report,
                    suite,
                    &clean,
                    &before,
                    names,
                    test,
                    experiments,
                );
            }
            Some(Conclusion::NonDeterministic { before, failures }) => {
                report.verdict = Verdict::NonDeterministic;
                report.notes.push(order::disagreeing(before, *failures));
                self.fail(&mut report, suite, &clean, before, names, test, experiments);
            }
            _ => match alone.and_then(End::passed) {
                Some(true) => {
                    report.verdict = Verdict::Stable;
                    if found.detection.unknown.contains(&test) {
                        report.notes.push(
                            "in some orders too many tests before it ended the process: it was not started there".to_owned(),
                        );
                    }
                }
                Some(false) => {
                    report.verdict = Verdict::Broken;
                    report
                        .notes
                        .push("it fails alone and in every order that was tried".to_owned());
                    self.fail(&mut report, suite, &clean, &[], names, test, experiments);
                }
                None => {
                    if let Some(explanation) = alone.and_then(|end| end.explanation.as_ref()) {
                        self.fail(&mut report, suite, &clean, &[], names, test, experiments);
                        order::explained(&mut report, explanation);
                    }
                }
            },
        }
        report.idempotent = experiments
            .hint(test, test)
            .map(|_| !found.repeated.contains(&test));
        if report.idempotent == Some(false) {
            report.notes.push(
                "it is not idempotent: run twice in one process, it ends otherwise the second time"
                    .to_owned(),
            );
        }
        report
    }

    /// Writes how `test` failed behind these tests.
    #[expect(
        clippy::too_many_arguments,
        reason = "one call of one function, with everything that was found out before"
    )]
    fn fail(
        &self,
        report: &mut TestReport,
        suite: &Suite,
        clean: &RunSpec,
        before: &[usize],
        names: &[&str],
        test: usize,
        experiments: &Experiments,
    ) {
        let spec = RunSpec {
            before: before.iter().map(|test| names[*test].to_owned()).collect(),
            ..clean.clone()
        };
        let end = experiments.failing(before, test);
        order::fail(report, suite, &spec, end, &self.options.of(&report.id));
    }
}

/// What was found in one binary.
struct Found {
    /// The tests that end otherwise when they run twice.
    repeated: Vec<usize>,
    /// How each test ended alone.
    alone: Vec<Option<End>>,
    /// What is concluded of those that ended otherwise in some order.
    suspects: Vec<(usize, Conclusion)>,
    detection: Detection,
}

impl Found {
    /// What a test depends on.
    fn dependence(&self, test: usize) -> Option<&Dependence> {
        let mut found = self.suspects.iter();
        match found.find(|(suspect, _)| *suspect == test)? {
            (_, Conclusion::Dependent(dependence)) => Some(dependence),
            _ => None,
        }
    }
}
