//! How tests end without the change.

use std::cell::OnceCell;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use super::Session;
use super::trials::after;
use crate::campaign::launch::{Launcher, Setting};
use crate::campaign::{self, Pace, Selected, Silent};
use crate::error::Result;
use crate::judge::Options;
use crate::judge::certainty::{MOST, runs_without_failure};
use crate::judge::change::AtBase;
use crate::project::{self, BuildPlan, Project, Suite, TestCase};
use crate::report::{TestReport, Verdict};
use crate::repository::{Copy, Git, former_name};

/// Number of runs in canonical order of a test that fails by chance.
const CLEAN_RUNS: NonZeroU32 = NonZeroU32::new(20).unwrap();

/// How long the runs may take together that are made to see whether it fails by chance without the
/// change, too.
const MAX_TIME: Duration = Duration::from_secs(30);

/// The project as it was.
pub(super) struct Base<'a> {
    git: &'a Git,
    commit: &'a str,
    now: &'a Project,
    session: &'a Session<'a>,
    /// Its content, if that is known.
    tree: Option<String>,
    /// Built when it is needed first.
    project: OnceCell<Option<Project>>,
}

impl<'a> Base<'a> {
    /// The project at `commit`, and whether all sources of it are in the commit; `now` is the
    /// project as it is.
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

    /// The project, built in a checkout of our own; none when it cannot be.
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

    fn build(&self) -> Result<Project> {
        let root = &self.now.workspace_root;
        let folder = self.now.target_dir.join("nondex/deflake");
        let copy = Copy::of(self.git, root, &folder.join("checkout"))?;
        copy.check_out(self.commit)?;
        let plan = BuildPlan {
            manifest_path: Some(copy.workspace().join("Cargo.toml")),
            target_dir: Some(folder.join("target")),
            ..self.session.plain.plan.written(root).in_workspace(copy.workspace())
        };
        project::build(&plan, self.session.console.quiet)
    }

    /// How a test ends, which had one of these `names`: as it is remembered, or else it is tried.
    /// What is remembered is tried again when the test may have `met` the change: what made it fail
    /// may have changed meanwhile.
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
            // It was so before.
            Some(verdict) if !is_broken && verdict == test.verdict => Ok(AtBase::Fails),
            _ => self.tried(test, names, met),
        }
    }

    /// The name that the function of a test had.
    fn former_name(&self, test: &TestReport) -> Option<String> {
        let file = test.file.as_ref()?;
        let root = &self.now.workspace_root;
        let within = root.strip_prefix(self.git.root()).ok()?.join(file);
        former_name(self.git, self.commit, within.as_str(), &test.name)
    }

    /// How a test ends: it is run as it was run with the change, and at least so often that chance
    /// shows. Where the test may have `met` the change, it matters how often that is.
    fn tried(&self, test: &TestReport, names: &[String], met: bool) -> Result<AtBase> {
        let Some(project) = self.project() else { return Ok(AtBase::Untried) };
        let mut names = names.iter();
        let found = names.find_map(|name| project::find(&project.suites, &test.binary, name));
        let gone = |function: &str| {
            project::gone(&project.suites, &self.now.suites, (&test.binary, function))
        };
        let function = test.name.rsplit("::").next().unwrap_or(&test.name);
        let found = found.or_else(|| gone(function)).or_else(|| gone(&self.former_name(test)?));
        let Some((suite, case)) = found else { return Ok(AtBase::Absent) };
        let mut options = self.session.options.of(&test.id).into_owned();
        let (directory, stop) = (self.session.directory, self.session.stop);
        if test.verdict == Verdict::OrderDependentVictim {
            let launcher = Launcher::new(directory.records(), stop);
            let Some(runs) = after(&launcher, suite, case, test, &options, &[]) else {
                return Ok(AtBase::Untried);
            };
            return Ok(match runs.last() {
                Some(run) if !run.passed() => AtBase::Fails,
                // Without those before it, it has nothing to fail by.
                _ => AtBase::Passes,
            });
        }
        let selected = Selected::one(suite, case);
        if test.verdict != Verdict::Broken {
            options.clean_runs = options.clean_runs.max(CLEAN_RUNS);
        }
        let report = campaign::run(&[selected], &options, directory, None, None, &Silent, stop)?;
        let before = report.tests.first();
        let verdict = before.map(|test| test.verdict);
        // What always fails now is more than a choice that some seeds made before.
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

    /// Runs a test that passed with real threads and real time, until it fails or it is clear that
    /// it does not do so by chance.
    fn by_chance(
        &self,
        suite: &Suite,
        case: &TestCase,
        test: &TestReport,
        options: &Options,
    ) -> AtBase {
        let (records, stop) = (self.session.directory.records(), self.session.stop);
        let launcher = Launcher::new(records, stop).as_plain();
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

/// Whether a test depends on choices, and passes where all are canonical.
fn passes_canonically(test: &TestReport) -> bool {
    test.verdict == Verdict::ImplementationDependent
        && test.failures.iter().all(|failure| failure.level.is_some())
}
