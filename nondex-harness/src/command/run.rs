//! `cargo nondex run`: build, select, run, judge, report.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use nondex_core::{Level, NetworkMode, Schedule};

use super::configuration::Asked;
use super::console::Console;
use super::coverage::Coverage;
use super::known::KnownFlakes;
use super::past::{Compared, Past};
use super::progress::Display;
use super::report::regressions_file;
use super::{interrupt, outcome, selection};
use crate::campaign::tree::Tree;
use crate::campaign::{self, StopFlag, orders};
use crate::cli::RunArgs;
use crate::config::PerTest;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::findings::{Finding, Regressions, Store, Tried};
use crate::judge::Options;
use crate::judge::order::OrderOptions;
use crate::project::{self, BuildPlan, Doctests, Project};
use crate::report::{Report, RunDirectory};

/// What a command makes of the built tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stages {
    /// A campaign.
    Choices,
    /// A campaign, and other orders of tests.
    ChoicesAndOrders,
    /// Other orders of tests, which doctests do not have.
    Orders,
}

impl Stages {
    /// The part of `--max-time` that a campaign may take.
    const fn share(self) -> f64 {
        match self {
            Stages::ChoicesAndOrders => 0.6,
            Stages::Choices | Stages::Orders => 1.0,
        }
    }
}

/// The built and selected tests, and how they are to be run.
pub(super) struct Session<'a> {
    /// The tests.
    pub(super) selected: &'a [campaign::Selected<'a>],
    /// Those that are run in other orders: all of a binary, or none.
    in_order: &'a [campaign::Selected<'a>],
    /// What the tests run, where that is asked for.
    coverage: Option<&'a Coverage>,
    /// What became of the tests before.
    pub(super) past: &'a Past,
    /// How they are run.
    pub(super) options: &'a Options,
    /// Where the report will be.
    pub(super) directory: &'a RunDirectory,
    /// The build without this tool.
    pub(super) ordinary: &'a outcome::Ordinary,
    /// Whether to stop.
    pub(super) stop: &'a StopFlag,
    /// The files before any test ran, where orders are tried.
    tree: Tree,
    console: &'a Console,
}

impl Session<'_> {
    /// Runs a campaign.
    ///
    /// # Errors
    /// As [`campaign::run`].
    pub(super) fn campaign(&self) -> Result<Report> {
        let Session {
            selected,
            options,
            console,
            ..
        } = *self;
        console.status("Running", &plan(selected, options));
        outcome::run(
            selected,
            options,
            self.directory,
            self.ordinary,
            self.stop,
            console,
            self.coverage,
        )
    }

    /// Runs the tests of each binary in other orders.
    ///
    /// # Errors
    /// As [`orders::run`].
    pub(super) fn in_orders(&self, tried: &OrderOptions) -> Result<Report> {
        let running = selection::running(self.in_order);
        let strategies: Vec<&str> = tried.strategies.iter().map(|one| one.name()).collect();
        let what = format!(
            "{} alone, in pairs, and in orders: {}",
            selection::count(running, "test"),
            strategies.join(", ")
        );
        self.console.status("Running", &what);
        let display = Display::new(self.console, running);
        let mut options = self.options.clone();
        // It is the session's.
        options.max_time = None;
        // What a test runs behind others is not what it runs.
        options.cover = false;
        let (directory, stop) = (self.directory, self.stop);
        let report = orders::run(
            self.in_order,
            &options,
            tried,
            directory,
            &self.tree,
            &display,
            stop,
        );
        display.finish();
        report
    }
}

/// Runs a campaign. `line` is the command line, for the report.
pub(super) fn run(
    args: &RunArgs,
    asked: &Asked,
    line: &str,
    console: &Console,
) -> Result<ExitCode> {
    within(args, asked, line, console, Stages::Choices, |session| {
        session.campaign()
    })
}

/// Builds and selects tests, lets `work` make a report of them, and shows it.
pub(super) fn within(
    args: &RunArgs,
    asked: &Asked,
    line: &str,
    console: &Console,
    stages: Stages,
    work: impl FnOnce(&Session<'_>) -> Result<Report>,
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

    let is_changed = args.changed.changed.is_some();
    build.covered = is_changed && stages != Stages::Orders;
    build.doctests = match stages {
        Stages::Orders => Doctests::No,
        Stages::Choices | Stages::ChoicesAndOrders => filter.doctests(),
    };
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
    // Also of those that are not selected: they may run before others.
    let tests = project.suites.iter();
    let tests = tests.flat_map(|suite| suite.tests.iter().map(move |test| (suite, test)));
    options.per_test = per_test.of(tests);
    for (test, tried) in regressions(args, &project, console)? {
        options.per_test.entry(test).or_default().regressions = tried;
    }
    for sanitiser in &asked.config.sanitisers {
        options.prerequisites.push(Arc::new(sanitiser.clone()));
    }
    options.build_words = build.own_words();
    options.max_time = args.max_time.map(|time| time.mul_f64(stages.share()));
    let stop = stop.within(args.max_time);
    let ordinary = outcome::Ordinary(BuildPlan {
        covered: false,
        ..build
    });
    let past = Past::of(args.changed.history_dir.as_deref(), &project, &ordinary.0)?;
    let unchanged = match &args.changed.changed {
        Some(base) => {
            let compared = Compared {
                base: base.as_deref(),
                plan: &ordinary.0,
                options: &options,
                selected: &selected,
            };
            leave_out(&past, &compared, stages, console)?
        }
        None => Unchanged::default(),
    };
    let in_order = selection::without(&selected, &unchanged.in_orders);
    let selected = selection::without(&selected, &unchanged.alone);
    options.cover = is_changed && stages != Stages::Orders;
    let coverage = options.cover.then(|| Coverage::new(&selected));
    let directory = RunDirectory::create(&project.target_dir)?;
    let tree = match stages {
        Stages::Choices => Tree::none(),
        Stages::ChoicesAndOrders | Stages::Orders => {
            let folders = in_order.iter().map(|one| one.suite.binary.cwd.clone());
            let kept = directory.path().join("left");
            Tree::of(folders.map(Into::into), kept.into())
        }
    };
    let session = Session {
        selected: &selected,
        in_order: &in_order,
        coverage: coverage.as_ref(),
        past: &past,
        options: &options,
        directory: &directory,
        ordinary: &ordinary,
        stop: &stop,
        tree,
        console,
    };
    let mut report = work(&session)?;
    report.run.elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    project.notes.retain(|note| !report.notes.contains(note));
    report.notes.append(&mut project.notes);
    report.run.build = Some(ordinary.0.written(&project.workspace_root));
    report.run.toolchain.clone_from(&project.toolchain);
    report.run.unbuilt.append(&mut project.unbuilt);
    past.describe(&mut report);
    report.unchanged = match stages {
        Stages::Choices => unchanged.alone,
        Stages::ChoicesAndOrders | Stages::Orders => unchanged.in_orders,
    }
    .into_iter()
    .collect();
    known.apply(&project.workspace_root, &mut report);
    let lines = coverage.map(Coverage::lines);
    if let Err(error) = past.remember(&report, &options, lines.as_ref(), stages != Stages::Choices)
    {
        console.note(&format!("this run will not be remembered: {error}"));
    }
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

/// Tests that are left out, by id.
#[derive(Debug, Default)]
struct Unchanged {
    /// Of a campaign.
    alone: BTreeSet<String>,
    /// Of other orders.
    in_orders: BTreeSet<String>,
}

/// Says which tests are left out because they are what they were.
fn leave_out(
    past: &Past,
    compared: &Compared<'_>,
    stages: Stages,
    console: &Console,
) -> Result<Unchanged> {
    let mut found = Unchanged::default();
    let mut words = String::new();
    if stages != Stages::Orders {
        (found.alone, words) = past.unchanged(compared)?;
    }
    if stages != Stages::Choices {
        (found.in_orders, words) = past.unchanged_in_orders(compared)?;
    }
    let left_out = match stages {
        Stages::Orders => &found.in_orders,
        Stages::Choices | Stages::ChoicesAndOrders => &found.alone,
    };
    let few = selection::count(left_out.len(), "test");
    let all = selection::running(compared.selected);
    console.status("Comparing", &format!("{words}: {few} of {all} left out"));
    Ok(found)
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
    options.real_threads = args.real_threads.unwrap_or(false);
    options.max_steps = args.max_steps.unwrap_or(0);
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
