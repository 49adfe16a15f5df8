//! Descriptions of culprits.

use std::fmt::Write;

use nondex_core::{Family, Kind};

use super::timing;
use crate::report::schema::{CallReport, Culprit, NumberReport, Position, TestReport};
use crate::report::thread::{describe, nth};

/// Returns whether the culprit is a directory order requested by C code, or inside a library. Calls
/// of std have a place instead of a stack.
pub(super) fn is_elsewhere(culprit: &Culprit) -> bool {
    culprit.family == Family::Directory && culprit.site.is_some()
}

/// Returns the name of the called function.
pub fn called(culprit: &Culprit) -> &str {
    if is_elsewhere(culprit) { "readdir" } else { &culprit.api }
}

/// Describes what is unspecified about a call, and which part of it decides.
pub(super) fn what(culprit: &Culprit) -> String {
    let len = culprit.len;
    if let Some(text) = timing::what(culprit) {
        return text;
    }
    let mut text = number(culprit).unwrap_or_else(|| {
        match (culprit.kind, culprit.elements, culprit.position) {
            (Kind::Permute, Some(mut pair), _) => {
                pair.sort_unstable();
                let [first, second] = pair.map(|index| named(culprit, index));
                let [i, j] = pair;
                let pair = match first.zip(second) {
                    Some((first, second)) => format!("{first} and {second}"),
                    None => format!("elements {i} and {j} of {len}"),
                };
                format!("the order of {pair} decides")
            }
            (Kind::Permute, None, Some(position)) => {
                let place = match position {
                    Position::First => "first".to_owned(),
                    Position::Last => "last".to_owned(),
                    Position::Nth(index) => format!("at index {index}"),
                };
                format!("which of {len} elements comes {place} decides")
            }
            // The number of elements is unknown until a search has reached the call.
            (Kind::Permute, None, None) if len == 0 => "the order is unspecified".to_owned(),
            (Kind::Permute, None, None) => format!("the order of {len} elements is unspecified"),
            (Kind::Random, ..) => "the value is unspecified".to_owned(),
            (Kind::Extend, ..) => "more than requested is allowed".to_owned(),
            (Kind::Short, ..) => "less than requested is allowed".to_owned(),
            (Kind::Spurious, ..) => "it may happen spuriously".to_owned(),
        }
    });
    if let Some(CallReport { thread, ordinal, of }) = &culprit.call {
        let thread = match thread.as_str() {
            "0" => String::new(),
            // The thread descends from one whose start was not observed.
            unknown if unknown.starts_with('?') => String::new(),
            child if child.contains('/') => format!(" in the child process {child}"),
            other => format!(" on {}", describe(other)),
        };
        if *of > 1 {
            let nth = nth(ordinal + 1);
            let _ = write!(text, ", in the {nth} of {of} calls here{thread}");
        } else if !thread.is_empty() {
            let _ = write!(text, ", in the call{thread}");
        }
    }
    text
}

/// Describes how the culprits of a test were confirmed. Returns `None` without culprits.
pub fn proof(test: &TestReport) -> Option<&'static str> {
    let proof = if test.has_confirmed_culprits() {
        "confirmed both ways: with only these calls changed the outcome always changes, \
         without them never"
    } else {
        "suspected: the search did not confirm it both ways"
    };
    (!test.culprits.is_empty()).then_some(proof)
}

/// Describes the threshold of a decisive number.
fn number(culprit: &Culprit) -> Option<String> {
    let NumberReport { base, value } = culprit.number?;
    let more = if value < base { "fewer" } else { "more" };
    Some(format!("{value} or {more} decides, where {base} does not"))
}

fn named(culprit: &Culprit, index: u64) -> Option<String> {
    let element = culprit.element_details.iter().find(|element| element.index == index)?;
    Some(format!("`{}`", element.name.as_ref()?))
}

/// Returns the package that a file of a dependency belongs to: `serde-1.0.0`, `vendor/tally`.
pub(super) fn package(file: &str) -> &str {
    let end =
        ["/src/", "/tests/", "/benches/", "/examples/"].iter().find_map(|folder| file.find(folder));
    end.map_or(file, |end| &file[..end])
}

#[cfg(test)]
mod tests {
    use nondex_core::model::ENV_VARS;
    use nondex_core::{Caller, Site};

    use super::*;

    #[test]
    fn ordinals_are_english() {
        for (number, text) in [
            (1, "1st"),
            (2, "2nd"),
            (3, "3rd"),
            (4, "4th"),
            (11, "11th"),
            (12, "12th"),
            (21, "21st"),
            (113, "113th"),
        ] {
            assert_eq!(nth(number), text);
        }
    }

    #[test]
    fn of_a_call_that_no_search_has_come_to_no_number_of_elements_is_said() {
        let mut culprit = Culprit::new(&Site::new(&ENV_VARS, Family::Environment, Caller::here()));
        assert_eq!(what(&culprit), "the order is unspecified");
        culprit.len = 3;
        assert_eq!(what(&culprit), "the order of 3 elements is unspecified");
    }

    #[test]
    fn a_dependency_is_named_by_its_folder() {
        for (file, name) in [
            ("serde-1.0.0/src/ser.rs", "serde-1.0.0"),
            ("vendor/tally/src/lib.rs", "vendor/tally"),
            ("egg-77/ab12/crates/core/src/lib.rs", "egg-77/ab12/crates/core"),
            ("build.rs", "build.rs"),
        ] {
            assert_eq!(package(file), name);
        }
    }
}
