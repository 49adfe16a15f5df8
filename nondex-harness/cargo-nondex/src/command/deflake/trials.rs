//! Runs tests in an instrumented build and records what they run.

use std::collections::BTreeSet;

use nondex_core::StateId;

use super::Session;
use super::opened::{Opened, Watched};
use crate::campaign::{Launcher, circumstance};
use crate::command::coverage::{self, Programs};
use crate::command::effects::DataFile;
use crate::error::{OrSetup, Result};
use crate::judge::change::Witness;
use crate::judge::{Circumstance, Options, Run};
use crate::project::blocks::FileLine;
use crate::project::{self, Harness, Project, Suite, TestCase};
use crate::report::TestReport;

/// Maximum number of runs of a failing test until it fails.
const RUNS: usize = 5;

/// Runs a test once, after the tests that it depends on, if any, in the same process. The runs
/// record accesses to the states in `watch`. Returns one run per test; the last one is its own.
/// Returns no runs if one of these tests does not exist, and `None` if it was stopped.
pub(super) fn after(
    launcher: &Launcher<'_>,
    suite: &Suite,
    case: &TestCase,
    test: &TestReport,
    options: &Options,
    watch: &[StateId],
) -> Option<Vec<Run>> {
    let order = test.order.as_ref();
    let before = order.and_then(|order| order.sets.first());
    let cases: Option<Vec<&TestCase>> =
        before.into_iter().flatten().chain([&case.name]).map(|name| suite.test(name)).collect();
    let Some(cases) = cases else { return Some(Vec::new()) };
    let spec = options
        .clean_spec(&case.name)
        .after(before.cloned().unwrap_or_default())
        .watching(watch.to_vec());
    launcher.experiment(None, &[options.timeout], &suite.binary, &cases, &spec)
}

/// Results of running one test.
#[derive(Debug, Default)]
pub(super) struct TrialResult {
    /// Lines that the test ran.
    pub(super) lines: BTreeSet<FileLine>,
    /// Whether the lines are complete: every process wrote a complete record.
    pub(super) is_known: bool,
    /// Whether the test passed in a run.
    pub(super) passed: bool,
    /// Changed files that the test opened.
    pub(super) opened: Opened,
}

/// Runs of tests in a build whose crates record what they run.
pub(super) struct Trials<'a> {
    project: &'a Project,
    session: &'a Session<'a>,
    programs: Programs,
    watched: Watched,
}

impl<'a> Trials<'a> {
    /// Prepares runs of the tests of a project, and watches the changed files.
    pub(super) fn new(project: &'a Project, data: &[DataFile], session: &'a Session<'a>) -> Self {
        let programs = Programs::default();
        Trials { project, session, programs, watched: Watched::new(data, project) }
    }

    /// Returns all compiled lines of the programs that ran.
    pub(super) const fn compiled(&self) -> &BTreeSet<FileLine> {
        &self.programs.compiled
    }

    /// Runs a test once, or a failing one until it fails.
    pub(super) fn of(&mut self, test: &TestReport, is_failing: bool) -> TrialResult {
        let mut trial = TrialResult::default();
        let found = project::find(&self.project.suites, &test.binary, &test.name);
        let Some((suite, case)) = found else { return trial };
        let mut options = self.session.options.of(&test.id).into_owned();
        options.cover = true;
        let launcher = self.session.launcher();
        let own = suite.binary.executable_of(case);
        // Discards events about what other processes opened before this test.
        let _ = self.watched.opened();
        let watch = self.watched.states();
        let mut asked = BTreeSet::new();
        for _ in 0..if is_failing { RUNS } else { 1 } {
            let after = after(&launcher, suite, case, test, &options, &watch);
            let Some(runs) = after else { return TrialResult::default() };
            let Some(run) = runs.last() else { return trial };
            trial.is_known = coverage::has_own_record(own, &run.covered);
            for covered in runs.iter().flat_map(|run| &*run.covered) {
                let (programs, lines) = (&mut self.programs, &mut trial.lines);
                trial.is_known &=
                    !covered.is_lost & programs.add(&covered.program, &covered.blocks, lines);
            }
            asked.extend(self.watched.asked(&run.accesses));
            if !run.passed() {
                break;
            }
            trial.passed = true;
        }
        trial.opened = self.watched.opened();
        trial.opened.files.extend(asked);
        trial
    }

    /// Runs a test that always fails once more in the same process, and once in a clean
    /// environment. Returns in which of these it passed, if any.
    pub(super) fn again(&self, test: &TestReport) -> Result<Option<Witness>> {
        let found = project::find(&self.project.suites, &test.binary, &test.name);
        let Some((suite, case)) = found else { return Ok(None) };
        let options = self.session.options.of(&test.id);
        let launcher = self.session.launcher();
        let limits = &[options.timeout];
        let spec = options.clean_spec(&case.name);
        if suite.binary.harness == Harness::Nondex {
            let twice = spec.clone().after(vec![case.name.clone()]);
            let runs = launcher.experiment(None, limits, &suite.binary, &[case, case], &twice);
            if runs.is_some_and(|runs| runs.last().is_some_and(Run::passed)) {
                return Ok(Some(Witness::SameProcess));
            }
        }
        let folder = self.session.directory.path().join("clean");
        let clean = Circumstance::CleanEnvironment;
        let runs = circumstance::under(clean, &suite.binary, folder.as_std_path(), |binary| {
            launcher.experiment(None, limits, binary, &[case], &spec)
        })
        .or_setup(format_args!("failed to write in `{folder}`"))?;
        let has_passed = runs.is_some_and(|runs| runs.iter().all(Run::passed));
        Ok(has_passed.then_some(Witness::CleanEnvironment))
    }
}
