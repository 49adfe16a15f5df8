//! Decides whether a test is flaky at a commit.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use nondex_core::{ALGORITHM, Level, RunSpec, Schedule};
use serde::{Deserialize, Serialize};

use super::super::checkout;
use super::category::Category;
use crate::campaign::{self, Launcher, Pace, SelectedTests, Setting, Silent, StopFlag, across};
use crate::cli::BisectArgs;
use crate::error::Result;
use crate::judge::Options;
use crate::judge::bisect::Tried;
use crate::project::{
    self, BuildPlan, Checkout, Doctests, Folders, Project, Suite, TestBinary, TestCase,
};
use crate::report::{Line, Report, RunDirectory, TestReport, Verdict};
use crate::repository::{Copy, Git};

/// Result of trying a commit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CommitTrial {
    /// Whether the test is flaky at the commit.
    pub(super) tried: Tried,
    /// Verdict, or the reason why there is none.
    pub(super) what: String,
    /// Line of the responsible call.
    pub(super) place: Option<Line>,
}

impl CommitTrial {
    /// Returns a result without a responsible call.
    fn new(tried: Tried, what: impl Into<String>) -> Self {
        CommitTrial { tried, what: what.into(), place: None }
    }
}

/// Builds commits and runs the test in each.
pub(super) struct Oracle<'a> {
    test: &'a TestReport,
    /// Earlier names of each test's function, by the name of the test in the report.
    pub(super) names: BTreeMap<String, Vec<String>>,
    /// Commit that introduced the test.
    pub(super) introduced: Option<String>,
    git: &'a Git,
    category: Category,
    seeds: u64,
    copy: Copy,
    plan: BuildPlan,
    toolchain: String,
    directory: RunDirectory,
    stop: &'a StopFlag,
    quiet: bool,
    /// Number of builds.
    pub(super) builds: u64,
    /// Number of started test processes.
    pub(super) runs: u64,
}

impl<'a> Oracle<'a> {
    /// Prepares the checkout and the build plan for a test of a report.
    ///
    /// # Errors
    /// When this kind of flakiness cannot be searched, or no checkout can be made.
    pub(super) fn new(
        args: &BisectArgs,
        place: &Folders,
        git: &'a Git,
        report: &Report,
        test: &'a TestReport,
        stop: &'a StopFlag,
        quiet: bool,
    ) -> Result<Self> {
        let folder = place.target_dir.join("nondex/bisect");
        let category = Category::of(test)?;
        let build = report.run.build.clone().unwrap_or_default();
        let folders = [place.workspace_root.as_path(), &place.target_dir];
        let here = build.in_workspace(folders[0]);
        let copy = checkout::prepare(git, &here, folders, "bisect")?;
        let target = folder.join("target");
        let plan = BuildPlan {
            manifest_path: Some(copy.workspace().join("Cargo.toml")),
            directory: copy.workspace().to_owned(),
            target_dir: Some(target.clone()),
            inherited_from: Some(place.target_dir.clone()),
            packages: category.packages(&test.package),
            workspace: false,
            exclude: Vec::new(),
            targets: Vec::new(),
            doc: false,
            offline: args.offline || build.offline,
            locked: false,
            frozen: false,
            doctests: if test.binary.contains("::doc/") {
                Doctests::one(&test.name)
            } else {
                Doctests::No
            },
            ..build
        };
        let plan = plan.in_checkout(Checkout::new(copy.root(), git.root()));
        Ok(Oracle {
            test,
            names: BTreeMap::new(),
            introduced: None,
            git,
            category,
            seeds: args.seeds,
            copy,
            plan,
            toolchain: report.run.toolchain.clone(),
            directory: RunDirectory::create(&target)?,
            stop,
            quiet,
            builds: 0,
            runs: 0,
        })
    }

    /// Returns a key of everything besides the commit that determines a result.
    pub(super) fn key(&self) -> String {
        let Oracle { test, category, seeds, toolchain, .. } = self;
        format!("{ALGORITHM} {} {category:?} {seeds} {toolchain}", test.id)
    }

    /// Returns whether a commit may be reported as stable by mistake, because chance decides.
    pub(super) const fn may_err(&self) -> bool {
        matches!(self.category, Category::Chance { .. })
    }

    /// Tries a commit. With `thoroughly`, a test that fails by chance is run three times as often.
    /// Returns `None` if the search was stopped.
    pub(super) fn attempt(
        &mut self,
        commit: &str,
        thoroughly: bool,
    ) -> Result<Option<CommitTrial>> {
        if self.stop.is_set() {
            return Ok(None);
        }
        if let Err(error) = self.copy.check_out(commit) {
            return Ok(Some(CommitTrial::new(Tried::Skipped, error.to_string())));
        }
        self.builds += 1;
        let plan = self.plan_here();
        // The test is mostly where it is now, and other targets may take long to build.
        let own = self.own_target().filter(|_| !plan.workspace);
        if let Some(targets) = own {
            let plan = BuildPlan { targets, ..plan.clone() };
            if let Ok(project) = project::build(&plan, self.quiet)
                && let Some((suite, case)) = self.find(&project)
            {
                let trial = self.trial(&project, (suite, case), thoroughly)?;
                // If the test needs programs of other targets, it fails here.
                if trial.as_ref().is_none_or(|trial| trial.tried != Tried::Skipped) {
                    return Ok(trial);
                }
            }
            if self.stop.is_set() {
                return Ok(None);
            }
        }
        let built = project::build(&plan, self.quiet);
        if self.stop.is_set() {
            return Ok(None);
        }
        let project = match built {
            Ok(project) => project,
            Err(error) => {
                let message = error.to_string();
                let first = message.lines().next().unwrap_or_default();
                return Ok(Some(CommitTrial::new(Tried::Skipped, first)));
            }
        };
        let Some(found) = self.find(&project) else {
            // Before its introduction, the test cannot be flaky. If it was missing for a while
            // later, its state is unknown.
            let introduced = self.introduced.as_ref();
            let is_missing = introduced.is_some_and(|first| self.git.leads_to(first, commit));
            let tried = if is_missing { Tried::Skipped } else { Tried::Stable };
            return Ok(Some(CommitTrial::new(tried, "there is no such test")));
        };
        self.trial(&project, found, thoroughly)
    }

    /// Runs the test as its kind of flakiness requires. Returns `None` if it was stopped.
    fn trial(
        &mut self,
        project: &Project,
        (suite, case): (&Suite, &TestCase),
        thoroughly: bool,
    ) -> Result<Option<CommitTrial>> {
        let trial = match self.category.clone() {
            Category::Choices { level, known } => self.by_choices(suite, case, level, known)?,
            Category::Order { before, fails } => {
                self.by_order(project, suite, case, &before, fails)
            }
            Category::Chance { runs } => {
                let runs = if thoroughly { runs * 3 } else { runs };
                self.by_chance(project, suite, case, runs)
            }
        };
        Ok(trial.filter(|_| !self.stop.is_set()))
    }

    /// Returns cargo's arguments for the target that has the test today. Returns `None` if tests of
    /// other binaries are needed too, or for a doctest.
    fn own_target(&self) -> Option<Vec<String>> {
        if matches!(self.category, Category::Order { .. }) {
            return None;
        }
        target_words(&self.test.package, &self.test.binary)
    }

    /// Returns the build plan for this commit. Builds the whole workspace if a required package
    /// does not exist under its present name.
    fn plan_here(&self) -> BuildPlan {
        let mut plan = self.plan.clone();
        let is_whole = project::metadata(&plan, false).is_ok_and(|metadata| {
            let members = metadata.workspace_packages();
            let has = |name: &String| members.iter().any(|package| *package.name == *name);
            !plan.packages.iter().all(has)
        });
        if is_whole {
            plan.packages.clear();
            plan.workspace = true;
        }
        plan
    }

    /// Finds the test among those of a commit.
    fn find<'p>(&self, project: &'p Project) -> Option<(&'p Suite, &'p TestCase)> {
        find(project, &self.test.binary, |suite| self.named(suite, &self.test.name))
    }

    /// Returns the test of a binary with this name, or the only test whose function has one of its
    /// earlier names.
    fn named<'p>(&self, suite: &'p Suite, name: &str) -> Option<&'p TestCase> {
        suite.test(name).or_else(|| {
            let known = self.names.get(name)?;
            let is_known = |case: &&TestCase| known.iter().any(|known| known == case.function());
            only(suite.tests.iter().filter(is_known))
        })
    }

    /// Finds a test that must run before the test of `suite`. This is another test of the same
    /// binary, or the test with this id in another binary. If that binary does not have it, finds
    /// it in the only binary that does.
    fn earlier<'p>(
        &self,
        project: &'p Project,
        suite: &'p Suite,
        name: &str,
    ) -> Option<(&'p Suite, &'p TestCase)> {
        if let Some(case) = self.named(suite, name) {
            return Some((suite, case));
        }
        let (binary, test) = name.split_once('$')?;
        find(project, binary, |other| other.test(test).or_else(|| self.named(other, name)))
    }

    /// Returns the tests whose history is needed: the test and the tests that run before it.
    pub(super) fn tests(&self) -> Vec<String> {
        [&self.test.name].into_iter().chain(self.category.before()).cloned().collect()
    }

    /// Returns the options for single runs in canonical order.
    fn options(&self, project: &Project) -> Options {
        Options {
            seeds: Vec::new(),
            clean_runs: NonZeroU32::MIN,
            ..Options::new(project.workspace_root.clone())
        }
    }

    /// Runs a campaign at the level of the finding. Returns `None` if it was stopped.
    fn by_choices(
        &mut self,
        suite: &Suite,
        case: &TestCase,
        level: Level,
        known: Vec<(Schedule, Level, u64)>,
    ) -> Result<Option<CommitTrial>> {
        let selected = SelectedTests::one(suite, case);
        let options = Options {
            levels: vec![level],
            seeds: (0..self.seeds).collect(),
            regressions: known,
            ..Options::new(self.copy.workspace().to_owned())
        };
        let report =
            campaign::run(&[selected], &options, &self.directory, None, None, &Silent, self.stop)?;
        self.runs += report.summary.runs;
        let Some(test) = report.tests.into_iter().next().filter(|_| !report.partial) else {
            return Ok(None);
        };
        let place = test.culprits.first().map(|culprit| {
            let (file, line, _) = culprit.place();
            Line { file: file.to_owned(), line }
        });
        Ok(Some(CommitTrial {
            tried: match test.verdict {
                Verdict::Stable | Verdict::Passed => Tried::Stable,
                Verdict::Broken | Verdict::NotRun | Verdict::Network => Tried::Skipped,
                _ => Tried::Flaky,
            },
            what: test.verdict.name().to_owned(),
            place,
        }))
    }

    /// Runs the test alone and after the other tests, twice each, with an empty folder for
    /// temporary files. Restores files that the tests leave. Returns `None` if it was stopped.
    fn by_order(
        &mut self,
        project: &Project,
        suite: &Suite,
        case: &TestCase,
        before: &[String],
        fails: bool,
    ) -> Option<CommitTrial> {
        let earlier: Option<Vec<(&Suite, &TestCase)>> =
            before.iter().map(|name| self.earlier(project, suite, name)).collect();
        let Some(earlier) = earlier else {
            return Some(CommitTrial::new(Tried::Stable, "the tests before it do not exist"));
        };
        let (own, of_others): (Vec<_>, Vec<_>) =
            earlier.into_iter().partition(|(other, _)| other.binary.id == suite.binary.id);
        let others: Vec<(&TestBinary, Vec<&TestCase>)> = of_others
            .chunk_by(|(one, _), (next, _)| one.binary.id == next.binary.id)
            .map(|of_one| (&of_one[0].0.binary, of_one.iter().map(|(_, case)| *case).collect()))
            .collect();
        let before = own.iter().map(|(_, case)| case.name.clone()).collect();
        let cases: Vec<&TestCase> = own.into_iter().map(|(_, case)| case).chain([case]).collect();
        let options = self.options(project);
        let launcher = Launcher::new(self.directory.records(), self.stop);
        let limit = options.timeout;
        let alone = options.clean_spec(&case.name);
        let after = alone.clone().after(before);
        let kept = self.directory.path().join("left");
        let mut passed = [Vec::new(), Vec::new()];
        for _ in 0..2 {
            let orders: [(&[_], &[&TestCase], &RunSpec); 2] =
                [(&[], &[case], &alone), (&others, &cases, &after)];
            for (passed, (first, tests, spec)) in passed.iter_mut().zip(orders) {
                let own = (&suite.binary, tests);
                let runs = across::run_after(&launcher, limit, first, own, spec, &kept)?;
                passed.push(runs.last()?.passed());
            }
            self.runs += 2;
        }
        let is = |passed: &[bool], expected: bool| passed.iter().all(|passed| *passed == expected);
        Some(match passed {
            [alone, after] if is(&alone, fails) && is(&after, !fails) => {
                CommitTrial::new(Tried::Flaky, self.test.verdict.name())
            }
            [alone, after] if is(&alone, true) && is(&after, true) => {
                CommitTrial::new(Tried::Stable, "stable")
            }
            [alone, after] if is(&alone, false) && is(&after, false) => {
                CommitTrial::new(Tried::Skipped, "broken")
            }
            _ => CommitTrial::new(Tried::Skipped, "the order does not decide the outcome"),
        })
    }

    /// Runs the test in canonical order until it has passed and failed, or `runs` times. Threads
    /// and time are real, because all scheduled runs have the same outcome. Returns `None` if it
    /// was stopped.
    fn by_chance(
        &mut self,
        project: &Project,
        suite: &Suite,
        case: &TestCase,
        runs: usize,
    ) -> Option<CommitTrial> {
        let options = self.options(project);
        let launcher = Launcher::new(self.directory.records(), self.stop).as_plain();
        let spec = options.natural_spec(&case.name);
        let [mut passed, mut failed] = [0, 0];
        let mut pace = Pace::of(&self.test.sources);
        while passed + failed < runs && (passed == 0 || failed == 0) {
            pace.wait();
            let run =
                launcher.run(Setting::Shared, options.timeout, &suite.binary, case, &spec).ok()?;
            *if run.passed() { &mut passed } else { &mut failed } += 1;
            self.runs += 1;
        }
        let tried = match (passed, failed) {
            (_, 0) => Tried::Stable,
            (0, _) => Tried::Skipped,
            _ => Tried::Flaky,
        };
        Some(CommitTrial::new(tried, format!("{failed} of {} runs failed", passed + failed)))
    }
}

/// Finds a test in the binary with this id, or else in the only binary that has it.
fn find<'p>(
    project: &'p Project,
    binary: &str,
    test: impl Fn(&'p Suite) -> Option<&'p TestCase>,
) -> Option<(&'p Suite, &'p TestCase)> {
    let found = |suite: &'p Suite| Some((suite, test(suite)?));
    let own = project.suites.iter().find(|suite| suite.binary.id == binary);
    own.and_then(found).or_else(|| only(project.suites.iter().filter_map(found)))
}

/// Returns the only item.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

/// Returns cargo's arguments for the target of a package with this binary id. Returns `None` for
/// doctests.
fn target_words(package: &str, binary: &str) -> Option<Vec<String>> {
    let target = match binary.strip_prefix(package)? {
        "" => return Some(vec!["--lib".to_owned()]),
        target => target.strip_prefix("::")?,
    };
    let (kind, name) = target.split_once('/').unwrap_or(("test", target));
    let is_known = ["test", "bin", "example", "bench"].contains(&kind);
    is_known.then(|| vec![format!("--{kind}"), name.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_is_built_by_the_arguments_that_select_its_target_only() {
        for (binary, expected) in [
            ("shop", Some("--lib")),
            ("shop::it", Some("--test it")),
            ("shop::bin/till", Some("--bin till")),
            ("shop::example/till", Some("--example till")),
            ("shop::doc/src/lib.rs", None),
        ] {
            let words = target_words("shop", binary).map(|words| words.join(" "));
            assert_eq!(words.as_deref(), expected, "{binary}");
        }
    }
}
