//! What libraries that many tests use need to know when each test runs many times.
//!
//! They would write into the source tree: a file of failing cases, a snapshot to review. Those of
//! runs with other choices are none that the user asked for.

use std::collections::BTreeMap;
use std::ffi::OsString;

/// Variables, with the value that keeps a library from writing into the source tree.
const SETTINGS: [(&str, &str); 2] = [
    // proptest: no file `proptest-regressions`.
    ("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true"),
    // insta: no `.snap.new`.
    ("INSTA_UPDATE", "no"),
];

/// The environment of a test with these settings, where the user has none.
pub(super) fn with_settings(
    mut environment: BTreeMap<OsString, OsString>,
) -> BTreeMap<OsString, OsString> {
    for (name, value) in SETTINGS {
        environment
            .entry(name.into())
            .or_insert_with(|| value.into());
    }
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_has_set_is_kept() {
        let own = BTreeMap::from([("INSTA_UPDATE".into(), "always".into())]);
        let found = with_settings(own);
        assert_eq!(found[&OsString::from("INSTA_UPDATE")], "always");
        assert_eq!(found.len(), SETTINGS.len());
    }
}
