//! What cargo builds and how it starts it: its test executables, and rustdoc for doctests. Cargo
//! starts this program in place of either, which only writes down how.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::cargo::{Artifacts, Cargo};
use super::intercept::{Intercept, RUSTDOC, Start};
use super::platform;
use crate::error::{Error, Result};
use crate::file;

/// See the [module](self).
pub(super) struct Started {
    /// What cargo built.
    pub(super) artifacts: Artifacts,
    /// How it starts each test executable.
    pub(super) executables: BTreeMap<Utf8PathBuf, Start>,
    /// How it starts rustdoc for the doctests of each package.
    pub(super) doctests: Vec<Start>,
}

impl Started {
    /// Builds in `build_dir`. What is started is written down in the folder of `intercept` for it,
    /// which is gone afterwards.
    ///
    /// # Errors
    /// When the project does not build, or would be linked with libc inside, or when cargo starts
    /// none of what it built.
    pub(super) fn of(
        cargo: &Cargo<'_>,
        build_dir: &Utf8Path,
        intercept: &Intercept,
        quiet: bool,
    ) -> Result<Self> {
        let folder = &intercept.starts;
        file::create_folder(folder)?;
        let started = build(cargo, build_dir, intercept, quiet);
        // Where that was not known before.
        let linkage = match started {
            Ok(_) => Ok(()),
            Err(_) => platform::check_linkage(folder),
        };
        let _ = std::fs::remove_dir_all(folder);
        linkage?;
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

/// The starts that were written down, by executable, and the calls of rustdoc.
fn read(folder: &Utf8Path) -> Result<(BTreeMap<Utf8PathBuf, Start>, Vec<Start>)> {
    let failed = |e: String| Error::setup(format!("failed to read `{folder}`: {e}"));
    let mut starts = BTreeMap::new();
    let mut doctests = Vec::new();
    for entry in folder.read_dir_utf8().map_err(|e| failed(e.to_string()))? {
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

/// Asks cargo which flags it gives rustc for the target, and refuses those that link libc into the
/// tests. Nothing is built. `ours` is the folder of everything that this tool builds.
pub(super) fn check_linkage(cargo: &Cargo<'_>, ours: &Utf8Path) -> Result<()> {
    // A folder in which cargo knows nothing of rustc yet, or it would not ask.
    let folder = ours.join(format!("linkage-{}", std::process::id()));
    file::create_folder(&folder)?;
    let intercept = Intercept { starts: folder.clone(), ..cargo.intercept() };
    // The build reports whatever is wrong here.
    let _ = cargo.fetch(&folder, &intercept);
    let checked = platform::check_linkage(&folder);
    let _ = std::fs::remove_dir_all(&folder);
    checked
}
