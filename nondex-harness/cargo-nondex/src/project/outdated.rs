//! Folder of builds in which one program takes other random bytes than usual.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use crate::file::entries;

/// Name of the folder of these builds, in this tool's folder.
pub(super) const REBUILT: &str = "rebuilt";

/// Name of the file in it with the names of the packages that the last build varied.
const VARIED: &str = "nondex-varied";

/// Name of the folder in which cargo keeps the fingerprints of built packages.
pub(super) const FINGERPRINTS: &str = ".fingerprint";

/// Makes cargo rebuild these packages in a build folder, and those that the previous build there
/// varied. Every build in the folder varies something, so no build relies on the previous contents.
///
/// # Errors
/// Returns an error if the folder cannot be changed.
pub(super) fn outdate(folder: &Utf8Path, packages: &[String]) -> io::Result<()> {
    let marker = folder.join(VARIED);
    let before = fs::read_to_string(&marker).unwrap_or_default();
    let all: BTreeSet<&str> = before.lines().chain(packages.iter().map(String::as_str)).collect();
    // If this process is killed in the loop below, the next one finds the names of all packages.
    let names = |names: &mut dyn Iterator<Item = &str>| {
        names.map(|name| format!("{name}\n")).collect::<String>()
    };
    fs::write(&marker, names(&mut all.iter().copied()))?;
    for profile in profiles(folder) {
        for entry in entries(&profile.join(FINGERPRINTS)) {
            if all.contains(package_of(&entry)) {
                fs::remove_dir_all(&entry)?;
            }
        }
    }
    fs::write(&marker, names(&mut packages.iter().map(String::as_str)))
}

/// Returns the folders of profiles in a target directory, for the host and for named targets.
pub(super) fn profiles(target: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut all = entries(target);
    let second: Vec<Utf8PathBuf> = all.iter().flat_map(|one| entries(one)).collect();
    all.extend(second);
    all.retain(|one| one.join(FINGERPRINTS).is_dir());
    all
}

/// Returns the package of a folder that cargo names by the package and a hash.
pub(super) fn package_of(folder: &Utf8Path) -> &str {
    let name = folder.file_name().unwrap_or_default();
    name.rsplit_once('-').map_or(name, |(package, _)| package)
}
