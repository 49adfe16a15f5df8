//! What a campaign came to, and the build that it is compared with.

use std::time::Duration;

use camino::Utf8Path;

use super::console::Console;
use super::setup::{self, Variables};
use super::{actions, files};
use crate::campaign::comparison::Builder;
use crate::cli::{FileArgs, MessageFormat};
use crate::error::Result;
use crate::exit_code::ExitCode;
use crate::project::{self, BuildPlan, Doctests, Mode, Suite};
use crate::report::human::{self, Sources, View};
use crate::report::stream::{self, Event, RunFinished};
use crate::report::{Report, exit_code};

/// The build of a plan without this tool in it.
pub(super) struct PlainBuilder {
    /// What is built.
    pub(super) plan: BuildPlan,
    /// What setup scripts set.
    pub(super) variables: Variables,
}

impl PlainBuilder {
    /// A builder of tests that no setup script sets something for.
    pub(super) const fn new(plan: BuildPlan) -> Self {
        PlainBuilder { plan, variables: Variables::new() }
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

/// Shows a report that was written to `path`, in other formats too on request. Returns the code it
/// ends with.
///
/// # Errors
/// When it cannot be written.
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
        // Of a test that simply fails, what it wrote is what decides.
        brief: console.verbose == 0 && report.run.world.is_none(),
        verbose: console.verbose,
        quiet: console.quiet,
    };
    console.text(&human::render(report, &view));
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
