//! Settings of common test libraries for tests that run many times.
//!
//! These libraries would write into the source tree: a file of failing cases, or a snapshot to
//! review. Users do not want such files from runs with other choices.

use std::collections::BTreeMap;
use std::ffi::OsString;

use camino::Utf8Path;

/// Library, environment variable, and the value that keeps the library from writing into the source
/// tree.
type Setting = [&'static str; 3];

/// All known settings.
const SETTINGS: [Setting; 2] = [
    // Prevents the file `proptest-regressions`.
    ["proptest", "PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true"],
    // Prevents files `.snap.new`.
    ["insta", "INSTA_UPDATE", "no"],
];

/// Returns the settings for the libraries in the lock file of the workspace at `root`. Without such
/// libraries, the environment stays unchanged.
pub(super) fn settings(root: &Utf8Path) -> Vec<Setting> {
    let lock = std::fs::read_to_string(root.join("Cargo.lock")).unwrap_or_default();
    settings_of(&lock)
}

fn settings_of(lock: &str) -> Vec<Setting> {
    SETTINGS.into_iter().filter(|[library, ..]| has(lock, library)).collect()
}

/// Returns whether a lock file names a library.
pub(super) fn has(lock: &str, library: &str) -> bool {
    let line = format!("name = \"{library}\"");
    lock.lines().any(|known| known == line)
}

/// Sets the workspace root for a test of an archive, unless the user has set it. Otherwise insta
/// would call cargo to find it.
pub(super) fn give_root(root: &Utf8Path, environment: &mut BTreeMap<OsString, OsString>) {
    environment.entry("INSTA_WORKSPACE_ROOT".into()).or_insert_with(|| root.as_str().into());
}

/// Adds these settings to the environment of a test, except those that the user has set.
pub(super) fn give(settings: &[Setting], environment: &mut BTreeMap<OsString, OsString>) {
    for [_, name, value] in settings {
        environment.entry(name.into()).or_insert_with(|| value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_workspace_has_is_set_and_what_the_user_has_set_is_kept() {
        assert_eq!(settings_of("name = \"insta-cmd\"\n"), [[""; 3]; 0]);
        let settings = settings_of("[[package]]\nname = \"insta\"\nversion = \"1.0.0\"\n");
        let mut environment = BTreeMap::new();
        give(&settings, &mut environment);
        let set = |environment: &BTreeMap<OsString, OsString>| {
            environment
                .iter()
                .map(|(name, value)| format!("{}={}", name.display(), value.display()))
                .collect::<Vec<_>>()
        };
        assert_eq!(set(&environment), ["INSTA_UPDATE=no"]);
        let mut own = BTreeMap::from([("INSTA_UPDATE".into(), "always".into())]);
        give(&settings, &mut own);
        assert_eq!(set(&own), ["INSTA_UPDATE=always"]);
        give_root(Utf8Path::new("/w"), &mut own);
        give_root(Utf8Path::new("/other"), &mut own);
        assert_eq!(set(&own), ["INSTA_UPDATE=always", "INSTA_WORKSPACE_ROOT=/w"]);
    }
}
