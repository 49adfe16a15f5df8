//! The folder of builds in which one program takes other random bytes than usual.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use super::drawn::entries;

/// The folder of these builds, in ours.
pub(super) const REBUILT: &str = "rebuilt";

/// The file in it that names the packages that were varied.
const VARIED: &str = "nondex-varied";

/// The folder in which cargo keeps what a package was built from.
const FINGERPRINTS: &str = ".fingerprint";

/// Makes cargo build these packages again in a build folder, and those that were varied there
/// before. Every build in the folder varies something, so that nobody relies on what is in it.
pub(super) fn outdate(folder: &Utf8Path, packages: &[String]) -> io::Result<()> {
    let marker = folder.join(VARIED);
    let before = fs::read_to_string(&marker).unwrap_or_default();
    let all: BTreeSet<&str> = before.lines().chain(packages.iter().map(String::as_str)).collect();
    // Whoever is killed meanwhile leaves the names of all of them.
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

/// The folders of profiles in a target directory, for the host and for named targets.
fn profiles(target: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut all = entries(target);
    let second: Vec<Utf8PathBuf> = all.iter().flat_map(|one| entries(one)).collect();
    all.extend(second);
    all.retain(|one| one.join(FINGERPRINTS).is_dir());
    all
}

/// The package of a folder that cargo names by the package and a hash.
fn package_of(folder: &Utf8Path) -> &str {
    let name = folder.file_name().unwrap_or_default();
    name.rsplit_once('-').map_or(name, |(package, _)| package)
}
