//! `cargo nondex replay`: repeats a failing run.

mod counts;
mod request;
mod runs;
mod schedule;
mod verdict;

use std::ffi::OsString;
use std::process::Command;

use camino::Utf8Path;
use nondex_core::{Network, Outcome, RunRecord, RunSpec, Site};

use self::counts::OutcomeCounts;
use self::runs::RepeatableRun;
use super::console::Console;
use super::interrupt;
use crate::campaign::{Pace, StopFlag, launch, process, record};
use crate::cli::{MessageFormat, ReplayArgs};
use crate::error::{Error, OrSetup, Result};
use crate::exit_code::ExitCode;
use crate::findings::{self, Finding, FindingStore, Fingerprint};
use crate::judge::Run;
use crate::project::{
    self, BuildPlan, Doctests, Folders, Project, Scratch, Suite, TestBinary, TestCase, addresses,
};
use crate::report::{self, Workspace, plural};

/// Replays a finding. The exit code is 100 if the test fails again, and 0 if it passes.
pub(super) fn replay(args: &ReplayArgs, console: &Console) -> Result<ExitCode> {
    let debugger = args.debugger();
    if debugger.as_ref().is_some_and(Vec::is_empty) {
        return Err(Error::usage("the debugger's command is empty"));
    }
    let place = match &args.archive.extracted {
        Some(extracted) => extracted.clone(),
        None => args.build.location().folders()?,
    };
    let store = FindingStore::new(&place.target_dir);
    let stop = match debugger {
        Some(_) => {
            interrupt::leave_to_debugger()?;
            StopFlag::new()
        }
        None => interrupt::install()?,
    };
    let Requested { project, finding, is_recorded } = Requested::of(args, &place, &store, console)?;
    let sites = traced(args, &finding, console);
    let (suite, test) = find(&project, &finding)?;
    let binary = &suite.binary;
    let doctest = test.doctest.as_ref();
    let in_doctest = doctest.and_then(|doctest| doctest.place.as_ref());
    // A finding names places in the source file; the run sees places in the program of the doctest.
    // So both are traced.
    let root = &project.workspace_root;
    let in_program = |site| in_doctest.and_then(|place| place.in_program(root, site));
    let in_programs: Vec<Site> = sites.iter().filter_map(in_program).collect();
    let traced_sites = [sites, in_programs].concat();
    let warnings = warnings(&finding, &project, binary, test);
    for warning in &warnings {
        console.warning(warning);
    }
    let often = match args.runs {
        Some(runs) => format!(", {}", plural(runs.get(), "run")),
        None => String::new(),
    };
    console.status(
        "Replaying",
        &format!("{} {}: {}{often}", finding.id, finding.test, finding.conditions()),
    );

    let spec = RunSpec {
        trace: traced_sites.clone(),
        ..finding.spec.clone().with_operations(if args.trace { schedule::MOST } else { 0 })
    };
    store.create()?;
    // The name contains our process id, so parallel replays do not conflict.
    let folder = store.directory().join(format!("replay-{}", std::process::id()));
    let records = Scratch::at(folder)?;
    // Addresses are part of what a test sees, so they are fixed as in the campaign.
    if let Some(note) = process::without_randomisation() {
        console.note(&note);
    }
    let repeatable =
        RepeatableRun::new((&project, suite), &finding, &spec, args, records.path(), &stop)?;
    let workspace = Workspace::new(root.clone()).at(&binary.cwd);
    // Place of a failure or, if the run did not end by itself, of a thread. For a doctest, this is
    // the place in its source file.
    let place_of = |run: &Run| {
        let failure = run.failure.as_ref()?;
        let (file, line) = match (&failure.file, failure.line) {
            (Some(file), Some(line)) => (file.clone(), line),
            _ => workspace.nearest_of_stacks(&run.stacks)?,
        };
        let of_doctest = in_doctest.and_then(|place| place.in_source(root, &file, line));
        Some(of_doctest.map_or((file, line), |found| (found.file, found.line)))
    };
    if let Some(requested) = args.runs {
        let mut counts = OutcomeCounts::default();
        let mut pace = Pace::of(&[]);
        for _ in 0..requested.get() {
            pace.wait();
            let Some(run) = repeatable.one() else { break };
            pace.heed(&run);
            let as_recorded = verdict::is_as_recorded(&run, &finding);
            counts.add(&run, place_of(&run), as_recorded);
        }
        return counts.report(&finding, is_recorded, requested.get().into(), warnings, console);
    }
    let run = match debugger {
        Some(debugger) => debug(binary, test, &spec, &debugger, &args.arguments, records.path())?,
        None => repeatable.shown(console)?,
    };
    if let Some(trace) = verdict::traced(&run).filter(|_| console.format != MessageFormat::Json) {
        console.text(&schedule::text(trace, &workspace));
    }
    verdict::judge(&finding, is_recorded, &run, place_of(&run), &traced_sites, warnings, console)
}

/// Requested run.
struct Requested {
    /// Project, built as the run requires.
    project: Project,
    /// Finding that describes the run.
    finding: Finding,
    /// Whether a campaign recorded the finding.
    is_recorded: bool,
}

impl Requested {
    /// Returns the run of a finding, or the run that the test and the options on the command line
    /// describe.
    fn of(
        args: &ReplayArgs,
        place: &Folders,
        store: &FindingStore,
        console: &Console,
    ) -> Result<Self> {
        if !args.is_run() {
            let finding = asked(&args.id, args.report.as_deref(), store, |_| true)?;
            let plan = BuildPlan {
                archive: args.archive.extracted.clone(),
                ..plan_of(&finding, &place.workspace_root)
            };
            return Ok(Requested {
                project: project::build(&plan, console.quiet)?,
                finding,
                is_recorded: true,
            });
        }
        let project = project::build(&request::plan(args, console)?, console.quiet)?;
        let finding = request::finding_of(args, &project)?;
        let known = store.find(&finding.id);
        Ok(Requested {
            project,
            is_recorded: known.is_ok(),
            finding: match known {
                Ok(mut known) => {
                    // The addresses of statics differ between builds.
                    known.spec.execution = finding.spec.execution;
                    known
                }
                Err(_) => finding,
            },
        })
    }
}

/// Returns the calls that are to be traced.
fn traced(args: &ReplayArgs, finding: &Finding, console: &Console) -> Vec<Site> {
    if !args.trace {
        return Vec::new();
    }
    let sites = finding.culprit_sites();
    if sites.is_empty() && !finding.spec.is_scheduled() {
        console.note("no responsible call is known, so there is none to trace");
    }
    sites
}

/// Returns the finding that `text` means, from a report or else from the saved findings. A finding
/// that `is_preferred` wins over others.
pub(super) fn asked(
    text: &str,
    report: Option<&Utf8Path>,
    store: &FindingStore,
    is_preferred: impl Fn(&Finding) -> bool,
) -> Result<Finding> {
    let findings = match report {
        Some(file) => Finding::in_report(&report::store::read(file)?),
        None => store.all()?.0,
    };
    let (preferred, others): (Vec<_>, Vec<_>) = findings.into_iter().partition(is_preferred);
    let finding = match (findings::choose(&preferred, text)?, report) {
        (Some(found), _) => found.clone(),
        (None, None) => store.find(text)?,
        (None, Some(_)) => findings::choose(&others, text)?.cloned().ok_or_else(|| {
            Error::usage(format!("the report has no failing run `{text}` that can be replayed"))
        })?,
    };
    expect_this_algorithm(&finding)?;
    Ok(finding)
}

/// Returns an error if the seed of a finding makes other choices in this version.
fn expect_this_algorithm(finding: &Finding) -> Result<()> {
    let found = finding.fingerprint.algorithm;
    if found == nondex_core::ALGORITHM {
        return Ok(());
    }
    Err(Error::setup(format!(
        "finding {} cannot be replayed: it was made by version {found} of the algorithm, this is \
         version {}, in which the \
         seed makes other choices; run `cargo nondex` again",
        finding.id,
        nondex_core::ALGORITHM
    )))
}

/// Returns the build plan for the test of a finding, as it was built when it was found.
pub(super) fn plan_of(finding: &Finding, root: &Utf8Path) -> BuildPlan {
    let mut plan = finding.build.in_workspace(root);
    plan.without_network = finding.spec.network == Network::Off && finding.spec.observe.is_empty();
    plan.doctests =
        if finding.binary.kind == "doc" { Doctests::one(&finding.spec.test) } else { Doctests::No };
    plan
}

/// Finds the test of a finding in a built project.
pub(super) fn find<'a>(
    project: &'a Project,
    finding: &Finding,
) -> Result<(&'a Suite, &'a TestCase)> {
    let gone = |what: &str| {
        Error::setup(format!(
            "finding {} cannot be replayed: {what}; it was found in run {}",
            finding.id, finding.run
        ))
    };
    let mut suites = project.suites.iter();
    let suite = suites.find(|suite| suite.binary.id == finding.binary.id).ok_or_else(|| {
        gone(&format!("the test executable `{}` no longer exists", finding.binary.id))
    })?;
    let test = suite
        .test(&finding.spec.test)
        .ok_or_else(|| gone(&format!("the test `{}` no longer exists", finding.test)))?;
    Ok((suite, test))
}

/// Returns warnings about changes since the finding was made.
pub(super) fn warnings(
    finding: &Finding,
    project: &Project,
    binary: &TestBinary,
    test: &TestCase,
) -> Vec<String> {
    let now =
        Fingerprint::take(&project.workspace_root, &project.toolchain, binary.executable_of(test));
    let differences = finding.fingerprint.differences(&now).into_iter();
    differences
        .map(|difference| {
            format!("{difference} has changed since this was found: the result may differ")
        })
        .collect()
}

/// Runs the test under a debugger, on our own terminal and without a time limit. The outcome is
/// known only from the record.
fn debug(
    binary: &TestBinary,
    test: &TestCase,
    spec: &RunSpec,
    debugger: &[String],
    arguments: &[OsString],
    records: &Utf8Path,
) -> Result<Run> {
    let record = records.join("debugged.jsonl");
    let mut runner: Vec<OsString> = debugger.iter().map(OsString::from).collect();
    runner.extend(binary.runner.iter().cloned());
    let debugged = TestBinary { runner, ..binary.clone() };
    let named = RunSpec { record: Some(record.clone().into()), ..spec.clone() };
    let mut command: Command = launch::command(&debugged, test, Some(named.clone()));
    command.args(arguments);
    // The debugger itself shows stacks, so panics print no backtraces.
    launch::without_backtraces(&mut command);
    command.status().or_setup(format_args!("failed to start `{}`", debugger.join(" ")))?;
    let recorded = record::read(&record).or_setup("the record of the run cannot be read")?;
    let mut events = recorded.events;
    let moved = binary.moved.as_ref();
    addresses::resolve(binary.executable_of(test), moved, &mut events);
    // The exit code is the debugger's. Only a recorded end of the test function shows the outcome.
    let unknown = Outcome::Exited(0);
    let folded = RunRecord::fold(&named, events, unknown.clone());
    if folded.outcome == unknown {
        return Err(Error::setup("the debugger ended before the test did"));
    }
    Ok(Run::from(folded))
}
