//! What libraries that many tests use need to know when each test runs many times.
//!
//! They would write into the source tree: a file of failing cases, a snapshot to review. Those of
//! runs with other choices are none that the user wants.

use std::collections::BTreeMap;
use std::ffi::OsString;

use camino::Utf8Path;

/// A library, a variable, and the value that keeps the library from writing into the source tree.
type Setting = [&'static str; 3];

const SETTINGS: [Setting; 2] = [
    // No file `proptest-regressions`.
    ["proptest", "PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true"],
    // No `.snap.new`.
    ["insta", "INSTA_UPDATE", "no"],
];

/// The settings for those libraries that the workspace at `root` has: others leave the environment
/// as it is.
pub(super) fn settings(root: &Utf8Path) -> Vec<Setting> {
    let lock = std::fs::read_to_string(root.join("Cargo.lock")).unwrap_or_default();
    settings_of(&lock)
}

fn settings_of(lock: &str) -> Vec<Setting> {
    SETTINGS.into_iter().filter(|[library, ..]| has(lock, library)).collect()
}

/// Whether a lock file names a library.
pub(super) fn has(lock: &str, library: &str) -> bool {
    let line = format!("name = \"{library}\"");
    lock.lines().any(|known| known == line)
}

/// Gives a test of an archive the root of its workspace, where the user names none: insta would ask
/// cargo for it.
pub(super) fn give_root(root: &Utf8Path, environment: &mut BTreeMap<OsString, OsString>) {
    environment.entry("INSTA_WORKSPACE_ROOT".into()).or_insert_with(|| root.as_str().into());
}

/// Gives a test these settings, where the user has none.
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
            let entries = environment.iter();
            let entries =
                entries.map(|(name, value)| format!("{}={}", name.display(), value.display()));
            entries.collect::<Vec<_>>()
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
