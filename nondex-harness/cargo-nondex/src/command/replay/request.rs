//! Run that the command line describes, in contrast to the run of a finding.

use camino::Utf8Path;
use nondex_core::{Interleaving, NetworkMode, RunSpec, StateId, StateKind};

use crate::campaign::temporary;
use crate::cli::ReplayArgs;
use crate::command::console::Console;
use crate::command::selection;
use crate::error::{Error, Result};
use crate::findings::{self, Finding, Fingerprint};
use crate::judge::{NetworkPolicy, Options};
use crate::project::{BuildPlan, Doctests, Harness, Project, Suite, Symbols, TestCase};

/// Returns the build plan for a requested run.
pub(super) fn plan(args: &ReplayArgs, console: &Console) -> Result<BuildPlan> {
    let mut plan = selection::plan(&args.build, &args.archive, console)?;
    plan.without_network = args.network == Some(NetworkMode::Off);
    let (binary, name) = args.id.split_once('$').unwrap_or(("", &args.id));
    plan.doctests = if binary.contains("::doc/") { Doctests::one(name) } else { Doctests::No };
    Ok(plan)
}

/// Returns the requested run as a finding.
///
/// # Errors
/// When the test or a state does not exist, or options contradict each other.
pub(super) fn finding_of(args: &ReplayArgs, project: &Project) -> Result<Finding> {
    let (suite, test) = named(project, &args.id)?;
    let mut options = Options::new(&*project.workspace_root);
    options.models_off = args.models.models_off()?;
    options.files = args.models.files();
    options.real_threads = args.real_threads || !args.after.is_empty();
    options.max_steps = args.max_steps.unwrap_or(0);
    options.schedule = args.schedule.unwrap_or_default();
    options.timeout = args.timeout.unwrap_or(options.timeout);
    let network = args.network.unwrap_or_default();
    options.network = NetworkPolicy::new(network, args.network_allow.clone(), true);
    let own_spec = match (args.level, args.seed) {
        (Some(level), Some(seed)) => options.apply(RunSpec::new(&test.name, level, seed)),
        _ => options.clean_spec(&test.name),
    };
    let mut before = before(project, suite, test, &args.after)?;
    let spec = match (&args.state, args.interrupt_at) {
        (Some(state), Some(access)) => own_spec.interleaved(Interleaving {
            with: match (before.pop(), before.is_empty()) {
                (Some(with), true) => with,
                _ => return Err(Error::usage("`--interrupt-at` needs one test in `--after`")),
            },
            is_inner: args.inner,
            state: state_of(suite, state, &project.workspace_root)?,
            interrupt_at: access,
            pause_at: args.pause_at,
            lines: false,
            put_back: false,
            waits_ms: 0,
        }),
        _ => own_spec.after(before),
    };
    let fingerprint = Fingerprint::take(
        &project.workspace_root,
        &project.toolchain,
        suite.binary.executable_of(test),
    );
    Ok(Finding::asked(suite, spec, options.timeout, fingerprint))
}

/// Returns the state that the text names.
fn state_of(suite: &Suite, text: &str, root: &Utf8Path) -> Result<StateId> {
    let unknown = || {
        Error::usage(format!(
            "`{text}` is no state of `{}`: expected `static:PATH`, `env:NAME`, `file:PATH`, \
             `port:ADDRESS`, `cwd:` or `umask:`",
            suite.binary.id
        ))
    };
    let (kind, name) = text.split_once(':').ok_or_else(unknown)?;
    let kind = StateKind::ALL.into_iter().find(|known| known.name() == kind).ok_or_else(unknown)?;
    match kind {
        StateKind::Static => {
            Ok(Symbols::of(&suite.binary.executable)?.named(name).ok_or_else(unknown)?.state())
        }
        StateKind::Env | StateKind::File | StateKind::Cwd | StateKind::Umask | StateKind::Port => {
            Ok(StateId {
                kind,
                name: if kind == StateKind::File && !name.starts_with(temporary::FOLDER) {
                    root.join(name).into_string()
                } else {
                    name.to_owned()
                },
            })
        }
        _ => Err(unknown()),
    }
}

/// Returns the tests that run before `test`. They are given by name or id. The result has names for
/// tests of the same binary, and ids for tests of other binaries, which run in earlier processes.
fn before(
    project: &Project,
    suite: &Suite,
    test: &TestCase,
    asked: &[String],
) -> Result<Vec<String>> {
    let mut before: Vec<String> = Vec::new();
    for text in asked {
        let named = |case: &&TestCase| case.name == *text || suite.test_id(case) == *text;
        let name = match suite.tests.iter().find(named) {
            Some(case) => case.name.clone(),
            None if of_other_binary(project, text).is_some() => text.clone(),
            None => {
                return Err(Error::usage(format!(
                    "there is no test `{text}` in `{}`; one of another binary needs its id",
                    suite.binary.id
                )));
            }
        };
        if name == test.name || before.contains(&name) {
            return Err(Error::usage(format!(
                "`{text}` is to run twice: a process runs each test once"
            )));
        }
        before.push(name);
    }
    let has_own = before.iter().any(|name| of_other_binary(project, name).is_none());
    if has_own && suite.binary.harness != Harness::Nondex {
        return Err(Error::usage(format!(
            "`--after` needs the harness of this tool: `{}` has its own, which runs one test in a \
             process",
            suite.binary.id
        )));
    }
    Ok(before)
}

/// Returns the test with this id.
pub(super) fn of_other_binary<'a>(
    project: &'a Project,
    id: &str,
) -> Option<(&'a Suite, &'a TestCase)> {
    selection::all(&project.suites).find(|(suite, case)| suite.test_id(case) == id)
}

/// Returns the test with this name or id, or the only test whose id contains the text.
fn named<'a>(project: &'a Project, text: &str) -> Result<(&'a Suite, &'a TestCase)> {
    let tests: Vec<_> = selection::all(&project.suites)
        .map(|(suite, test)| (suite.test_id(test), (suite, test)))
        .collect();
    let of = |is: &dyn Fn(&str, &str) -> bool| {
        tests.iter().filter(|(id, (_, test))| is(id, &test.name)).cloned().collect::<Vec<_>>()
    };
    let mut found = of(&|id, name| id == text || name == text);
    if found.is_empty() {
        found = of(&|id, _| id.contains(text));
    }
    findings::only(text, "tests", found)?.ok_or_else(|| {
        let is_built =
            |name: &str| tests.iter().any(|(_, (suite, _))| suite.binary.package == name);
        let mut members = project.metadata.workspace_packages().into_iter();
        let hint = if members.all(|member| is_built(&member.name)) {
            ""
        } else {
            "; `--workspace`, or `-p` with a package, builds tests of other packages"
        };
        Error::usage(format!("there is no test `{text}` among those that were built{hint}"))
    })
}
