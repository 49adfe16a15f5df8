//! Built dependencies that a new build folder takes over from another one.
//!
//! This tool builds a project into several folders: with and without coverage, and for another
//! commit. Most dependencies are the same in all of them, and in a plain build they are those of
//! the user's own builds. Cargo decides by its fingerprints whether it can use a built dependency,
//! so copying one is safe, whatever features, flags and versions the new build has. Fingerprints of
//! the project's own packages are no such proof: they compare only the times of files. So these
//! packages are always built again.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;

use camino::Utf8Path;
use cargo_metadata::{Metadata, Package, TargetKind};

use super::cargo::Cargo;
use super::drawn;
use super::folder::BuildFolder;
use super::foundation;
use super::instrumentation::{Instrumentation, PROGRAM};
use super::outdated::{FINGERPRINTS, package_of, profiles};
use super::plan::Mode;
use crate::error::Result;
use crate::file::entries;

/// Folder in a profile with the output of build scripts, by package.
const BUILD_SCRIPTS: &str = "build";

/// Folder in a profile with the compiled crates.
const CRATES: &str = "deps";

/// Lock file of cargo in a profile. A build that changes the profile holds an exclusive lock on it.
const LOCK: &str = ".cargo-lock";

/// File in the folder of a vendored package. Cargo does not notice when a file of such a package
/// changes.
const VENDORED: &str = ".cargo-checksum.json";

/// Opens the build folder `name` for builds of `cargo` with this instrumentation. A new one takes
/// over the dependencies of another folder, if there is one, and a plain one those of the user's
/// builds. `ours` is the folder of everything that this tool builds.
///
/// # Errors
/// Returns the errors of [`BuildFolder::filled`].
pub(super) fn open(
    cargo: &Cargo<'_>,
    instrumentation: &Instrumentation,
    ours: &Utf8Path,
    name: &str,
    quiet: bool,
) -> Result<BuildFolder> {
    let path = ours.join(name);
    // Cargo builds a dependency that is not taken over.
    let take_over = |other: &Utf8Path, is_excluded: &dyn Fn(&Package) -> bool| {
        if let Ok(metadata) = foundation::metadata(cargo.plan, true) {
            let _ = Dependencies::of(&metadata, is_excluded).copy(other, &path);
        }
    };
    BuildFolder::filled(path.clone(), &instrumentation.key(cargo), quiet, || {
        for (other, key) in instrumentation.donors(cargo, ours) {
            // The lock on the new folder excludes this process, too.
            if other == path || !other.exists() {
                continue;
            }
            let Some(other) = BuildFolder::existing(other, &key, quiet)? else { continue };
            take_over(&other.path, &|_| false);
            return Ok(());
        }
        let known = ours.join(PROGRAM);
        // A build that took over dependencies did not record which of them draw.
        let is_recorded = cargo.plan.inherited_from.is_none() && known.exists();
        if cargo.plan.mode == Mode::Plain && is_recorded {
            // In the user's builds, nothing seeds build scripts and proc macros.
            let drawn: BTreeSet<_> = drawn::packages(&known).collect();
            let draws = |package: &Package| {
                package.manifest_path.parent().is_some_and(|folder| drawn.contains(folder))
            };
            take_over(&cargo.foundation.metadata.target_directory, &draws);
        }
        Ok(())
    })
}

/// Dependencies of a workspace.
#[derive(Debug, Default)]
pub(super) struct Dependencies {
    packages: BTreeSet<String>,
    crates: BTreeSet<String>,
}

impl Dependencies {
    /// Returns the dependencies whose fingerprints prove that they are unchanged, except those that
    /// are excluded. `metadata` has the dependency graph.
    pub(super) fn of(metadata: &Metadata, is_excluded: &dyn Fn(&Package) -> bool) -> Self {
        let is_fixed = |package: &&Package| {
            let vendored = package.manifest_path.with_file_name(VENDORED);
            package.source.is_some() && !vendored.exists() && !is_excluded(package)
        };
        // Files are known only by the name of their package.
        let (fixed, others): (Vec<_>, Vec<_>) = metadata.packages.iter().partition(is_fixed);
        let others: BTreeSet<&str> = others.iter().map(|package| package.name.as_str()).collect();
        let mut found = Dependencies::default();
        for package in fixed.iter().filter(|package| !others.contains(package.name.as_str())) {
            found.packages.insert(package.name.to_string());
            let is_linked = |target: &&cargo_metadata::Target| {
                !target.kind.iter().any(|kind| {
                    matches!(kind, TargetKind::CustomBuild | TargetKind::Test | TargetKind::Bench)
                })
            };
            let targets = package.targets.iter().filter(is_linked);
            found.crates.extend(targets.map(|target| target.name.replace('-', "_")));
        }
        found
    }

    /// Copies what was built of these dependencies in the build folder `from` to the new build
    /// folder `to`. Skips profiles in which cargo is building now.
    ///
    /// # Errors
    /// Returns an error if a file cannot be copied. Cargo builds a dependency again that was not
    /// copied as a whole.
    pub(super) fn copy(&self, from: &Utf8Path, to: &Utf8Path) -> io::Result<()> {
        for profile in profiles(from) {
            let Ok(lock) = File::open(profile.join(LOCK)) else { continue };
            if lock.try_lock_shared().is_err() {
                continue;
            }
            let new = to.join(profile.strip_prefix(from).unwrap_or(&profile));
            let of_package = |path: &Utf8Path| self.packages.contains(package_of(path));
            let of_crate = |path: &Utf8Path| self.crates.contains(crate_of(path));
            copy_some(&profile, &new, CRATES, of_crate)?;
            copy_some(&profile, &new, BUILD_SCRIPTS, of_package)?;
            // Cargo trusts a fingerprint, so it must not exist before the files that it describes.
            copy_some(&profile, &new, FINGERPRINTS, of_package)?;
        }
        Ok(())
    }
}

/// Returns the crate of a file that rustc names by the crate and a hash.
fn crate_of(file: &Utf8Path) -> &str {
    let name = file.file_stem().unwrap_or_default();
    let name = name.rsplit_once('-').map_or(name, |(name, _)| name);
    let is_library = file.extension().is_some_and(|extension| extension != "d");
    name.strip_prefix("lib").filter(|_| is_library).unwrap_or(name)
}

/// Copies the selected entries of the folder `name`.
fn copy_some(
    from: &Utf8Path,
    to: &Utf8Path,
    name: &str,
    is_selected: impl Fn(&Utf8Path) -> bool,
) -> io::Result<()> {
    let (from, to) = (from.join(name), to.join(name));
    fs::create_dir_all(&to)?;
    for entry in entries(&from).iter().filter(|entry| is_selected(entry)) {
        copy_all(entry, &to.join(entry.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

/// Copies a file, link or folder, with the times of files, which cargo compares.
fn copy_all(from: &Utf8Path, to: &Utf8Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(from)?;
    if metadata.is_dir() {
        fs::create_dir_all(to)?;
        entries(from)
            .iter()
            .try_for_each(|entry| copy_all(entry, &to.join(entry.file_name().unwrap_or_default())))
    } else if metadata.is_symlink() {
        symlink(fs::read_link(from)?, to)
    } else {
        fs::copy(from, to)?;
        File::open(to)?.set_modified(metadata.modified()?)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::super::plan::BuildPlan;
    use super::*;

    #[test]
    fn an_excluded_dependency_is_built_as_the_projects_own_packages_are() {
        let directory = env!("CARGO_MANIFEST_DIR").into();
        let plan = BuildPlan { directory, offline: true, ..BuildPlan::default() };
        let metadata = foundation::metadata(&plan, true).unwrap();
        let has_seeds = |package: &Package| *package.name == "serde_json";
        let found = |excluded| {
            let dependencies = Dependencies::of(&metadata, excluded);
            ["serde", "serde_json", "nondex-core"].map(|name| dependencies.packages.contains(name))
        };
        assert_eq!(found(&|_| false), [true, true, false]);
        assert_eq!(found(&has_seeds), [true, false, false]);
    }

    #[test]
    fn dependencies_are_copied_with_their_times_and_own_packages_are_not() {
        let temporary = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temporary.path()).unwrap();
        let (from, to) = (root.join("build"), root.join("build-covered"));
        let profile = "x86_64-unknown-linux-gnu/debug";
        let (kept, left) = (
            [
                ".fingerprint/two-words-0123456789abcdef/lib-two_words",
                "build/two-words-0123456789abcdef/out/data",
                "deps/libtwo_words-0123456789abcdef.rlib",
                "deps/libtwo_words-0123456789abcdef.rmeta",
                "deps/two_words-0123456789abcdef.d",
            ],
            [
                ".cargo-lock",
                ".fingerprint/own-0123456789abcdef/lib-own",
                "build/own-0123456789abcdef/out/data",
                "deps/libown-0123456789abcdef.rlib",
                "deps/own-0123456789abcdef",
                "own",
            ],
        );
        let then = SystemTime::now() - Duration::from_secs(1_000);
        for file in kept.iter().chain(&left) {
            let path = from.join(profile).join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, *file).unwrap();
            File::open(&path).unwrap().set_modified(then).unwrap();
        }
        let set = |name: &str| BTreeSet::from([name.to_owned()]);
        let dependencies = Dependencies { packages: set("two-words"), crates: set("two_words") };

        let lock = File::create(from.join(profile).join(LOCK)).unwrap();
        lock.lock().unwrap();
        dependencies.copy(&from, &to).unwrap();
        assert!(!to.exists(), "cargo is building there");
        drop(lock);
        dependencies.copy(&from, &to).unwrap();
        for file in kept {
            let path = to.join(profile).join(file);
            assert_eq!(fs::read_to_string(&path).unwrap(), file);
            assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), then, "{file}");
        }
        for file in left {
            assert!(!to.join(profile).join(file).exists(), "{file}");
        }
    }
}
