//! Outcomes of tests without the change.

use std::cell::OnceCell;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use super::super::checkout;
use super::Session;
use super::trials::after;
use crate::campaign::{self, Pace, SelectedTests, Setting, Silent};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::judge::Options;
use crate::judge::certainty::{MOST, runs_without_failure};
use crate::judge::change::AtBase;
use crate::project::{self, BuildPlan, Checkout, Doctests, Project, Suite, TestCase};
use crate::report::{TestReport, Verdict};
use crate::repository::{Git, former_name};

/// Number of runs in canonical order of a test that fails by chance.
const CLEAN_RUNS: NonZeroU32 = NonZeroU32::new(20).unwrap();

/// Maximum total time of the runs that decide whether a test also fails by chance without the
/// change.
const MAX_TIME: Duration = Duration::from_secs(30);

/// The project before the change.
pub(super) struct Base<'a> {
    git: &'a Git,
    commit: &'a str,
    /// The project with the change.
    now: &'a Project,
    session: &'a Session<'a>,
    /// Content of the base commit as a git tree, if all sources are in the repository.
    tree: Option<String>,
    /// Build of the base commit, made on first use; `None` inside if it failed.
    project: OnceCell<Option<Project>>,
}

impl<'a> Base<'a> {
    /// Creates the project at `commit`. `is_whole` is whether all its sources are in the commit.
    /// `now` is the project with the change.
    pub(super) fn of(
        git: &'a Git,
        (commit, is_whole): (&'a str, bool),
        now: &'a Project,
        session: &'a Session<'a>,
    ) -> Self {
        Base {
            git,
            commit,
            now,
            session,
            tree: session.past.tree(commit).filter(|_| is_whole),
            project: OnceCell::new(),
        }
    }

    /// Returns the project at the base commit, built in a separate checkout. Returns `None` if the
    /// build failed, after a note about the error.
    fn project(&self) -> Option<&Project> {
        let built = self.project.get_or_init(|| {
            let built = self.build();
            if let Err(error) = &built {
                self.session
                    .console
                    .note(&format!("the code before the change could not be tried: {error}"));
            }
            built.ok()
        });
        built.as_ref()
    }

    /// Builds the base commit with the options of the present build.
    fn build(&self) -> Result<Project> {
        let root = &self.now.workspace_root;
        let folder = self.now.target_dir.join("nondex/deflake");
        let plan = &self.session.plain.plan;
        let copy = checkout::prepare(self.git, plan, [root, &self.now.target_dir], "deflake")?;
        copy.check_out(self.commit)?;
        if copy.has_other_toolchain() {
            return Err(Error::setup(
                "the change selects another toolchain, and only one is used for both builds",
            ));
        }
        let plan = BuildPlan {
            manifest_path: Some(copy.workspace().join("Cargo.toml")),
            target_dir: Some(folder.join("target")),
            inherited_from: Some(self.now.target_dir.clone()),
            ..plan.written(root).in_workspace(copy.workspace())
        };
        let plan = plan.in_checkout(Checkout::new(copy.root(), self.git.root()));
        let quiet = self.session.console.quiet;
        match project::build(&plan, quiet) {
            // A selected target may have had another name.
            Err(error) if error.code() == ExitCode::Usage && !plan.targets.is_empty() => {
                let whole =
                    BuildPlan { targets: Vec::new(), doctests: Doctests::No, ..plan.clone() };
                project::build(&whole, quiet).map_err(|_| error)
            }
            built => built,
        }
    }

    /// Returns the test with one of these `names` in a binary that existed at the base and is gone,
    /// if the test's own binary did not exist and there is only one such test.
    fn in_gone_binary<'p>(
        &self,
        project: &'p Project,
        test: &TestReport,
        names: &[String],
    ) -> Option<(&'p Suite, &'p TestCase)> {
        let exists = |id: &String| {
            self.now.metadata.packages.iter().any(|package| {
                let mut targets = package.targets.iter();
                targets.any(|target| project::binary_id(&package.name, target) == *id)
            })
        };
        if project.suites.iter().any(|suite| suite.binary.id == test.binary) {
            return None;
        }
        let mut found = project
            .suites
            .iter()
            .filter(|suite| suite.binary.package == test.package && !exists(&suite.binary.id))
            .filter_map(|suite| Some((suite, names.iter().find_map(|name| suite.test(name))?)))
            .filter(|(_, case)| case.doctest.is_none());
        found.next().filter(|_| found.next().is_none())
    }

    /// Returns the outcome of a test that had one of these `names` at the base. Uses the history if
    /// it has this outcome, and runs the test otherwise. A broken test that passed earlier is run
    /// again if it may have `met` the change. The reason for its failure may have appeared since
    /// then.
    pub(super) fn of_test(&self, test: &TestReport, names: &[String], met: bool) -> Result<AtBase> {
        let is_named_so = names.contains(&test.name);
        let tree = self.tree.as_ref().filter(|_| is_named_so);
        let remembered =
            tree.and_then(|tree| self.session.past.of_test(tree, &test.id, self.session.options));
        let is_broken = test.verdict == Verdict::Broken;
        match remembered {
            Some(Verdict::Stable | Verdict::Passed) if is_broken && !met => Ok(AtBase::Passes),
            Some(Verdict::Stable | Verdict::Passed) if is_broken => {
                Ok(match self.tried(test, names, met)? {
                    AtBase::Fails => AtBase::FailsNow,
                    AtBase::Untried => AtBase::Passes,
                    tried => tried,
                })
            }
            // The test had the same verdict before.
            Some(verdict) if !is_broken && verdict == test.verdict => Ok(AtBase::Fails),
            _ => self.tried(test, names, met),
        }
    }

    /// Returns the earlier name of the test's function.
    fn former_name(&self, test: &TestReport) -> Option<String> {
        let file = test.file.as_ref()?;
        let root = &self.now.workspace_root;
        let within = root.strip_prefix(self.git.root()).ok()?.join(file);
        former_name(self.git, self.commit, within.as_str(), &test.name)
    }

    /// Runs a test at the base as it was run with the change, often enough to see a failure by
    /// chance. If the test may have `met` the change, it is run until the failure rates can be
    /// compared.
    fn tried(&self, test: &TestReport, names: &[String], met: bool) -> Result<AtBase> {
        let Some(project) = self.project() else { return Ok(AtBase::Untried) };
        let found = names
            .iter()
            .find_map(|name| project::find(&project.suites, &test.binary, name))
            .or_else(|| self.in_gone_binary(project, test, names));
        let gone = |function: &str| {
            project::gone(&project.suites, &self.now.suites, (&test.binary, function))
        };
        let function = test.name.rsplit("::").next().unwrap_or(&test.name);
        let found = found.or_else(|| gone(function)).or_else(|| gone(&self.former_name(test)?));
        let Some((suite, case)) = found else { return Ok(AtBase::Absent) };
        let mut options = self.session.options.of(&test.id).into_owned();
        if test.verdict == Verdict::OrderDependentVictim {
            let Some(runs) = after(&self.session.launcher(), suite, case, test, &options, &[])
            else {
                return Ok(AtBase::Untried);
            };
            return Ok(match runs.last() {
                Some(run) if !run.passed() => AtBase::Fails,
                // If a test that must run before it does not exist, nothing makes it fail.
                _ => AtBase::Passes,
            });
        }
        let selected = SelectedTests::one(suite, case);
        if test.verdict != Verdict::Broken {
            options.clean_runs = options.clean_runs.max(CLEAN_RUNS);
        }
        let Session { directory, stop, .. } = *self.session;
        let report = campaign::run(&[selected], &options, directory, None, None, &Silent, stop)?;
        let before = report.tests.first();
        let verdict = before.map(|test| test.verdict);
        // The test now fails in every run. At the base only some seeds made it fail, so the change
        // made it worse.
        let is_worse = test.verdict == Verdict::Broken && before.is_some_and(passes_canonically);
        let is_by_chance = matches!(test.verdict, Verdict::NonDeterministic | Verdict::Unknown);
        Ok(match verdict.filter(|_| !report.partial) {
            Some(Verdict::Stable | Verdict::Passed) if is_by_chance && met => {
                self.by_chance(suite, case, test, &options)
            }
            Some(Verdict::Stable | Verdict::Passed) => AtBase::Passes,
            Some(_) if is_worse => AtBase::Passes,
            None | Some(Verdict::NotRun | Verdict::Network) => AtBase::Untried,
            Some(_) => AtBase::Fails,
        })
    }

    /// Runs a test that passed with real threads and real time. Stops when it fails, or when it
    /// passed so often that it does not fail by chance.
    fn by_chance(
        &self,
        suite: &Suite,
        case: &TestCase,
        test: &TestReport,
        options: &Options,
    ) -> AtBase {
        let launcher = self.session.launcher().as_plain();
        let spec = options.natural_spec(&case.name);
        let wanted = runs_without_failure(test.least_rate());
        let begin = Instant::now();
        let mut pace = Pace::of(&test.sources);
        for made in 0..wanted {
            if made >= MOST || begin.elapsed() > MAX_TIME {
                return AtBase::Passes;
            }
            pace.wait();
            let (limit, binary) = (options.timeout, &suite.binary);
            match launcher.run(Setting::Shared, limit, binary, case, &spec) {
                Ok(run) if run.passed() => {}
                Ok(_) => return AtBase::Fails,
                Err(_) => return AtBase::Untried,
            }
        }
        AtBase::PassesAlways
    }
}

/// Returns whether a test depends on choices and passes in canonical order.
fn passes_canonically(test: &TestReport) -> bool {
    test.verdict == Verdict::ImplementationDependent
        && test.failures.iter().all(|failure| failure.level.is_some())
}
