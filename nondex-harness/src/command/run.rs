//! `cargo nondex run`: build, select, run, judge, report.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use nondex_core::{Level, NetworkMode, Schedule};

use super::configuration::Asked;
use super::console::Console;
use super::known::KnownFlakes;
use super::report::regressions_file;
use super::{interrupt, outcome, selection};
use crate::campaign::{self, StopFlag};
use crate::cli::RunArgs;
use crate::config::PerTest;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::findings::{Finding, Regressions, Store, Tried};
use crate::judge::Options;
use crate::project::{self, BuildPlan, Project};
use crate::report::{Report, RunDirectory};

/// What a campaign was made with, for what comes after it.
pub(super) struct Session<'a> {
    /// The tests.
    pub(super) selected: &'a [campaign::Selected<'a>],
    /// How they were run.
    pub(super) options: &'a Options,
    /// Where the report will be.
    pub(super) directory: &'a RunDirectory,
    /// The build without this tool.
    pub(super) ordinary: &'a outcome::Ordinary,
    /// Whether to stop.
    pub(super) stop: &'a StopFlag,
}

/// Runs a campaign. `line` is the command line, for the report.
pub(super) fn run(
    args: &RunArgs,
    asked: &Asked,
    line: &str,
    console: &Console,
) -> Result<ExitCode> {
    and_then(args, asked, line, console, 1.0, |_, _| Ok(()))
}

/// As [`run`], with something to be done before the report is written. The campaign may take this `share` of the time.
pub(super) fn and_then(
    args: &RunArgs,
    asked: &Asked,
    line: &str,
    console: &Console,
    share: f64,
    then: impl FnOnce(&Session<'_>, &mut Report) -> Result<()>,
) -> Result<ExitCode> {
    let started = Instant::now();
    // Everything that can be wrong with the command line is said before anything is built.
    let filter = args.filter.parse()?;
    let models_off = args.models.models_off()?;
    let overrides = &asked.config.profile.overrides;
    let mut build = plan_of(args, asked)?;
    let workspace = selection::workspace(&build, filter.has_filtersets() || !overrides.is_empty())?;
    let filter_resolved = filter.resolve(&workspace)?;
    let per_test = PerTest::new(overrides, asked.given, &workspace)?;
    let known = KnownFlakes::of(asked, || selection::workspace(&build, true))?;
    let stop = interrupt::install()?;

    build.doctests = filter.doctests();
    let mut project = project::build(&build, console.quiet).map_err(|error| {
        if stop.is_set() {
            Error::build("interrupted while the tests were built")
        } else {
            error
        }
    })?;
    if stop.is_set() {
        return Err(Error::build("interrupted while the tests were built"));
    }
    // It is no part of what the project's tests cost.
    let started = started + project.runtime_took;
    let selected = selection::select(&project.suites, &filter_resolved);
    selection::expect_some(&project.suites, &selected)
        .inspect_err(|_| project.notes.iter().for_each(|note| console.note(note)))?;

    if !args.build.is_narrowed() && !args.filter.is_given() {
        let unused = per_test.unused(&project.suites);
        unused.iter().for_each(|warning| console.warning(warning));
    }
    let mut options = options(args, line, &project, models_off);
    options.per_test = per_test.of(selection::tests(&selected));
    for (test, tried) in regressions(args, &project, console)? {
        options.per_test.entry(test).or_default().regressions = tried;
    }
    for sanitiser in &asked.config.sanitisers {
        options.prerequisites.push(Arc::new(sanitiser.clone()));
    }
    options.build_words = build.own_words();
    options.max_time = args.max_time.map(|time| time.mul_f64(share));
    let stop = stop.within(args.max_time);
    let directory = RunDirectory::create(&project.target_dir)?;
    console.status("Running", &plan(&selected, &options));
    let ordinary = outcome::Ordinary(build);
    let mut report = outcome::run(
        &selected, &options, &directory, &ordinary, started, &stop, console,
    )?;
    then(
        &Session {
            selected: &selected,
            options: &options,
            directory: &directory,
            ordinary: &ordinary,
            stop: &stop,
        },
        &mut report,
    )?;
    report.notes.append(&mut project.notes);
    report.run.build = Some(ordinary.0.written(&project.workspace_root));
    report.run.toolchain.clone_from(&project.toolchain);
    report.run.unbuilt.append(&mut project.unbuilt);
    known.apply(&project.workspace_root, &mut report);
    let path = directory.write(&report)?;
    Store::new(&project.target_dir).write(&Finding::all_of(&report, &project))?;
    let junit = args.junit.as_deref();
    outcome::show(
        &report,
        &project.workspace_root,
        &path,
        started.elapsed(),
        junit,
        console,
    )
}

/// What is built.
fn plan_of(args: &RunArgs, asked: &Asked) -> Result<BuildPlan> {
    let mut plan = selection::plan(&args.build, &args.output)?;
    // An override may look at the network for single tests, and sanitisers look at the same functions.
    let config = &asked.config;
    plan.without_network = args.network.network == Some(NetworkMode::Off)
        && config.profile.overrides.is_empty()
        && config.sanitisers.is_empty();
    Ok(plan)
}

fn options(args: &RunArgs, line: &str, project: &Project, models_off: Vec<String>) -> Options {
    let mut options = Options::new(project.workspace_root.clone());
    line.clone_into(&mut options.command);
    options.levels = args.levels();
    options.seeds = args.seeds();
    options.schedule = args.schedule.unwrap_or_default();
    options.prune = !args.no_prune;
    options.all_levels = args.no_prune;
    options.exhaustive = args.exhaustive.unwrap_or(0);
    options.budget = args.budget.unwrap_or(options.budget);
    options.max_time = args.max_time;
    options.strict = args.strict.unwrap_or(false);
    options.models_off = models_off;
    options.clean_runs = args.clean_runs.unwrap_or(options.clean_runs);
    options.timeout = args.timeout.unwrap_or(options.timeout);
    options.jobs = args.build.jobs.unwrap_or(options.jobs);
    options.network = args.network.policy();
    options.max_sanitised = args.network.max_sanitised;
    options
}

/// The choices that made tests fail before, by the id of the test.
fn regressions(
    args: &RunArgs,
    project: &Project,
    console: &Console,
) -> Result<BTreeMap<String, Vec<Tried>>> {
    let file = regressions_file(args.regressions.as_deref(), &project.workspace_root)?;
    if args.regressions.is_some() && !file.is_file() {
        return Err(Error::setup(format!(
            "there are no regressions at `{file}`: `cargo nondex report --export {file}` writes them"
        )));
    }
    let (by_test, outdated) = Regressions::read(&file)?.by_test();
    if outdated > 0 {
        console.note(&format!(
            "{} in `{file}` came from another version of the algorithm and cannot be tried: export them again",
            selection::count(outdated, "regression")
        ));
    }
    Ok(by_test)
}

/// What is about to happen, with the seeds and levels.
fn plan(selected: &[campaign::Selected<'_>], options: &Options) -> String {
    let all: usize = selected.iter().map(|selected| selected.tests.len()).sum();
    let ignored = match all - selection::running(selected) {
        0 => String::new(),
        ignored => format!(" ({ignored} ignored)"),
    };
    let tests = selection::count(all, "test");
    let binaries = match selected.len() {
        1 => "1 binary".to_owned(),
        many => format!("{many} binaries"),
    };
    let clean = selection::count(options.clean_runs.get() as usize, "clean run");
    let what = if options.seeds.is_empty() {
        format!("{clean} each, no seeds")
    } else {
        let levels: Vec<&str> = options
            .levels
            .iter()
            .map(|level: &Level| level.name())
            .collect();
        let noun = if options.seeds.len() == 1 {
            "seed"
        } else {
            "seeds"
        };
        let schedule = match options.schedule {
            Schedule::Covering => String::new(),
            other => format!(", {other}"),
        };
        format!(
            "{clean} each, then {noun} {} at {}{schedule}",
            seeds(&options.seeds),
            levels.join(", ")
        )
    };
    format!("{tests}{ignored} of {binaries}: {what}")
}

/// Seeds as `--seeds` takes them.
fn seeds(seeds: &[u64]) -> String {
    const LISTED: usize = 12;
    match seeds {
        [one] => return one.to_string(),
        [first, .., last] if seeds.is_sorted() && last - first == seeds.len() as u64 - 1 => {
            return format!("{first}..{}", u128::from(*last) + 1);
        }
        _ => {}
    }
    let listed: Vec<String> = seeds.iter().take(LISTED).map(u64::to_string).collect();
    let more = match seeds.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(",… ({more} more)"),
    };
    format!("{}{more}", listed.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_shown_as_they_can_be_given_again() {
        assert_eq!(seeds(&[7]), "7");
        assert_eq!(seeds(&[0, 1, 2]), "0..3");
        assert_eq!(seeds(&[5, 1, 2]), "5,1,2");
        assert_eq!(
            seeds(&[u64::MAX - 1, u64::MAX]),
            "18446744073709551614..18446744073709551616"
        );
        let many: Vec<u64> = (0..20).map(|n| n * 2).collect();
        assert!(seeds(&many).ends_with(",22,… (8 more)"));
    }
}
