//! `cargo nondex run`: builds, selects, runs and judges tests, and reports the result.

mod request;

use std::collections::BTreeSet;
use std::time::Instant;

use self::request::RunRequest;
use super::configuration::Asked;
use super::console::Console;
use super::coverage::Coverage;
use super::events::Events;
use super::files;
use super::interrupt;
use super::outcome;
use super::past::{Compared, Past};
use super::selection;
use super::session::{Session, Stages};
use super::setup;
use crate::campaign::tree::Tree;
use crate::cli::RunArgs;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::findings::{Finding, FindingStore};
use crate::project::{BuildPlan, Project, Rebuilds};
use crate::report::stream::{BuildFinished, Event};
use crate::report::{Report, RunDirectory, TestReport, Verdict, claim, plural};

/// Runs a campaign.
pub(super) fn run(args: &RunArgs, asked: &Asked, console: &Console) -> Result<ExitCode> {
    within(args, asked, console, Stages::Choices, |session: &Session<'_>| session.campaign())
}

/// Builds and selects tests, lets `work` make a report of them, and shows the report. Returns the
/// exit code.
pub(super) fn within(
    args: &RunArgs,
    asked: &Asked,
    console: &Console,
    stages: Stages,
    work: impl FnOnce(&Session<'_>) -> Result<Report>,
) -> Result<ExitCode> {
    let testing = &args.testing;
    let filter = testing.project.filter.parse()?;
    let request = RunRequest::new(args, asked, &filter, stages, console)?;
    let stop = interrupt::install()?;
    console.event(&Event::BuildStarted)?;
    let build_started = Instant::now();
    let mut project = request.build(&stop, console)?;
    let built = build_started.elapsed();
    // Not before the build: cargo marks the target directory as a cache only if it creates it.
    files::prepare(&testing.files)?;
    // As in nextest's summary, the reported time excludes builds.
    let started = Instant::now();
    let variables = request.set_up(&project, console)?;
    setup::give(&variables, &mut project.suites);
    let selected = request.select(&project, console)?;
    console.event(&Event::BuildFinished(BuildFinished {
        binaries: selected.len(),
        tests: selection::running(&selected),
        elapsed_ms: u64::try_from(built.as_millis()).unwrap_or(u64::MAX),
    }))?;
    if testing.no_run || selection::running(&selected) == 0 {
        return Ok(ExitCode::Ok);
    }
    let options = request.options(&project, console)?;
    let stop = stop.within(testing.max_time);
    let plain = outcome::PlainBuilder { plan: request.plain(), variables };
    let past = Past::of(testing.changed.history_dir.as_deref(), &project, &plain.plan)?;
    let compared = testing.changed.changed.as_ref().map(|base| Compared {
        base: base.as_deref(),
        plan: &plain.plan,
        options: &options,
        selected: &selected,
    });
    let unchanged = compared
        .map(|compared| Unchanged::of(&past, &compared, stages, console))
        .transpose()?
        .unwrap_or_default();
    let in_order = selection::without(&selected, &unchanged.in_orders);
    let selected = selection::without(&selected, &unchanged.alone);
    let coverage = options.cover.then(|| Coverage::new(&selected, past.file_observer()));
    let directory = RunDirectory::create(&project.target_dir)?;
    // If this fails, the tests are judged by the existing build only. This comes before the
    // snapshot: cargo writes into the target folder, which no test must be blamed for.
    let rebuilds = Rebuilds::of(&project, &plain.plan, &|| stop.is_set());
    let (rebuilds, obstacle) = match rebuilds {
        Ok(rebuilds) => (rebuilds, None),
        Err(error) => (Rebuilds::default(), Some(error)),
    };
    let tree = if stages.have_orders() {
        let folders = in_order.iter().flat_map(|one| one.suite.binary.folders());
        let kept = directory.path().join("left");
        Tree::of(folders.map(Into::into), kept.into())
    } else {
        Tree::none()
    };
    let events = Events::new(console, &project.workspace_root, options.strict);
    let is_failure = |test: &TestReport| request.is_failure(&project.workspace_root, test);
    let mut report = work(&Session {
        events: events.as_ref(),
        is_failure: &is_failure,
        rebuilds: &rebuilds,
        selected: &selected,
        in_order: &in_order,
        coverage: coverage.as_ref(),
        past: &past,
        options: &options,
        directory: &directory,
        plain: &plain,
        stop: &stop,
        tree,
        console,
    })?;
    report.run.elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    describe(&mut report, &mut project, &plain.plan, obstacle);
    past.describe(&mut report);
    let left_out = if stages.have_orders() { unchanged.in_orders } else { unchanged.alone };
    report.unchanged = left_out.into_iter().collect();
    request.mark_known(&project, &mut report);
    let lines = coverage.map(Coverage::lines);
    if let Err(error) = past.remember(&report, &options, lines.as_ref(), stages.have_orders()) {
        console.note(&format!("this run was not added to the history: {error}"));
    }
    // A run without seeds or orders must not replace the report that `report`, `known` and `replay`
    // read.
    let path = if stages.have_orders() || !options.seeds.is_empty() {
        FindingStore::new(&project.target_dir).write(&Finding::all_of(&report, &project))?;
        directory.write(&report)?
    } else {
        directory.write_aside(&report)?
    };
    outcome::show(
        &report,
        &project.workspace_root,
        &path,
        started.elapsed(),
        &testing.files,
        console,
    )
}

/// Adds to a report how its tests were built.
fn describe(report: &mut Report, project: &mut Project, plan: &BuildPlan, obstacle: Option<Error>) {
    let ran = report.tests.iter().filter(|test| test.verdict != Verdict::NotRun);
    let mut notes = project.notes_on(ran.map(|test| test.binary.as_str()));
    notes.retain(|note| !report.notes.contains(note));
    report.notes.append(&mut notes);
    if project.is_order_unknown {
        claim::disclaim_std(report);
    }
    let obstacle = obstacle.map(|error| format!("builds were not compared: {error}"));
    report.notes.extend(obstacle);
    report.run.build = Some(plan.written(&project.workspace_root));
    report.run.toolchain.clone_from(&project.toolchain);
    report.run.unbuilt.append(&mut project.unbuilt);
}

/// Ids of tests that are left out because the change does not affect them.
#[derive(Debug, Default)]
struct Unchanged {
    /// Left out of the campaign.
    alone: BTreeSet<String>,
    /// Left out of other orders.
    in_orders: BTreeSet<String>,
}

impl Unchanged {
    /// Returns the tests that the change since the base does not affect. Reports their number.
    fn of(past: &Past, compared: &Compared<'_>, stages: Stages, console: &Console) -> Result<Self> {
        let mut found = Unchanged::default();
        let mut words = String::new();
        if stages.have_choices() {
            (found.alone, words) = past.unchanged(compared)?;
        }
        if stages.have_orders() {
            (found.in_orders, words) = past.unchanged_in_orders(compared)?;
        }
        let left_out = if stages.have_choices() { &found.alone } else { &found.in_orders };
        let few = plural(left_out.len(), "test");
        let all = selection::running(compared.selected);
        console.status("Comparing", &format!("{words}: {few} of {all} left out"));
        Ok(found)
    }
}
