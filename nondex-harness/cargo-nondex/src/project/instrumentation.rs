//! What a build puts into the programs that it makes: the runtime, and the passes of the compiler
//! that show it their atomics, their other accesses, and which of their code runs.

use camino::{Utf8Path, Utf8PathBuf};

use super::accesses;
use super::atomics::Atomics;
use super::cargo::Cargo;
use super::coverage::{self, Covered};
use super::intercept::Intercept;
use super::outdated::REBUILT;
use super::plan::Mode;
use super::runtime::{Recipe, Runtime};
use super::rustix::{self, Backend};
use crate::error::Result;

/// See the [module](self).
pub(super) struct Instrumentation {
    /// What is put in place of std and test; `None` unless a whole program is built.
    runtime: Option<Runtime>,
    /// How rustix does its operations.
    rustix: Backend,
    /// What the atomics are.
    atomics: Atomics,
    /// Whether plain loads and stores of the project's own crates are operations.
    races: bool,
    /// Whether the project's own crates record what they run.
    covered: bool,
    /// What is not covered, and why: a sentence each.
    notes: Vec<String>,
}

impl Instrumentation {
    /// What is put into the programs of this selection, as far as its toolchain allows. Builds the
    /// runtime if there is none. `ours` is the folder of everything that this tool builds.
    ///
    /// # Errors
    /// As [`Runtime::of`] and [`rustix::backend`].
    pub(super) fn of(cargo: &Cargo<'_>, ours: &Utf8Path, quiet: bool) -> Result<Self> {
        let plan = cargo.plan;
        if plan.mode != Mode::Program {
            return Ok(Instrumentation {
                runtime: None,
                rustix: Backend::Unchanged,
                atomics: Atomics::Unchanged,
                races: false,
                covered: false,
                notes: Vec::new(),
            });
        }
        let runtime = Runtime::of(&Recipe {
            toolchain: cargo.toolchain,
            target: cargo.target,
            offline: plan.offline || plan.frozen,
            network: !plan.without_network,
            collections: cargo.collections,
            quiet,
        })?;
        let rustix = if plan.without_network { Backend::Unchanged } else { backend(cargo, ours)? };
        let atomics = Atomics::of(runtime.atomics_obstacle(cargo.toolchain, cargo.target));
        let unseen = if plan.races { accesses::obstacle(cargo.toolchain) } else { None };
        let uncovered = if plan.covered { coverage::obstacle(cargo.toolchain) } else { None };
        let mut notes: Vec<String> = rustix.note().map(str::to_owned).into_iter().collect();
        notes.extend(atomics.note());
        notes.extend(unseen.as_ref().map(|why| {
            format!(
                "plain loads and stores are not seen, because this compiler cannot make them \
                 calls: {why}"
            )
        }));
        notes.extend(uncovered.as_ref().map(|why| {
            format!(
                "what tests run is not known, because this compiler cannot make them tell it: {why}"
            )
        }));
        Ok(Instrumentation {
            runtime: Some(runtime),
            rustix,
            atomics,
            races: plan.races && unseen.is_none(),
            covered: plan.covered && uncovered.is_none(),
            notes,
        })
    }

    /// The name of the folder for such builds. Cargo does not see what is put into them, so each
    /// kind has its own.
    pub(super) fn folder(&self, cargo: &Cargo<'_>) -> &'static str {
        let plan = cargo.plan;
        match plan.mode {
            Mode::Program if !cargo.collections => "build-std-collections",
            Mode::Program if self.covered => "build-covered",
            Mode::Program if self.races => "build-races",
            Mode::Program if plan.without_network => "build-without-network",
            Mode::Program => "build",
            Mode::Swap => "swap",
            Mode::Plain if !plan.varied.program.is_empty() => REBUILT,
            Mode::Plain => "plain",
        }
    }

    /// What identifies builds with it, which cargo does not see.
    pub(super) fn key(&self, cargo: &Cargo<'_>) -> String {
        let runtime = self.runtime.as_ref();
        [
            runtime.map_or("", |runtime| &runtime.content),
            self.rustix.key(),
            self.atomics.key(),
            cargo.entropy.as_ref().map_or("", |_| " seeded"),
            if self.races { " accesses are calls" } else { "" },
        ]
        .concat()
    }

    /// What the calls of cargo that come back to us need to know, for a build in `build_dir`; and
    /// the notes.
    ///
    /// # Errors
    /// When what the linker is given cannot be written.
    pub(super) fn intercept(
        self,
        cargo: &Cargo<'_>,
        build_dir: &Utf8Path,
        starts: Utf8PathBuf,
    ) -> Result<(Intercept, Vec<String>)> {
        let covered = self.covered.then(|| Covered::prepare(build_dir));
        let intercept = Intercept {
            runtime: self.runtime,
            atomics_are_calls: self.atomics == Atomics::Calls,
            covered: covered.transpose()?,
            races: self.races,
            rustix_uses_libc: self.rustix == Backend::Libc,
            starts,
            ..cargo.intercept()
        };
        Ok((intercept, self.notes))
    }
}

/// How rustix, where the project has it, does its operations.
fn backend(cargo: &Cargo<'_>, ours: &Utf8Path) -> Result<Backend> {
    rustix::backend(&cargo.metadata.workspace_root.join("Cargo.lock"), || {
        let intercept = Intercept { rustix_uses_libc: true, ..cargo.intercept() };
        cargo.fetch(&ours.join("fetch"), &intercept).is_ok()
    })
}
