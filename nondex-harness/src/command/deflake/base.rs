//! How tests end without the change.

use std::num::NonZeroU32;

use super::Session;
use crate::campaign::{self, Selected, Silent};
use crate::command::console::Console;
use crate::error::Result;
use crate::judge::change::AtBase;
use crate::project::{self, BuildPlan, Project};
use crate::report::{TestReport, Verdict};
use crate::repository::{Copy, Git};

/// How often a test is run in base order that fails by chance.
const CLEAN_RUNS: NonZeroU32 = NonZeroU32::new(20).unwrap();

/// The project as it was, if it can be built.
pub(super) struct Base<'a> {
    project: Option<Project>,
    session: &'a Session<'a>,
}

impl<'a> Base<'a> {
    /// The project at `commit`, in a checkout of our own; `now` is the project as it is.
    pub(super) fn of(
        git: &Git,
        commit: &str,
        now: &Project,
        session: &'a Session<'a>,
        console: &Console,
    ) -> Result<Self> {
        let root = &now.workspace_root;
        let folder = now.target_dir.join("nondex/deflake");
        let copy = Copy::of(git, root, &folder.join("checkout"))?;
        let project = copy.check_out(commit).and_then(|()| {
            let plan = BuildPlan {
                manifest_path: Some(copy.workspace().join("Cargo.toml")),
                target_dir: Some(folder.join("target")),
                ..session
                    .ordinary
                    .0
                    .written(root)
                    .in_workspace(copy.workspace())
            };
            project::build(&plan, console.quiet)
        });
        if let Err(error) = &project {
            console.note(&format!(
                "the code before the change could not be tried: {error}"
            ));
        }
        Ok(Base {
            project: project.ok(),
            session,
        })
    }

    /// How a test ends: it is run as it was run with the change, and at least so often that chance shows.
    pub(super) fn of_test(&self, test: &TestReport) -> Result<AtBase> {
        let Some(project) = &self.project else {
            return Ok(AtBase::Untried);
        };
        let found = project::find(&project.suites, &test.binary, &test.name);
        let Some((suite, case)) = found else {
            return Ok(AtBase::Absent);
        };
        let selected = Selected {
            suite,
            tests: vec![(case.clone(), true)],
        };
        let mut options = self.session.options.of(&test.id).into_owned();
        if test.verdict != Verdict::Broken {
            options.clean_runs = options.clean_runs.max(CLEAN_RUNS);
        }
        let (directory, stop) = (self.session.directory, self.session.stop);
        let report = campaign::run(&[selected], &options, directory, None, &Silent, stop)?;
        let verdict = report.tests.first().map(|test| test.verdict);
        Ok(match verdict.filter(|_| !report.partial) {
            Some(Verdict::Stable) => AtBase::Passes,
            None | Some(Verdict::NotRun | Verdict::Network) => AtBase::Untried,
            Some(_) => AtBase::Fails,
        })
    }
}
