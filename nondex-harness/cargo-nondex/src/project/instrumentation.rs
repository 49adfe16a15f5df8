//! Instrumentation that a build adds to its programs: the runtime, and the compiler passes that
//! report atomics, other accesses, and executed code to it.

use camino::{Utf8Path, Utf8PathBuf};

use super::cargo::Cargo;
use super::coverage::{self, Covered};
use super::foundation::Foundation;
use super::intercept::Intercept;
use super::outdated::REBUILT;
use super::plan::Mode;
use super::runtime::{Recipe, Runtime};
use super::rustix::{self, Backend};
use crate::error::Result;

/// Name of the folder of the usual builds over the runtime.
pub(super) const PROGRAM: &str = "build";

/// Instrumentation of a build: see the [module](self).
#[derive(Default)]
pub(super) struct Instrumentation {
    /// Replacement of std and test; `None` unless a whole program is built.
    runtime: Option<Runtime>,
    /// How rustix makes its system calls.
    rustix: Backend,
    /// Whether atomic operations are calls of the runtime.
    atomics_are_calls: bool,
    /// Whether plain loads and stores of the project's own crates are operations of the scheduler.
    races: bool,
    /// Whether the project's own crates record which of their code runs.
    covered: bool,
    /// Notes on what is not covered, and why: one sentence each.
    notes: Vec<String>,
}

impl Instrumentation {
    /// Returns the instrumentation for this selection, as far as its toolchain allows. Builds the
    /// runtime if it is not cached. `ours` is the folder of everything that this tool builds.
    ///
    /// # Errors
    /// Returns the errors of [`Runtime::of`] and [`rustix::backend`].
    pub(super) fn of(cargo: &Cargo<'_>, ours: &Utf8Path, quiet: bool) -> Result<Self> {
        let plan = cargo.plan;
        if plan.mode != Mode::Program {
            return Ok(Instrumentation::default());
        }
        let Foundation { toolchain, target, .. } = cargo.foundation;
        let runtime = Runtime::of(&Recipe {
            toolchain,
            target,
            offline: plan.offline || plan.frozen,
            network: !plan.without_network,
            collections: cargo.collections,
            quiet,
        })?;
        let rustix = if plan.without_network { Backend::Unchanged } else { backend(cargo, ours)? };
        let atomics = runtime.atomics_obstacle(toolchain, target);
        let unseen = if plan.races { coverage::obstacle_to_accesses(toolchain) } else { None };
        let uncovered = if plan.covered { coverage::obstacle(toolchain) } else { None };
        let without = |what: &str, obstacle: &Option<String>| {
            let why = obstacle.as_ref()?;
            Some(format!("{what}: {why}"))
        };
        let notes = [
            rustix.note().map(str::to_owned),
            without(
                "threads are scheduled at calls of the C library, but not at atomic operations",
                &atomics,
            ),
            without(
                "plain loads and stores are not instrumented, because this compiler does not \
                 support it",
                &unseen,
            ),
            without(
                "the code that tests run is not known, because this compiler does not support it",
                &uncovered,
            ),
        ];
        Ok(Instrumentation {
            runtime: Some(runtime),
            rustix,
            atomics_are_calls: atomics.is_none(),
            races: plan.races && unseen.is_none(),
            covered: plan.covered && uncovered.is_none(),
            notes: notes.into_iter().flatten().collect(),
        })
    }

    /// Returns the name of the folder for such builds. Cargo does not see the instrumentation, so
    /// each kind of build has its own folder.
    pub(super) fn folder(&self, cargo: &Cargo<'_>) -> &'static str {
        let plan = cargo.plan;
        match plan.mode {
            Mode::Program if !cargo.collections => "build-std-collections",
            Mode::Program if self.covered => "build-covered",
            Mode::Program if self.races => "build-races",
            Mode::Program if plan.without_network => "build-without-network",
            Mode::Program => PROGRAM,
            Mode::Swap => "swap",
            Mode::Plain if !plan.varied.program.is_empty() => REBUILT,
            Mode::Plain => "plain",
        }
    }

    /// Returns the build folders whose dependencies a new one may take over, with the keys that
    /// they must have. `ours` is the folder of everything that this tool builds.
    pub(super) fn donors(&self, cargo: &Cargo<'_>, ours: &Utf8Path) -> Vec<(Utf8PathBuf, String)> {
        let own = self.folder(cargo);
        // Coverage and accesses are instrumented in the project's own crates only.
        let usual = match own {
            "build-covered" | "build-races" => PROGRAM,
            REBUILT => "plain",
            other => other,
        };
        let other = cargo.plan.inherited_from.as_ref().map(|target| target.join("nondex"));
        let homes = other.iter().map(Utf8PathBuf::as_path).chain([ours]);
        let named = |home: &Utf8Path| {
            [(home.join(own), self.key(cargo)), (home.join(usual), self.key_of_others(cargo))]
        };
        homes.flat_map(named).collect()
    }

    /// Returns the key that identifies builds with this instrumentation, which cargo does not see.
    pub(super) fn key(&self, cargo: &Cargo<'_>) -> String {
        let accesses = if self.races { " accesses are calls" } else { "" };
        self.key_of_others(cargo) + accesses
    }

    /// Returns the part of the key that concerns crates which are not the project's own.
    fn key_of_others(&self, cargo: &Cargo<'_>) -> String {
        let runtime = self.runtime.as_ref();
        [
            runtime.map_or("", |runtime| &runtime.content),
            self.rustix.key(),
            if self.atomics_are_calls { " atomics are calls" } else { "" },
            cargo.entropy.as_ref().map_or("", |_| " seeded"),
        ]
        .concat()
    }

    /// Returns the data for intercepted calls of a build in `build_dir`, and the notes.
    ///
    /// # Errors
    /// Returns an error if the linker script cannot be written.
    pub(super) fn intercept(
        self,
        cargo: &Cargo<'_>,
        build_dir: &Utf8Path,
        starts: Utf8PathBuf,
    ) -> Result<(Intercept, Vec<String>)> {
        let covered = self.covered.then(|| Covered::prepare(build_dir));
        let intercept = Intercept {
            runtime: self.runtime,
            atomics_are_calls: self.atomics_are_calls,
            covered: covered.transpose()?,
            races: self.races,
            rustix_uses_libc: self.rustix == Backend::Libc,
            starts,
            ..cargo.intercept()
        };
        Ok((intercept, self.notes))
    }
}

/// Returns how rustix, if the project depends on it, makes its system calls.
fn backend(cargo: &Cargo<'_>, ours: &Utf8Path) -> Result<Backend> {
    rustix::backend(&cargo.foundation.metadata.workspace_root.join("Cargo.lock"), || {
        let intercept = Intercept { rustix_uses_libc: true, ..cargo.intercept() };
        cargo.fetch(&ours.join("fetch"), &intercept).is_ok()
    })
}
