//! `cargo nondex explain`: continues the search for a culprit where the campaign ended it.

use std::time::{Duration, Instant};

use camino::Utf8Path;
use nondex_core::RunSpec;

use super::console::Console;
use super::progress::Display;
use super::replay;
use super::{first, interrupt, outcome};
use crate::campaign::memo::Memo;
use crate::campaign::{self, SelectedTests};
use crate::cli::{Annotations, ExplainArgs, FileArgs};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::findings::{Finding, FindingStore};
use crate::judge::{NetworkPolicy, Options, Run};
use crate::project;
use crate::report::{self, Report, RunDirectory, plural};

/// Searches for the calls that make the test of a finding fail. Uses the runs of the campaign. The
/// exit code is 100 if the test still depends on a choice.
pub(super) fn explain(args: &ExplainArgs, line: &str, console: &Console) -> Result<ExitCode> {
    let place = args.location.folders()?;
    if args.report.is_none() && args.finding != "latest" {
        first::run_if_needed("run", &args.finding, &args.location, false, console)?;
    }
    let store = FindingStore::new(&place.target_dir);
    let finding = replay::asked(&args.finding, args.report.as_deref(), &store, |finding| {
        finding.choice().is_some()
    })?;
    if finding.choice().is_none() {
        return Err(Error::usage(format!(
            "finding {} is a failure in canonical order: no choice makes it fail",
            finding.id
        )));
    }
    let stop = interrupt::install()?;
    let plan = replay::plan_of(&finding, &place.workspace_root);
    let project = project::build(&plan, console.quiet)?;
    let started = Instant::now();
    let (suite, test) = replay::find(&project, &finding)?;
    let changes = replay::warnings(&finding, &project, &suite.binary, test);

    let mut options = options(args, line, &finding, &project.workspace_root);
    let known = known(&place.target_dir, &finding);
    if changes.is_empty() {
        // The seeds that were tried give the failure rate.
        let runs = known.iter().flat_map(|(_, runs)| runs);
        let of_seed = |spec: &RunSpec| finding.spec.clone().with_seed(spec.seed());
        let tried = runs.filter(|(spec, _)| *spec == of_seed(spec));
        let mut seeds: Vec<u64> = tried.map(|(spec, _)| spec.seed()).collect();
        seeds.dedup();
        if seeds.contains(&finding.spec.seed()) {
            options.seeds = seeds;
        }
        options.known = known.into_iter().collect();
    } else if known.is_some() {
        for change in &changes {
            console.warning(change);
        }
        console.note("earlier runs are no longer valid: the search starts again");
    }
    let selected = [SelectedTests::one(suite, test)];
    let before = options.known.values().map(Vec::len).sum::<usize>();
    console.status(
        "Explaining",
        &format!(
            "{} {}: {}, {} known",
            finding.id,
            finding.test,
            finding.conditions(),
            plural(before, "run")
        ),
    );
    let plain = outcome::PlainBuilder::new(plan);
    let directory = RunDirectory::create(&project.target_dir)?;
    let display = Display::new(console, 1);
    let mut report =
        campaign::run(&selected, &options, &directory, Some(&plain), None, &display, &stop)?;
    report.run.elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    report.run.build = Some(finding.build.clone());
    report.run.toolchain.clone_from(&project.toolchain);
    let whole = match run_of(&place.target_dir, &finding) {
        Some(before) => report::merge::update(before, &report),
        None => report.clone(),
    };
    let path = directory.write(&whole)?;
    store.write(&explained(&finding, &report))?;
    outcome::show(
        &report,
        &project.workspace_root,
        &path,
        started.elapsed(),
        &FileArgs { annotations: Some(Annotations::Never), ..FileArgs::default() },
        // The purpose of this command is to show all details.
        &console.whole(),
    )
}

/// Returns the report of the run that made the finding. Only one of its tests is explained.
fn run_of(target: &Utf8Path, finding: &Finding) -> Option<Report> {
    let runs = target.join("nondex/runs");
    report::store::read(&runs.join(&finding.run).join("report.json")).ok()
}

/// Returns the test's id and its runs in the campaign that made the finding.
fn known(target: &Utf8Path, finding: &Finding) -> Option<(String, Vec<(RunSpec, Run)>)> {
    let run = target.join("nondex/runs").join(&finding.run);
    let memo = Memo::read(&Memo::path(&run, &finding.test, &finding.spec))?;
    Some((memo.test, memo.runs))
}

/// Returns the options of the campaign that made the finding, as far as they concern this search.
fn options(args: &ExplainArgs, line: &str, finding: &Finding, root: &Utf8Path) -> Options {
    let spec = &finding.spec;
    let mut options = Options::new(root);
    line.clone_into(&mut options.command);
    options.levels = vec![spec.level()];
    options.seeds = vec![spec.seed()];
    options.schedule = spec.schedule();
    options.models_off.clone_from(&spec.models_off);
    options.files.clone_from(&spec.files);
    options.real_threads = !spec.is_scheduled();
    options.max_steps = spec.max_steps();
    options.network =
        NetworkPolicy::new(spec.network.mode(), spec.network.allowed().to_vec(), true);
    options.timeout = Duration::from_millis(finding.timeout_ms);
    options.search_runs = args.search_runs;
    options.build_words = finding.build.own_words();
    options
}

/// Returns the finding with the culprits that are known now.
fn explained(finding: &Finding, report: &Report) -> Vec<Finding> {
    let tests = report.tests.iter().filter(|test| test.id == finding.test);
    tests
        .filter(|test| !test.culprits.is_empty())
        .map(|test| Finding {
            verdict: test.verdict,
            culprits: test.culprits.clone(),
            run: report.run.id.clone(),
            ..finding.clone()
        })
        .collect()
}
