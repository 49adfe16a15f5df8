//! Building a project's tests: cargo does it, with our runtime in place of std and test.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::num::NonZeroUsize;

use camino::{Utf8Path, Utf8PathBuf};

use super::accesses;
use super::archive;
use super::atomics::Atomics;
use super::built::Project;
use super::cargo::{Cargo, UNBUILT};
use super::companions;
use super::counted::Counted;
use super::coverage::{self, Covered};
use super::doctest::{Compiled, Compiler, Folder, Unbuilt};
use super::drawn;
use super::folder::BuildFolder;
use super::foundation::{self, Foundation};
use super::intercept::{Intercept, RUSTDOC, Start};
use super::listing;
use super::named;
use super::outdated::{self, REBUILT};
use super::plan::{BuildPlan, Doctests, Mode};
use super::platform;
use super::preload::EntropyLibrary;
use super::runtime::{Recipe, Runtime};
use super::rustix::{self, Backend};
use super::suite::{Suite, TestBinary};
use super::toolchain::{NEWEST, Toolchain};
use crate::error::{Error, Result};
use crate::file;

/// Builds the selected tests, finds out how cargo would start each executable, and lists what is in
/// it. Where the tests do not build over the runtime, and std may have methods that the runtime's
/// maps and sets have not, they are built over std's own. From an archive, takes those that are in
/// it.
///
/// # Errors
/// [`Error::build`] when the project does not compile (cargo has said why on stderr),
/// [`Error::usage`] when the plan names what does not exist, [`Error::setup`] for everything that
/// is wrong with manifest, toolchain, cache or target directory.
pub fn build(plan: &BuildPlan, quiet: bool) -> Result<Project> {
    if let Some(extracted) = &plan.archive {
        return archive::project(extracted, plan, quiet);
    }
    let failed = match build_over(plan, quiet, true) {
        Err(failed) if plan.mode == Mode::Program && failed.to_string() == UNBUILT => failed,
        built => return built,
    };
    let toolchain = Toolchain::in_dir(&plan.path(Utf8Path::new(".")))?;
    if !toolchain.may_have_more() {
        return Err(failed);
    }
    anstream::eprintln!("   Compiling the tests again, over std's own maps and sets");
    let mut project = build_over(plan, quiet, false).map_err(|_| failed)?;
    let [major, minor] = NEWEST;
    project.notes.push(format!(
        "the order of maps and sets is not varied: the tests build only over std's own, because \
         the toolchain is unstable or newer than Rust {major}.{minor}, the newest whose maps and \
         sets this version of cargo nondex knows"
    ));
    Ok(project)
}

/// As [`build`], over the runtime's own maps and sets or over std's.
fn build_over(plan: &BuildPlan, quiet: bool, collections: bool) -> Result<Project> {
    let foundation = Foundation::of(plan)?;
    named::check(plan, &foundation.metadata, |name| {
        let known = foundation::metadata(plan, true)?;
        Ok(known.packages.iter().any(|package| *package.name == name))
    })?;
    let Foundation {
        here,
        toolchain,
        target,
        ..
    } = &foundation;
    let workspace_root = foundation.metadata.workspace_root.clone();
    let own = foundation.ours();
    let mut cargo = foundation.cargo(plan, collections);
    if plan.mode == Mode::Program && platform::mentions_static(here, &plan.config) {
        check_linkage(&cargo, &own)?;
    }
    let runtime = match plan.mode {
        Mode::Program => Some(runtime(&cargo, quiet)?),
        Mode::Swap | Mode::Plain => None,
    };
    // Without it, what a build script or a proc macro draws at random is the platform's.
    let entropy = EntropyLibrary::of(toolchain);
    let unseeded = entropy.as_ref().err().map(|why| {
        format!("what build scripts and proc macros draw at random is not seeded: {why}")
    });
    cargo.entropy = entropy.ok();
    let uncovered = match plan.mode == Mode::Program && plan.covered.is_some() {
        true => coverage::obstacle(toolchain),
        false => None,
    };
    let counted = plan.covered.as_ref();
    let counted = counted.filter(|_| plan.mode == Mode::Program && uncovered.is_none());
    let unseen = match plan.mode == Mode::Program && plan.races {
        true => accesses::obstacle(toolchain),
        false => None,
    };
    let races = plan.mode == Mode::Program && plan.races && unseen.is_none();
    let build_dir = own.join(match plan.mode {
        // Cargo does not see which runtime there is, so each has its own folder.
        Mode::Program if !collections => "build-std-collections",
        Mode::Program if matches!(counted, Some(Counted::Some(_))) => "build-changed",
        Mode::Program if counted.is_some() => "build-covered",
        Mode::Program if races => "build-races",
        Mode::Program if plan.without_network => "build-without-network",
        Mode::Program => "build",
        Mode::Swap => "swap",
        Mode::Plain if !plan.varied.program.is_empty() => REBUILT,
        Mode::Plain => "plain",
    });
    let rustix = if plan.mode == Mode::Program && !plan.without_network {
        rustix_backend(&cargo, &own)?
    } else {
        Backend::Unchanged
    };
    let atomics = match &runtime {
        Some(runtime) => Atomics::of(runtime.atomics_obstacle(toolchain, target)),
        None => Atomics::Unchanged,
    };
    let accesses = if races { " accesses are calls" } else { "" };
    let key = key(runtime.as_ref(), &rustix, &atomics, &cargo) + accesses;
    let folder = BuildFolder::open(build_dir, &key, quiet)?;
    let build_dir = &folder.path;
    if !plan.varied.program.is_empty() {
        outdated::outdate(build_dir, &plan.varied.packages)
            .map_err(|e| Error::setup(format!("failed to change `{build_dir}`: {e}")))?;
    }

    let preload = runtime.as_ref().and_then(|runtime| runtime.preload.clone());
    let starts = build_dir.join(format!("starts-{}", std::process::id()));
    file::create_folder(&starts)?;
    let covered = match counted {
        Some(counted) => Some(Covered::prepare(counted, build_dir)?),
        None => None,
    };
    let intercept = Intercept {
        runtime,
        atomics_are_calls: atomics == Atomics::Calls,
        covered,
        races,
        rustix_uses_libc: rustix == Backend::Libc,
        starts: starts.clone(),
        ..cargo.intercept()
    };
    let (built, order_note) = std::thread::scope(|scope| {
        let note = || intercept.runtime.as_ref()?.order_note(toolchain, target);
        let note = scope.spawn(note);
        let built = cargo
            .build(build_dir, &intercept, quiet)
            .and_then(|artifacts| {
                cargo.start(build_dir, &intercept)?;
                read_starts(&starts).map(|(started, doctests)| (artifacts, started, doctests))
            });
        (built, note.join().expect("it is compared without a panic"))
    });
    // Where that was not known before.
    let linkage = if built.is_err() {
        platform::check_linkage(&starts)
    } else {
        Ok(())
    };
    let _ = std::fs::remove_dir_all(&starts);
    linkage?;
    let (artifacts, started, doctests) = built?;
    let executables = artifacts.executables;

    let mut notes: Vec<String> = rustix.note().map(str::to_owned).into_iter().collect();
    let is_order_unknown = order_note.is_some();
    notes.extend(order_note);
    notes.extend(atomics.note());
    notes.extend(unseeded.filter(|_| plan.mode == Mode::Program));
    notes.extend(unseen.map(|why| {
        format!(
            "plain loads and stores are not seen, because this compiler cannot make them \
             calls: {why}"
        )
    }));
    notes.extend(uncovered.map(|why| {
        format!(
            "what tests run is not known, because this compiler cannot make them tell it: {why}"
        )
    }));
    if started.is_empty() && !executables.is_empty() {
        return Err(Error::setup(format!(
            "cargo built {} test executables but then started none of them; did the sources \
             change meanwhile?",
            executables.len()
        )));
    }
    let runner: Vec<OsString> = foundation
        .config
        .runner
        .iter()
        .map(OsString::from)
        .collect();
    let companions = companions::settings(&workspace_root);
    let mut binaries = Vec::new();
    for executable in executables {
        let Some(start) = started.get(&executable.path) else {
            notes.push(format!(
                "`{}` was built but cargo does not run it",
                executable.id
            ));
            continue;
        };
        let mut binary = TestBinary {
            preload: preload.clone(),
            ..executable.into_binary(start, &runner)
        };
        companions::give(&companions, &mut binary.env);
        binaries.push(binary);
    }
    // Cargo reports them as they are built, in an order that varies.
    binaries.sort_by(|a, b| a.id.cmp(&b.id));
    let (mut suites, of_benchmarks) = listing::list(&binaries, &workspace_root, plan.mode)?;
    notes.extend(of_benchmarks);
    if plan.mode == Mode::Program {
        notes.extend(suites.iter().filter_map(on_host));
    }
    // It asks rustdoc for its options, so only where there are doctests.
    let compiler = || Compiler {
        runtime: intercept.runtime.as_ref(),
        rustc: toolchain.rustc.clone(),
        rustdoc: toolchain.rustdoc(),
        run_tool: toolchain.run_tool(),
        host: &toolchain.host,
        runner: &runner,
        covered: intercept.covered.as_ref(),
        jobs: plan
            .jobs
            .or_else(|| std::thread::available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN),
        quiet,
    };
    let mut of_doctests = None;
    let compiled = match &plan.doctests {
        Doctests::Named { names, ignored } if !doctests.is_empty() => {
            let folder = of_doctests.insert(Folder::create(&build_dir.join("doctests"))?);
            compiler().compile(&doctests, names, *ignored, folder)?
        }
        _ => Compiled::default(),
    };
    notes.extend(
        compiled
            .on_host
            .iter()
            .map(|id| format!("`{id}` is of a proc macro: its tests run on the host's own std")),
    );
    notes.extend(compiled.note());
    for suite in compiled.suites {
        let binary = TestBinary {
            preload: preload.clone(),
            ..suite.binary
        };
        suites.push(Suite { binary, ..suite });
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
        needed: artifacts.others,
        _doctests: of_doctests,
        folder,
        suites,
        target_dir: foundation.target_dir.clone(),
        workspace_root,
        toolchain: toolchain.version.clone(),
        metadata: foundation.metadata.clone(),
        notes,
        is_order_unknown,
    })
}

/// The runtime that is put in place of std and test.
///
/// # Errors
/// As [`Runtime::of`].
pub(super) fn runtime(cargo: &Cargo<'_>, quiet: bool) -> Result<Runtime> {
    let plan = cargo.plan;
    Runtime::of(&Recipe {
        toolchain: cargo.toolchain,
        target: cargo.target,
        offline: plan.offline || plan.frozen,
        network: !plan.without_network,
        collections: cargo.collections,
        quiet,
    })
}

/// How rustix, where the project has it, does its operations.
///
/// # Errors
/// As [`rustix::backend`].
pub(super) fn rustix_backend(cargo: &Cargo<'_>, own: &Utf8Path) -> Result<Backend> {
    rustix::backend(&cargo.metadata.workspace_root.join("Cargo.lock"), || {
        let intercept = Intercept {
            rustix_uses_libc: true,
            ..cargo.intercept()
        };
        cargo.fetch(&own.join("fetch"), &intercept).is_ok()
    })
}

/// What identifies how crates are built over a runtime: cargo does not see it.
pub(super) fn key(
    runtime: Option<&Runtime>,
    rustix: &Backend,
    atomics: &Atomics,
    cargo: &Cargo<'_>,
) -> String {
    let content = runtime.map_or("", |runtime| &runtime.content);
    let seeded = match cargo.entropy {
        Some(_) => " seeded",
        None => "",
    };
    format!("{content}{}{}{seeded}", rustix.key(), atomics.key())
}

/// The note on a proc macro that has tests.
fn on_host(suite: &Suite) -> Option<String> {
    let Suite { binary, tests } = suite;
    (binary.kind == "proc-macro" && !tests.is_empty()).then(|| {
        format!(
            "`{}` is a proc macro: its tests run on the host's own std",
            binary.id
        )
    })
}

/// Asks cargo which flags it gives rustc for the target, and refuses those that link libc into the
/// tests. Nothing is built.
fn check_linkage(cargo: &Cargo<'_>, own: &Utf8Path) -> Result<()> {
    // A folder in which cargo knows nothing of rustc yet, or it would not ask.
    let folder = own.join(format!("linkage-{}", std::process::id()));
    file::create_folder(&folder)?;
    let intercept = Intercept {
        starts: folder.clone(),
        ..cargo.intercept()
    };
    // The build reports whatever is wrong here.
    let _ = cargo.fetch(&folder, &intercept);
    let checked = platform::check_linkage(&folder);
    let _ = std::fs::remove_dir_all(&folder);
    checked
}

/// The starts that were written down, by executable, and the calls of rustdoc.
fn read_starts(dir: &Utf8Path) -> Result<(BTreeMap<Utf8PathBuf, Start>, Vec<Start>)> {
    let failed = |e: String| Error::setup(format!("failed to read `{dir}`: {e}"));
    let mut starts = BTreeMap::new();
    let mut doctests = Vec::new();
    for entry in dir.read_dir_utf8().map_err(|e| failed(e.to_string()))? {
        let entry = entry.map_err(|e| failed(e.to_string()))?;
        let text = std::fs::read_to_string(entry.path()).map_err(|e| failed(e.to_string()))?;
        let start: Start = serde_json::from_str(&text).map_err(|e| failed(e.to_string()))?;
        if entry.file_name().starts_with(RUSTDOC) {
            doctests.push(start);
        } else {
            starts.insert(start.program.clone(), start);
        }
    }
    // In an order that is the same every time.
    doctests.sort_by(|a, b| a.arguments.cmp(&b.arguments));
    Ok((starts, doctests))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::TestCase;
    use crate::project::suite::tests::binary;

    #[test]
    fn only_a_proc_macro_with_tests_has_a_note() {
        for (kind, test, has_note) in [
            ("proc-macro", Some("parses"), true),
            ("proc-macro", None, false),
            ("lib", Some("parses"), false),
        ] {
            let binary = TestBinary {
                kind: kind.to_owned(),
                ..binary("derive", "derive")
            };
            let tests = test.map(TestCase::new).into_iter().collect();
            let note = on_host(&Suite { binary, tests });
            assert_eq!(note.is_some(), has_note, "{kind} {test:?}");
        }
    }
}
