//! Request of a command line. Its errors are reported before anything is built.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::NetworkMode;

use crate::campaign::{SelectedTests, StopFlag};
use crate::cli::test_filter::{ResolvedFilter, TestFilter};
use crate::cli::{RunArgs, TestingArgs};
use crate::command::configuration::Asked;
use crate::command::console::Console;
use crate::command::known::KnownFlakes;
use crate::command::report::regressions_file;
use crate::command::selection::{self, Divided};
use crate::command::session::Stages;
use crate::command::setup::{self, TestVariables};
use crate::config::PerTest;
use crate::error::{Error, Result};
use crate::findings::{Regressions, TriedSeed};
use crate::judge::{ExperimentPurpose, Options};
use crate::project::{self, BuildPlan, Doctests, Harness, Project, Suite};
use crate::report::{Report, RunInfo, TestReport, exit, plural};
use crate::repository::{self, Git};

/// Command line whose parts were checked.
pub(super) struct RunRequest<'a> {
    args: &'a RunArgs,
    asked: &'a Asked,
    stages: Stages,
    filter: ResolvedFilter<'a>,
    per_test: PerTest<'a>,
    models_off: Vec<String>,
    known: KnownFlakes,
    build: BuildPlan,
}

impl<'a> RunRequest<'a> {
    /// Checks the command line. `filter` is the filter of `args`.
    ///
    /// # Errors
    /// When the command line names something that the workspace or its repository does not have, or
    /// a configuration file is invalid.
    pub(super) fn new(
        args: &'a RunArgs,
        asked: &'a Asked,
        filter: &'a TestFilter,
        stages: Stages,
        console: &Console,
    ) -> Result<Self> {
        let models_off = args.testing.models.models_off()?;
        let changed = args.testing.changed.changed.as_ref();
        if let Some((base, root)) = changed.zip(asked.config.root.as_deref()) {
            repository::base(&Git::around(root)?, base.as_deref())?;
        }
        let overrides = &asked.config.profile.overrides;
        let mut build = plan(&args.testing, asked, console)?;
        let models = &args.testing.models;
        if build.archive.is_none() && !models.files().are_all() {
            models.check_files(&project::metadata(&build, true)?, &build.directory)?;
        }
        let is_remembered = args.testing.changed.changed.is_some() && stages.have_choices();
        build.covered = is_remembered;
        // Like nextest, `test` runs no doctests by default: each is compiled separately.
        let has_doctests = match stages.world() {
            Some(_) => args.testing.project.build.doc,
            None => stages.have_choices(),
        };
        build.doctests = if has_doctests { filter.doctests() } else { Doctests::No };
        let is_needed = filter.has_filtersets() || !overrides.is_empty();
        let workspace = selection::workspace(&build, is_needed)?;
        Ok(RunRequest {
            args,
            asked,
            stages,
            filter: filter.resolve(&workspace)?,
            per_test: PerTest::new(overrides, asked.given, &workspace)?,
            models_off,
            known: KnownFlakes::of(asked, || selection::workspace(&build, true))?,
            build,
        })
    }

    /// Builds the tests.
    ///
    /// # Errors
    /// When the tests do not compile, or the build was interrupted.
    pub(super) fn build(&self, stop: &StopFlag, console: &Console) -> Result<Project> {
        match project::build(&self.build, console.quiet) {
            _ if stop.is_set() => Err(Error::build("interrupted while the tests were built")),
            built => {
                let mut project = built?;
                self.filter.leave_out(&mut project.suites);
                Ok(project)
            }
        }
    }

    /// Returns the plan of the same build without instrumentation for coverage.
    pub(super) fn plain(&self) -> BuildPlan {
        BuildPlan { covered: false, ..self.build.clone() }
    }

    /// Runs the setup scripts that the requested tests need, unless no tests are to be run. Returns
    /// the variables that the scripts set.
    ///
    /// # Errors
    /// When a script fails.
    pub(super) fn set_up(&self, project: &Project, console: &Console) -> Result<TestVariables> {
        let scripts = &self.asked.config.nextest.scripts;
        if scripts.is_empty() || self.args.testing.no_run {
            return Ok(TestVariables::new());
        }
        let selected = self.selected(project);
        let workspace = selection::workspace(&self.build, true)?;
        setup::run(scripts, &selected, &workspace, project, console)
    }

    /// Returns the requested tests. With other orders, a partition divides binaries, not single
    /// tests.
    fn selected<'p>(&self, project: &'p Project) -> Vec<SelectedTests<'p>> {
        let by = if self.stages.have_orders() { Divided::Binaries } else { Divided::Tests };
        selection::select(&project.suites, &self.filter, by)
    }

    /// Returns the requested tests.
    ///
    /// # Errors
    /// When there are none.
    pub(super) fn select<'p>(
        &self,
        project: &'p Project,
        console: &Console,
    ) -> Result<Vec<SelectedTests<'p>>> {
        let selected = self.selected(project);
        let left_out = selection::all(&project.suites).filter(|(_, test)| test.left_out).count();
        if left_out > 0 {
            let tests = plural(left_out, "test");
            console.note(&format!(
                "nextest's `default-filter` leaves out {tests}: --ignore-default-filter runs them"
            ));
        }
        let limit = selected.iter().find_map(|one| selection::at_once(self.asked, one.suite));
        if let Some((number, source)) = limit {
            let tests = plural(number.get(), "test");
            console.note(&format!("`{source}` lets {tests} run at a time: --jobs N runs N"));
        }
        selection::expect_some(&project.suites, &selected, &self.filter, console)
            .inspect_err(|_| console.notes(&selection::notes(project, &selected)))?;
        let asked = &self.args.testing.project;
        if !asked.build.is_narrowed() && !asked.filter.is_given() {
            let unused = self.per_test.unused(&project.suites);
            unused.iter().for_each(|warning| console.warning(warning));
        }
        Ok(selected)
    }

    /// Returns the options for the tests of `project`.
    pub(super) fn options(&self, project: &Project, console: &Console) -> Result<Options> {
        let mut options = options(self.args, project.workspace_root.clone());
        options.command.clone_from(&self.asked.line);
        options.world = self.stages.world();
        options.models_off.clone_from(&self.models_off);
        options.files = self.args.testing.models.files();
        // Tests that are not selected count too, because they may run before others.
        let tests = selection::all(&project.suites);
        let at_once = |suite: &Suite| Some(selection::at_once(self.asked, suite)?.0);
        options.required = Arc::new(self.per_test.required(tests.clone(), at_once));
        options.per_test = self.per_test.of(tests);
        for (test, tried) in self.regressions(project, console)? {
            options.per_test.entry(test).or_default().regressions = tried;
        }
        for sanitiser in &self.asked.config.sanitisers {
            options.prerequisites.push(Arc::new(sanitiser.clone()));
        }
        options.build_words = self.build.own_words();
        let share = self.stages.share();
        options.max_time = self.args.testing.max_time.map(|time| time.mul_f64(share));
        options.cover = self.build.covered;
        Ok(options)
    }

    /// Marks the known flakes in a report, and lists the entries whose test the project does not
    /// have.
    pub(super) fn mark_known(&self, project: &Project, report: &mut Report) {
        report.overdue = self.known.missing(project);
        self.known.apply(&project.workspace_root, report);
    }

    /// Returns whether a test fails the run. A known flake does not.
    pub(super) fn is_failure(&self, root: &Utf8Path, test: &TestReport) -> bool {
        let mut report = Report::new(RunInfo::default(), vec![test.clone()], Vec::new());
        self.known.apply(root, &mut report);
        let strict = self.args.strict.unwrap_or(false);
        report.tests.iter().any(|test| exit::is_failure(test, strict))
    }

    /// Returns the choices that made tests fail before, by test id.
    fn regressions(
        &self,
        project: &Project,
        console: &Console,
    ) -> Result<BTreeMap<String, Vec<TriedSeed>>> {
        let named = self.args.regressions.as_deref();
        let file = regressions_file(named, &project.workspace_root)?;
        if named.is_some() && !file.is_file() {
            return Err(Error::setup(format!(
                "there are no regressions at `{file}`: `cargo nondex report --export {file}` \
                 writes them"
            )));
        }
        let (by_test, outdated) = Regressions::read(&file)?.by_test();
        if outdated > 0 {
            console.note(&format!(
                "{} in `{file}` came from another version of the algorithm and cannot be tried: \
                 export them again",
                plural(outdated, "regression")
            ));
        }
        for test in by_test.keys().filter(|test| is_gone(project, test)) {
            console
                .warning(&format!("`{file}`: there is no test `{test}`: remove its regressions"));
        }
        Ok(by_test)
    }
}

/// Returns whether a binary was built that no longer has the test with this id. Only requested
/// doctests are built, so no doctest counts as gone.
fn is_gone(project: &Project, id: &str) -> bool {
    let binary = id.split_once('$').map(|(binary, _)| binary);
    let mut suites = project.suites.iter().filter(|suite| {
        Some(suite.binary.id.as_str()) == binary && suite.binary.harness != Harness::Doctest
    });
    suites.next().is_some_and(|suite| suite.tests.iter().all(|test| suite.test_id(test) != id))
}

/// Returns the build plan.
fn plan(args: &TestingArgs, asked: &Asked, console: &Console) -> Result<BuildPlan> {
    let mut plan = selection::plan(&args.project.build, &args.project.archive, console)?;
    // An override may observe the network for single tests, and sanitisers observe the same
    // functions. Without both, nothing that observes the network is linked into the tests.
    let config = &asked.config;
    let mut overrides = config.profile.overrides.iter();
    plan.without_network = args.network.network == Some(NetworkMode::Off)
        && overrides.all(|found| found.get_ref().network.is_none())
        && config.sanitisers.is_empty();
    Ok(plan)
}

/// Returns the options that the flags set.
fn options(args: &RunArgs, root: Utf8PathBuf) -> Options {
    let mut options = Options::new(root);
    options.levels = args.levels();
    options.seeds = args.seeds();
    options.schedule = args.schedule.unwrap_or_default();
    options.prune = !args.no_prune;
    options.all_levels = args.no_prune;
    options.exhaustive = args.exhaustive.unwrap_or(0);
    options.search_runs = args.search_runs.unwrap_or(options.search_runs);
    options.every_seed = args.wants_every_seed();
    options.further_seeds = args.wants_further_seeds().then_some(ExperimentPurpose::Extend);
    options.budget_factor = args.budget_factor();
    options.strict = args.strict.unwrap_or(false);
    options.max_fail = args.max_fail;
    options.no_capture = args.no_capture;
    options.real_threads = args.real_threads.unwrap_or(false);
    options.max_steps = args.max_steps.unwrap_or(0);
    options.clean_runs = args.clean_runs.unwrap_or(options.clean_runs);
    let testing = &args.testing;
    options.timeout = testing.timeout.unwrap_or(options.timeout);
    options.jobs = if args.no_capture {
        NonZeroUsize::MIN
    } else {
        testing.project.build.jobs.unwrap_or(options.jobs)
    };
    options.network = testing.network.policy();
    options.max_sanitised = testing.network.max_sanitised;
    options
}
