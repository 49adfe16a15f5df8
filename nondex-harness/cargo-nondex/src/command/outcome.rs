//! Output of a campaign's results, and the plain build that they are compared with.

use std::time::Duration;

use camino::Utf8Path;

use super::console::Console;
use super::setup::{self, TestVariables};
use super::{actions, files};
use crate::campaign::comparison::Builder;
use crate::cli::{FileArgs, MessageFormat};
use crate::error::Result;
use crate::exit_code::ExitCode;
use crate::project::{self, BuildPlan, Doctests, Mode, Suite};
use crate::report::human::{self, Sources, View};
use crate::report::stream::{self, Event, RunFinished};
use crate::report::{Report, exit_code};

/// Builder of the tests without this tool.
pub(super) struct PlainBuilder {
    /// Plan of the build.
    pub(super) plan: BuildPlan,
    /// Variables that setup scripts set.
    pub(super) variables: TestVariables,
}

impl PlainBuilder {
    /// Creates a builder for tests without variables of setup scripts.
    pub(super) const fn new(plan: BuildPlan) -> Self {
        PlainBuilder { plan, variables: TestVariables::new() }
    }
}

impl Builder for PlainBuilder {
    fn build(&self) -> Result<Vec<Suite>, String> {
        let plan = BuildPlan { mode: Mode::Plain, doctests: Doctests::No, ..self.plan.clone() };
        let mut suites = project::build(&plan, true).map_err(|error| error.to_string())?.suites;
        setup::give(&self.variables, &mut suites);
        Ok(suites)
    }
}

/// Shows a report that was written to `path`, and writes it in other requested formats. Returns the
/// exit code of the report.
///
/// # Errors
/// When the output or a file cannot be written.
pub(super) fn show(
    report: &Report,
    workspace_root: &Utf8Path,
    path: &Utf8Path,
    elapsed: Duration,
    files: &FileArgs,
    console: &Console,
) -> Result<ExitCode> {
    let view = View {
        sources: &Sources::of_user(workspace_root),
        report: Some(path),
        elapsed,
        // For a failing test of `cargo nondex test`, its output matters most, so it is shown whole.
        brief: console.verbose == 0 && report.run.world.is_none(),
        verbose: console.verbose,
        quiet: console.quiet,
    };
    console.folded(&human::render(report, &view));
    files::write_all(report, &view, files)?;
    let when = files.annotations.unwrap_or_default();
    actions::announce(report, view.sources, when, console)?;
    let code = exit_code(report);
    match console.format {
        MessageFormat::Human => {}
        MessageFormat::Json => console.json(report)?,
        MessageFormat::JsonLines => {
            for finding in stream::findings(report, view.sources) {
                console.event(&Event::Finding(Box::new(finding)))?;
            }
            console.event(&Event::RunFinished(Box::new(RunFinished {
                report: Some(path.to_string()),
                summary: Some(report.summary.clone()),
                partial: report.partial,
                ..RunFinished::new(code)
            })))?;
        }
    }
    Ok(code)
}
