//! Runs the tests of a project under many specs and draws the conclusions.
//!
//! [`run`] uses all cores to work off one [`queue`] of (test × spec). [`judge`](crate::judge) is a
//! pure function of the runs so far. It decides which runs a test still needs, and the conclusion
//! when it needs none. [`launch`] turns a spec into one [`process`] and its record. [`comparison`]
//! runs tests that fail in canonical order in a plain build as well.

pub mod across;
mod again;
pub mod brittle;
pub mod budget;
pub mod builds;
pub mod circumstance;
pub mod comparison;
pub mod ended;
pub mod experiment;
mod external_files;
mod flags;
mod generated;
mod joint;
pub mod launch;
mod limits;
pub mod memo;
pub mod message;
pub mod order;
pub mod orders;
pub mod output;
pub mod pace;
pub mod pairs;
pub mod process;
mod processors;
pub mod progress;
mod proof;
pub mod queue;
mod race;
pub mod record;
pub mod reruns;
mod state;
pub mod stop;
mod system;
pub mod temporary;
pub mod tree;
mod written_paths;

pub use comparison::Builder;
pub use launch::{Launcher, Setting};
pub use pace::Pace;
pub use progress::{Progress, Silent};
pub use stop::StopFlag;
pub use tree::Tree;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::{ALGORITHM, RunSpec, StateId};

use self::budget::Budget;
use self::launch::Unmade;
use self::memo::Memo;
use self::order::Processes;
use self::queue::{Means, Workload, execute};
use crate::error::{Error, OrSetup, Result};
use crate::judge::isolation;
use crate::judge::{
    Available, Conclusion, Judgement, Need, Options, Required, Run, RunLimits, Runs, TestOptions,
};
use crate::locked::Locked;
use crate::project::{Harness, Suite, TestCase, address_seeds};
use crate::report::{Report, RunDirectory, RunInfo, TestReport, Workspace, judged};

/// A test binary and the selected tests in it.
#[derive(Clone, Debug)]
pub struct SelectedTests<'a> {
    /// The binary.
    pub suite: &'a Suite,
    /// The tests that passed the filters, each with whether it will run. The others, such as
    /// ignored tests that were not requested, are reported as not run.
    pub tests: Vec<(TestCase, bool)>,
}

impl<'a> SelectedTests<'a> {
    /// Selects one test, which will run.
    pub fn one(suite: &'a Suite, test: &TestCase) -> Self {
        SelectedTests { suite, tests: vec![(test.clone(), true)] }
    }

    /// Returns every test, with its suite.
    pub fn all(&self) -> impl Iterator<Item = (&Suite, &TestCase)> {
        self.tests.iter().map(|(test, _)| (self.suite, test))
    }

    /// Returns the tests that will run, with their suite.
    pub fn running(&self) -> impl Iterator<Item = (&Suite, &TestCase)> {
        let running = self.tests.iter().filter(|(_, is_run)| *is_run);
        running.map(|(test, _)| (self.suite, test))
    }
}

/// Returns the selected tests by id, each with its suite.
fn by_id<'a>(selected: &'a [SelectedTests<'a>]) -> BTreeMap<String, (&'a Suite, &'a TestCase)> {
    let tests = selected.iter().flat_map(SelectedTests::all);
    tests.map(|(suite, test)| (suite.test_id(test), (suite, test))).collect()
}

/// Runs a campaign in the run directory `run` and returns its report. The caller writes the report:
/// see [`RunDirectory::write`].
///
/// Files that the test processes write are recorded in `tree`, if there is one.
///
/// Stopping is no error: the report is then [partial](Report::partial). Sets attributes of the
/// calling process that tests inherit or need: address-space randomisation off, and orphans adopted
/// (see [`process`]).
///
/// # Errors
/// Returns an error if none of the selected tests is to run. A failing test is a result, not an
/// error.
pub fn run(
    selected: &[SelectedTests<'_>],
    options: &Options,
    run: &RunDirectory,
    plain: Option<&dyn Builder>,
    tree: Option<&Tree>,
    progress: &dyn Progress,
    stop: &StopFlag,
) -> Result<Report> {
    let running: Vec<(&Suite, &TestCase)> =
        selected.iter().flat_map(SelectedTests::running).collect();
    if running.is_empty() && !selected.is_empty() {
        return Err(Error::no_tests("no tests to run"));
    }
    let stop = &stop.within(options.max_time);
    let records = absolute(&run.records())?;
    let mut notes: Vec<String> = process::without_randomisation().into_iter().collect();
    let mut launcher = Launcher::new(records, stop);
    if options.no_capture {
        launcher = launcher.showing(false);
    }
    if !options.prune {
        launcher = launcher.without_forks();
    }
    // A run without chance (`world`) never uses random addresses, so only other runs can be plain.
    if options.world.is_none() {
        launcher = launcher.as_plain();
    }
    let budget = Budget::new(options.budget_factor, options.jobs, stop);
    let campaign = Campaign {
        tests: &running,
        options: options_of(&running, options),
        workspace: Workspace::new(absolute(&options.workspace_root)?),
        launcher: match tree {
            Some(tree) => launcher.noting(tree.written()),
            None => launcher,
        },
        progress,
        reports: Mutex::new(vec![None; running.len()]),
        plain,
        budget: &budget,
        stop,
        begun: SystemTime::now(),
        directory: absolute(&run.path())?,
    };
    let means = Means {
        jobs: options.jobs,
        prune: options.prune,
        budget: &budget,
        stop,
        max_fail: options.max_fail,
    };
    let executed = execute(&campaign, running.len(), &means, progress);
    let panics = campaign.panics(&executed.tests);
    let has_panicked = !panics.is_empty();
    notes.extend(panics);
    let is_partial = executed.stopped || has_panicked;
    if executed.stopped && stop.is_late() {
        let judged = executed.tests.iter().filter(|test| test.judgement.is_some()).count();
        notes.push(format!(
            "`--max-time` was reached after {judged} of {} tests were judged",
            running.len()
        ));
    }
    let mut reports = campaign.reports(&executed.tests).into_iter();
    let tests: Vec<TestReport> = selected
        .iter()
        .flat_map(|selected| selected.tests.iter().map(|test| (selected.suite, test)))
        .map(|(suite, (test, is_run))| {
            let judged = is_run.then(|| reports.next()).flatten();
            judged.unwrap_or_else(|| judged::not_run(suite, test))
        })
        .collect();
    notes.extend(judged::prerequisites::unknown(&tests, &options.network));
    let models: BTreeSet<String> =
        executed.tests.iter().flat_map(|test| test.runs.models()).collect();
    let info = RunInfo {
        levels: options.realistic_first(),
        seeds: options.seeds.clone(),
        schedule: options.schedule,
        clean_runs: options.clean_runs.get(),
        world: options.world,
        strict: options.strict,
        ..info(run, options)
    };
    Ok(Report {
        partial: is_partial,
        notes,
        ..Report::new(info, tests, models.into_iter().collect())
    })
}

/// Returns the part of a report that all runs with these options have in common.
fn info(run: &RunDirectory, options: &Options) -> RunInfo {
    RunInfo {
        id: run.id().to_owned(),
        command: options.command.clone(),
        network: options.network.mode,
        algorithm: ALGORITHM,
        timeout_ms: u64::try_from(options.timeout.as_millis()).unwrap_or(u64::MAX),
        models_off: options.models_off.clone(),
        files: options.files.only.clone(),
        skip_files: options.files.skip.clone(),
        max_sanitised: options.max_sanitised,
        ..RunInfo::default()
    }
}

fn absolute(path: &Utf8Path) -> Result<Utf8PathBuf> {
    camino::absolute_utf8(path)
        .or_setup(format_args!("failed to find the absolute path of `{path}`"))
}

/// Returns whether nothing records what the tests of `suite` use. The tests of a proc macro run on
/// the host's own std, which has no shims. Runs without chance do not need these records.
fn is_unobserved(suite: &Suite, options: &Options) -> bool {
    options.world.is_none() && suite.binary.is_on_host
}

/// Returns the options of each test, with what is known about its executable. Tests with equal
/// options share one allocation.
fn options_of(tests: &[(&Suite, &TestCase)], options: &Options) -> Vec<Arc<Options>> {
    let mut seeds: BTreeMap<&str, Arc<[StateId]>> = BTreeMap::new();
    let mut known: Vec<(Option<&TestOptions>, Arc<Options>)> = Vec::new();
    let mut of = |suite: &Suite, seeds: &Arc<[StateId]>, case: &TestCase| {
        let own = options.per_test.get(&suite.test_id(case));
        let is_unobserved = is_unobserved(suite, options);
        let is_same = |known: &&(Option<&TestOptions>, Arc<Options>)| {
            let of_binary = (&known.1.address_seeds, known.1.is_unobserved);
            known.0 == own && of_binary == (seeds, is_unobserved)
        };
        if let Some((_, options)) = known.iter().find(is_same) {
            return Arc::clone(options);
        }
        let of_test = own.map_or_else(|| options.clone(), |own| options.with(own));
        let of_test =
            Arc::new(Options { address_seeds: Arc::clone(seeds), is_unobserved, ..of_test });
        known.push((own, Arc::clone(&of_test)));
        of_test
    };
    let all = tests.iter().map(|(suite, case)| {
        let binary = &suite.binary;
        let seeds = seeds.entry(&binary.id).or_insert_with(|| match options.world {
            None => address_seeds::of(&binary.executable).into(),
            // Runs without chance do not vary addresses.
            Some(_) => Arc::default(),
        });
        of(suite, seeds, case)
    });
    all.collect()
}

/// Minimum duration of runs that are worth making concurrently. The first run that cannot be
/// confined is made twice.
const LONG: Duration = Duration::from_millis(20);

/// The tests of a campaign, as the executor sees them.
struct Campaign<'a> {
    tests: &'a [(&'a Suite, &'a TestCase)],
    /// The options of each test. Many tests share theirs.
    options: Vec<Arc<Options>>,
    workspace: Workspace,
    launcher: Launcher<'a>,
    progress: &'a dyn Progress,
    /// Directory of the run.
    directory: Utf8PathBuf,
    /// Reports of the tests that were judged, by test.
    reports: Mutex<Vec<Option<TestReport>>>,
    /// Makes the plain build.
    plain: Option<&'a dyn Builder>,
    budget: &'a Budget,
    stop: &'a StopFlag,
    /// Time at which the campaign began.
    begun: SystemTime,
}

impl Campaign<'_> {
    fn report(&self, test: usize, runs: &Runs, judgement: Option<&Judgement>) -> TestReport {
        let (suite, case) = self.tests[test];
        judged::report(suite, case, &self.options[test], &self.workspace, runs, judgement)
    }

    /// Writes the runs of a test that depends on choices to the run directory, for `explain`.
    fn remember(&self, id: &str, runs: &Runs, judgement: &Judgement) {
        if let Conclusion::Dependent(dependence) = &judgement.conclusion {
            let memo = Memo::new(id, runs.judged_by(Some(judgement)));
            // Without the memo, `explain` begins anew.
            let _ = memo.write(&Memo::path(&self.directory, id, &dependence.spec));
        }
    }

    /// Returns a sentence for each test with which this program itself panicked.
    fn panics(&self, concluded: &[queue::Concluded]) -> Vec<String> {
        let panicked = concluded
            .iter()
            .enumerate()
            .filter_map(|(test, concluded)| Some((test, concluded.panic.as_ref()?)));
        panicked
            .map(|(test, panic)| {
                let id = self.id(test);
                format!(
                    "internal error, please report it: cargo nondex itself panicked while it ran \
                     or judged `{id}`: {panic}"
                )
            })
            .collect()
    }

    /// Returns the report of each test, including tests not judged before the campaign was stopped.
    fn reports(self, concluded: &[queue::Concluded]) -> Vec<TestReport> {
        let judged = std::mem::take(&mut *self.reports.locked());
        judged
            .into_iter()
            .zip(concluded)
            .enumerate()
            .map(|(i, (judged, test))| judged.unwrap_or_else(|| self.unfinished(i, test)))
            .collect()
    }

    /// Returns the report of a test that was stopped or given up, with what is known until now.
    fn unfinished(&self, index: usize, test: &queue::Concluded) -> TestReport {
        let (suite, case) = self.tests[index];
        if test.is_cancelled {
            return TestReport { cancelled: true, ..judged::not_run(suite, case) };
        }
        let seen = queue::attempt(|| {
            // A test that only lacks runs together with other tests is judged without them.
            let without = Available::default();
            let judged = isolation::conclude(&case.name, &self.options[index], without, &test.runs);
            let known = judged
                .ok()
                .filter(|judged| judged.conclusion == Conclusion::Stable)
                .or_else(|| isolation::so_far(&case.name, &self.options[index], &test.runs));
            let report = self.report(index, &test.runs, known.as_ref());
            if let Some(known) = &known {
                self.remember(&report.id, &test.runs, known);
            }
            report
        });
        let mut report = seen.unwrap_or_else(|_| TestReport {
            runs: test.runs.count() as u64,
            ..judged::not_run(suite, case)
        });
        if let Some(panic) = &test.panic {
            report.notes = vec![format!("cargo nondex itself panicked: {panic}")];
        }
        report
    }
}

impl Workload for Campaign<'_> {
    fn id(&self, test: usize) -> String {
        let (suite, case) = self.tests[test];
        suite.test_id(case)
    }

    fn conclude(&self, test: usize, runs: &Runs) -> Result<Judgement, Need> {
        let (suite, case) = self.tests[test];
        let is_world = self.options[test].world.is_some();
        let available = Available {
            // With one fixed set of choices, neither earlier tests nor the files they left matter.
            others: !is_world && brittle::has_others(suite, case),
            plain: self.plain.is_some(),
            files: !is_world,
            joint: !is_world && suite.binary.harness == Harness::Nondex,
        };
        isolation::conclude(&case.name, &self.options[test], available, runs)
    }

    fn fulfil(&self, needs: &[(usize, Need)], runs: &mut [Runs]) {
        match needs {
            [(_, Need::Joint), ..] => self.run_jointly(needs, runs),
            [(_, Need::AfterOthers), ..] => {
                let tests: Vec<usize> = needs.iter().map(|(test, _)| *test).collect();
                self.run_after_others(&tests, runs);
            }
            [(_, Need::Plain { .. }), ..] => self.run_in_plain_build(needs, runs),
            _ => self.examine_external_files(needs, runs),
        }
    }

    fn run(
        &self,
        test: usize,
        spec: &RunSpec,
        limits: RunLimits,
        setting: Setting,
    ) -> Result<Run, Unmade> {
        let (suite, case) = self.tests[test];
        let binary = &suite.binary;
        let limit = limits.elapsed.unwrap_or(self.options[test].timeout);
        let setting = match setting {
            // Random names repeat in every such run, so a run would find the files of the one
            // before.
            Setting::Shared if self.options[test].world.is_some() => Setting::Private,
            setting => setting,
        };
        // Without pruning, each hang takes its whole time limit.
        let busy = limits.busy.filter(|_| !spec.is_clean() && self.options[test].prune);
        self.launcher.clone().with_busy_limit(busy).run(setting, limit, binary, case, spec)
    }

    fn required(&self, test: usize) -> Required {
        self.options[test].required(&self.id(test))
    }

    fn takes_long(&self, test: usize, runs: &Runs) -> bool {
        let binary = &self.tests[test].0.binary;
        let is_ours = binary.harness == Harness::Nondex && binary.runner.is_empty();
        let made = u32::try_from(runs.count()).unwrap_or(u32::MAX);
        is_ours && made > 0 && runs.took() / made >= LONG
    }

    fn known(&self, test: usize) -> Vec<(RunSpec, Run)> {
        self.options[test].known.get(&self.id(test)).cloned().unwrap_or_default()
    }

    fn judged(&self, test: usize, runs: &Runs, judgement: &Judgement) {
        let report = self.report(test, runs, Some(judgement));
        self.remember(&report.id, runs, judgement);
        self.progress.judged(&report);
        self.reports.locked()[test] = Some(report);
    }

    fn is_failure(&self, test: usize) -> bool {
        let reports = self.reports.locked();
        let report = reports[test].as_ref();
        report.is_some_and(|report| self.progress.is_failure(report))
    }

    fn cancelled(&self) {
        self.progress.cancelled();
    }
}

#[cfg(test)]
mod tests;
