//! `cargo nondex order`: build, select, run in many orders, judge, report.

use std::sync::Arc;
use std::time::Instant;

use super::configuration::Asked;
use super::console::Console;
use super::progress::Display;
use super::{interrupt, outcome, selection};
use crate::campaign::orders;
use crate::cli::OrderArgs;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::findings::{Finding, Store};
use crate::judge::Options;
use crate::judge::order::OrderOptions;
use crate::project;
use crate::report::RunDirectory;

/// Looks for tests that depend on those before them. `line` is the command line, for the report.
pub(super) fn order(
    args: &OrderArgs,
    asked: &Asked,
    line: &str,
    console: &Console,
) -> Result<ExitCode> {
    let started = Instant::now();
    let filter = args.filter.parse()?;
    let models_off = args.models.models_off()?;
    let mut build = selection::plan(&args.build, &args.output)?;
    let resolved = selection::resolve(&filter, &build)?;
    let stop = interrupt::install()?;
    build.doctests = project::Doctests::No;
    let mut project = project::build(&build, console.quiet)?;
    if stop.is_set() {
        return Err(Error::build("interrupted while the tests were built"));
    }
    let started = started + project.runtime_took;
    let selected = selection::select(&project.suites, &resolved);
    selection::expect_some(&project.suites, &selected)
        .inspect_err(|_| project.notes.iter().for_each(|note| console.note(note)))?;

    let mut options = Options::new(project.workspace_root.clone());
    line.clone_into(&mut options.command);
    options.models_off = models_off;
    options.timeout = args.timeout.unwrap_or(options.timeout);
    options.max_time = args.max_time;
    options.jobs = args.build.jobs.unwrap_or(options.jobs);
    options.network = args.network.policy();
    options.max_sanitised = args.network.max_sanitised;
    options.build_words = build.own_words();
    for sanitiser in &asked.config.sanitisers {
        options.prerequisites.push(Arc::new(sanitiser.clone()));
    }
    let tried = args.options();
    let directory = RunDirectory::create(&project.target_dir)?;
    let running = selection::running(&selected);
    console.status("Running", &plan(running, selected.len(), &tried));
    let display = Display::new(console, running);
    let report = orders::run(&selected, &options, &tried, &directory, &display, &stop);
    display.finish();
    let mut report = report?;
    report.run.elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    report.notes.append(&mut project.notes);
    report.run.build = Some(build.written(&project.workspace_root));
    report.run.toolchain.clone_from(&project.toolchain);
    let path = directory.write(&report)?;
    Store::new(&project.target_dir).write(&Finding::all_of(&report, &project))?;
    outcome::show(
        &report,
        &project.workspace_root,
        &path,
        started.elapsed(),
        args.junit.as_deref(),
        console,
    )
}

/// What is about to happen.
fn plan(tests: usize, binaries: usize, tried: &OrderOptions) -> String {
    let strategies: Vec<&str> = tried.strategies.iter().map(|one| one.name()).collect();
    let binaries = match binaries {
        1 => "1 binary".to_owned(),
        many => format!("{many} binaries"),
    };
    format!(
        "{} of {binaries} alone, in pairs, and in orders: {}",
        selection::count(tests, "test"),
        strategies.join(", ")
    )
}
