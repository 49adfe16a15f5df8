//! Builds a project's tests: cargo builds them, with this tool's runtime in place of std and test.

use std::ffi::OsString;
use std::num::NonZeroUsize;

use camino::Utf8Path;

use super::archive;
use super::built::Project;
use super::cargo::{Cargo, UNBUILT};
use super::companions;
use super::doctest::{self, Compiled, Compiler, Unbuilt};
use super::drawn;
use super::foundation::{self, Foundation};
use super::inherited;
use super::instrumentation::Instrumentation;
use super::intercept::Intercept;
use super::listing;
use super::named;
use super::outdated;
use super::plan::{BuildPlan, Doctests, Mode};
use super::platform;
use super::preload::EntropyLibrary;
use super::started::{self, Started};
use super::suite::{Suite, TestBinary};
use super::toolchain::{NEWEST, Toolchain};
use crate::error::{Error, OrSetup, Result};
use crate::interruption;

/// Builds the selected tests, finds out how cargo would start each executable, and lists its tests.
/// If the plan names an archive, takes the tests from the archive instead.
///
/// The toolchain's std may have methods that the runtime's maps and sets lack. In this case, tests
/// that do not build over the runtime's maps and sets are built over std's own.
///
/// # Errors
/// - [`Error::build`] if the project does not compile. Cargo has printed the reason on stderr.
/// - [`Error::usage`] if the plan names something that does not exist.
/// - [`Error::setup`] if the manifest, toolchain, cache or target directory cannot be used.
pub fn build(plan: &BuildPlan, quiet: bool) -> Result<Project> {
    if let Some(extracted) = &plan.archive {
        return archive::project(extracted, plan, quiet);
    }
    let failed = match build_over(plan, quiet, true) {
        Err(_) if interruption::is_set() => {
            return Err(Error::build("interrupted while the tests were built"));
        }
        Err(failed) if plan.mode == Mode::Program && failed.to_string() == UNBUILT => failed,
        built => return built,
    };
    let toolchain = Toolchain::in_dir(&plan.path(Utf8Path::new(".")))?;
    if !toolchain.may_have_more() {
        return Err(failed);
    }
    anstream::eprintln!("   Compiling the tests again, with std's own maps and sets");
    let mut project = build_over(plan, quiet, false).map_err(|_| failed)?;
    let [major, minor] = NEWEST;
    project.notes.push(format!(
        "the order of maps and sets is not varied: the tests build only with std's own, because \
         the toolchain is unstable or newer than Rust {major}.{minor}, the newest whose maps and \
         sets this version of cargo nondex knows"
    ));
    Ok(project)
}

/// Does the work of [`build`], over the runtime's own maps and sets if `collections`, or over
/// std's.
fn build_over(plan: &BuildPlan, quiet: bool, collections: bool) -> Result<Project> {
    let foundation = Foundation::of(plan)?;
    named::check(plan, &foundation.metadata, |name| {
        let known = foundation::metadata(plan, true)?;
        Ok(known.packages.iter().any(|package| *package.name == name))
    })?;
    let ours = foundation.ours();
    let toolchain = &foundation.toolchain;
    let mut cargo = Cargo::new(&foundation, plan, collections);
    if plan.mode == Mode::Program
        && platform::mentions_static(&foundation.here, plan.checkout.as_ref(), &plan.config)
    {
        started::check_linkage(&cargo, &ours)?;
    }
    let instrumentation = Instrumentation::of(&cargo, &ours, quiet)?;
    // Without the library, build scripts and proc macros take random bytes from the system.
    let entropy = EntropyLibrary::of(toolchain);
    let unseeded = entropy
        .as_ref()
        .err()
        .map(|why| format!("random bytes of build scripts and proc macros are not seeded: {why}"));
    cargo.entropy = entropy.ok();
    let folder = instrumentation.folder(&cargo);
    let folder = inherited::open(&cargo, &instrumentation, &ours, folder, quiet)?;
    let build_dir = &folder.path;
    if !plan.varied.program.is_empty() {
        outdated::outdate(build_dir, &plan.varied.packages)
            .or_setup(format_args!("failed to change `{build_dir}`"))?;
    }
    let starts = build_dir.join(format!("starts-{}", std::process::id()));
    let (intercept, mut notes) = instrumentation.intercept(&cargo, build_dir, starts)?;
    let runtime = intercept.runtime.as_ref();
    // The order of the runtime's collections is compared while cargo builds.
    let (started, order_note) = std::thread::scope(|scope| {
        let note = scope.spawn(|| runtime?.order_note(toolchain, &foundation.target));
        let started = Started::of(&cargo, build_dir, &intercept, quiet);
        (started, note.join().expect("it is compared without a panic"))
    });
    let mut started = started?;
    let is_order_unknown = order_note.is_some();
    notes.extend(order_note);
    notes.extend(unseeded.filter(|_| plan.mode == Mode::Program));

    let preload = runtime.and_then(|runtime| runtime.preload.as_deref());
    let runner: Vec<OsString> = foundation.config.runner.iter().map(OsString::from).collect();
    let binaries = binaries(&mut started, &foundation, &runner, &mut notes);
    let root = &foundation.metadata.workspace_root;
    let (mut suites, of_benchmarks) = listing::list(&binaries, root, plan.mode)?;
    notes.extend(of_benchmarks);
    for suite in &mut suites {
        let is_macro = suite.binary.kind == "proc-macro";
        suite.binary.is_on_host = plan.mode == Mode::Program && is_macro;
    }
    let (compiled, of_doctests) = match &plan.doctests {
        Doctests::Named { names, ignored } if !started.doctests.is_empty() => {
            let folder = doctest::folder(&build_dir.join("doctests"))?;
            let compiler = compiler(plan, &foundation, &intercept, &runner, quiet);
            let compiled = compiler.compile(&started.doctests, names, *ignored, folder.path())?;
            (compiled, Some(folder))
        }
        _ => (Compiled::default(), None),
    };
    notes.extend(compiled.note());
    suites.extend(compiled.suites);
    for suite in &mut suites {
        suite.binary.preload = preload.map(Utf8Path::to_owned);
    }
    suites.sort_by(|a, b| a.binary.id.cmp(&b.binary.id));
    for Unbuilt { id, message } in &compiled.unbuilt {
        anstream::eprintln!("error: `{id}` does not build\n{message}\n");
    }
    if !compiled.unbuilt.is_empty() && suites.iter().all(|suite| suite.tests.is_empty()) {
        return Err(Error::build("the project's doctests do not build"));
    }
    Ok(Project {
        unbuilt: compiled.unbuilt.into_iter().map(|one| one.id).collect(),
        drawn: drawn::all(build_dir),
        needed: started.artifacts.others,
        _doctests: of_doctests,
        folder,
        target_dir: foundation.target_dir.clone(),
        workspace_root: root.clone(),
        toolchain: toolchain.version.clone(),
        metadata: foundation.metadata.clone(),
        notes,
        on_host: suites.iter().filter_map(on_host).collect(),
        suites,
        is_order_unknown,
    })
}

/// Returns the test executables, sorted by id, because the order in which cargo reports them
/// varies. Adds a note for each one that cargo does not run.
fn binaries(
    started: &mut Started,
    foundation: &Foundation,
    runner: &[OsString],
    notes: &mut Vec<String>,
) -> Vec<TestBinary> {
    let companions = companions::settings(&foundation.metadata.workspace_root);
    let mut binaries = Vec::new();
    for executable in std::mem::take(&mut started.artifacts.executables) {
        let Some(start) = started.executables.get(&executable.path) else {
            notes.push(format!("`{}` was built but cargo does not run it", executable.id));
            continue;
        };
        let mut binary = executable.into_binary(start, runner);
        companions::give(&companions, &mut binary.env);
        binaries.push(binary);
    }
    binaries.sort_by(|a, b| a.id.cmp(&b.id));
    binaries
}

/// Returns the compiler of doctests. Runs rustdoc to find out its options, so this is called only
/// if there are doctests.
fn compiler<'a>(
    plan: &BuildPlan,
    foundation: &'a Foundation,
    intercept: &'a Intercept,
    runner: &'a [OsString],
    quiet: bool,
) -> Compiler<'a> {
    let toolchain = &foundation.toolchain;
    let jobs = plan.jobs.or_else(|| std::thread::available_parallelism().ok());
    Compiler {
        runtime: intercept.runtime.as_ref(),
        rustc: toolchain.rustc.clone(),
        rustdoc: toolchain.rustdoc(),
        has_stable_run_tool: toolchain.has_stable_run_tool(),
        host: &toolchain.host,
        runner,
        atomics_are_calls: intercept.atomics_are_calls,
        covered: intercept.covered.as_ref(),
        jobs: jobs.unwrap_or(NonZeroUsize::MIN),
        quiet,
    }
}

/// Returns the id of a proc macro's binary with a note on its tests. Returns `None` for other
/// binaries and for binaries without tests.
fn on_host(suite: &Suite) -> Option<(String, String)> {
    let Suite { binary: TestBinary { id, is_on_host, .. }, tests } = suite;
    let note = || format!("`{id}` is of a proc macro: its tests run on the host's own std");
    (*is_on_host && !tests.is_empty()).then(|| (id.clone(), note()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::TestCase;
    use crate::project::suite::tests::binary;

    #[test]
    fn only_a_proc_macro_with_tests_has_a_note() {
        for (is_on_host, test, has_note) in
            [(true, Some("parses"), true), (true, None, false), (false, Some("parses"), false)]
        {
            let binary = TestBinary { is_on_host, ..binary("derive", "derive") };
            let tests = test.map(TestCase::new).into_iter().collect();
            let note = on_host(&Suite { binary, tests });
            assert_eq!(note.is_some(), has_note, "{is_on_host} {test:?}");
        }
    }
}
