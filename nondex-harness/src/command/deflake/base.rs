//! How tests end without the change.

use super::Session;
use crate::campaign::launch::Launcher;
use crate::command::console::Console;
use crate::error::Result;
use crate::judge::change::AtBase;
use crate::judge::specs::clean_spec;
use crate::project::{self, BuildPlan, Project};
use crate::report::TestReport;
use crate::repository::{Copy, Git};

/// How often a test must pass.
const RUNS: usize = 2;

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

    /// How a test ended.
    pub(super) fn of_test(&self, test: &TestReport) -> AtBase {
        let Some(project) = &self.project else {
            return AtBase::Untried;
        };
        let found = project::find(&project.suites, &test.binary, &test.name);
        let Some((suite, case)) = found else {
            return AtBase::Absent;
        };
        let options = self.session.options.of(&test.id);
        let records = self.session.directory.records();
        let launcher = Launcher::new(records, options.timeout, self.session.stop);
        let spec = clean_spec(&case.name, &options);
        for _ in 0..RUNS {
            match launcher.run(&suite.binary, case, &spec) {
                None => return AtBase::Untried,
                Some(run) if !run.passed() => return AtBase::Fails,
                Some(_) => {}
            }
        }
        AtBase::Passes
    }
}
