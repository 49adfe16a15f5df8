//! Builds the tests and finds out how cargo starts the executables, and rustdoc for doctests. Cargo
//! starts this program instead, which only records the command.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::cargo::{Artifacts, Cargo};
use super::intercept::{Intercept, RUSTDOC, Start};
use super::platform;
use super::scratch::Scratch;
use crate::error::{Error, OrSetup, Result};

/// Files that cargo built, and how it starts them: see the [module](self).
pub(super) struct Started {
    /// Files that cargo built.
    pub(super) artifacts: Artifacts,
    /// Command that starts each test executable.
    pub(super) executables: BTreeMap<Utf8PathBuf, Start>,
    /// Commands that start rustdoc for the doctests of each package.
    pub(super) doctests: Vec<Start>,
}

impl Started {
    /// Builds in `build_dir`. Starts are recorded in the folder that `intercept` names, which is
    /// removed at the end.
    ///
    /// # Errors
    /// Returns an error if the project does not build, if it would be linked statically with libc,
    /// or if cargo starts no executable.
    pub(super) fn of(
        cargo: &Cargo<'_>,
        build_dir: &Utf8Path,
        intercept: &Intercept,
        quiet: bool,
    ) -> Result<Self> {
        let folder = Scratch::at(intercept.starts.clone())?;
        let started = build(cargo, build_dir, intercept, quiet);
        // If the wrapper refused to link libc statically, that is a more precise reason than
        // cargo's failure.
        if started.is_err() {
            platform::check_linkage(folder.path())?;
        }
        started
    }
}

fn build(
    cargo: &Cargo<'_>,
    build_dir: &Utf8Path,
    intercept: &Intercept,
    quiet: bool,
) -> Result<Started> {
    let artifacts = cargo.build(build_dir, intercept, quiet)?;
    cargo.start(build_dir, intercept)?;
    let (executables, doctests) = read(&intercept.starts)?;
    let built = artifacts.executables.len();
    if executables.is_empty() && built > 0 {
        return Err(Error::setup(format!(
            "cargo built {built} test executables but then started none of them; did the sources \
             change meanwhile?"
        )));
    }
    Ok(Started { artifacts, executables, doctests })
}

/// Reads the recorded starts, by executable, and the calls of rustdoc.
fn read(folder: &Utf8Path) -> Result<(BTreeMap<Utf8PathBuf, Start>, Vec<Start>)> {
    let failed = format!("failed to read `{folder}`");
    let mut starts = BTreeMap::new();
    let mut doctests = Vec::new();
    for entry in folder.read_dir_utf8().or_setup(&failed)? {
        let entry = entry.or_setup(&failed)?;
        let text = std::fs::read_to_string(entry.path()).or_setup(&failed)?;
        let start: Start = serde_json::from_str(&text).or_setup(&failed)?;
        if entry.file_name().starts_with(RUSTDOC) {
            doctests.push(start);
        } else {
            starts.insert(start.program.clone(), start);
        }
    }
    // The order of directory entries is unspecified.
    doctests.sort_by(|a, b| a.arguments.cmp(&b.arguments));
    Ok((starts, doctests))
}

/// Finds out which flags cargo gives rustc for the target, and refuses those that link libc
/// statically. Builds nothing. `ours` is the folder of everything that this tool builds.
///
/// # Errors
/// Returns an error if the tests would be linked statically with libc.
pub(super) fn check_linkage(cargo: &Cargo<'_>, ours: &Utf8Path) -> Result<()> {
    // In a new folder, cargo has no cached answer of rustc, so it calls the wrapper.
    let folder = Scratch::at(ours.join(format!("linkage-{}", std::process::id())))?;
    let intercept = Intercept { starts: folder.path().to_owned(), ..cargo.intercept() };
    // The build that follows reports other errors.
    let _ = cargo.fetch(folder.path(), &intercept);
    platform::check_linkage(folder.path())
}
