//! The source files whose calls are choices.

use crate::catalogue::Family;
use crate::json;

/// The source files whose calls are choices. A call in another file behaves as in a clean run, and
/// is not recorded.
///
/// A pattern is the path of a file or folder, as in [`Site::file`](crate::Site::file), or the name
/// of a dependency with or without its version. Examples: `src/cache.rs`, `crates/store`,
/// `serde_json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Files {
    /// If not empty, only calls in these files are choices.
    pub only: Vec<String>,
    /// Calls in these files are not choices.
    pub skip: Vec<String>,
}

json::object!(Files {
    only = optional,
    skip = optional,
});

impl Files {
    /// Returns whether calls in every file are choices.
    pub fn are_all(&self) -> bool {
        self.only.is_empty() && self.skip.is_empty()
    }

    /// Returns whether a call in `file`, a [portable path](crate::protocol::site::portable_path),
    /// is a choice of this family. Threads, time and faults have no source file. Random bytes that
    /// were not chosen would be real randomness. Does not allocate.
    pub fn have(&self, family: Family, file: &str) -> bool {
        use Family::{Entropy, Fault, Schedule, Time};
        if matches!(family, Entropy | Fault | Schedule | Time) {
            return true;
        }
        let is_in = |patterns: &[String]| patterns.iter().any(|pattern| is_in(file, pattern));
        (self.only.is_empty() || is_in(&self.only)) && !is_in(&self.skip)
    }
}

/// Returns whether the pattern is the path of the file, or of a folder above it.
fn is_in(file: &str, pattern: &str) -> bool {
    let pattern = pattern.trim_end_matches('/');
    let Some(rest) = file.strip_prefix(pattern) else { return false };
    let mut rest = rest.chars();
    match rest.next() {
        None | Some('/') => true,
        // The pattern is the name of a dependency, and its version follows.
        Some('-') => rest.next().is_some_and(|first| first.is_ascii_digit()),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_file_a_folder_or_a_dependency() {
        for (pattern, file, expected) in [
            ("src/cache.rs", "src/cache.rs", true),
            ("src", "src/cache.rs", true),
            ("src/", "src/cache.rs", true),
            ("src/cache", "src/cache.rs", false),
            ("serde", "serde-1.0.0/src/de.rs", true),
            ("serde-1.0.0", "serde-1.0.0/src/de.rs", true),
            ("serde", "serde-json-1.0.0/src/de.rs", false),
            ("serde", "serde_json-1.0.0/src/de.rs", false),
        ] {
            assert_eq!(is_in(file, pattern), expected, "{pattern} {file}");
        }
    }

    #[test]
    fn what_is_skipped_is_not_a_choice_also_if_it_is_in_what_is_not() {
        let files = Files { only: vec!["src".to_owned()], skip: vec!["src/a.rs".to_owned()] };
        let have = |file| files.have(Family::HashMap, file);
        assert_eq!(["src/a.rs", "src/b.rs", "tests/a.rs"].map(have), [false, true, false]);
        assert!(files.have(Family::Schedule, "tests/a.rs"));
        assert!(Files::default().have(Family::HashMap, "src/a.rs"));
    }
}
