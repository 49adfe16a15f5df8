//! Parses `[[sanitise]]`: prerequisites of tests whose absence on this machine explains failures.

use std::ops::Range;

use globset::{Glob, GlobMatcher};
use nondex_core::protocol::operation::{ERRORS, OPERATIONS};
use serde::Deserialize;
use toml::Spanned;

use super::value::{All, Read, required};
use crate::judge::Operations;
use crate::judge::prerequisite::NetworkPrerequisite;
use crate::nearest::instead;

/// The keys of an entry.
pub const KEYS: [&str; 5] = ["error", "name", "operation", "reason", "target"];

/// One `[[sanitise]]` entry of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct SanitiserEntry {
    #[serde(deserialize_with = "required")]
    error: All<ErrorName>,
    name: String,
    #[serde(deserialize_with = "required")]
    operation: All<OperationName>,
    reason: String,
    #[serde(default, deserialize_with = "super::value::one")]
    target: Option<GlobMatcher>,
}

struct ErrorName(String);

struct OperationName(String);

impl Read for ErrorName {
    fn read(text: &str) -> Result<Self, String> {
        known(text, &ERRORS).map(ErrorName)
    }
}

impl Read for OperationName {
    fn read(text: &str) -> Result<Self, String> {
        known(text, &OPERATIONS).map(OperationName)
    }
}

impl Read for GlobMatcher {
    fn read(text: &str) -> Result<Self, String> {
        Ok(Glob::new(text).map_err(|error| error.to_string())?.compile_matcher())
    }
}

fn known(text: &str, known: &[&'static str]) -> Result<String, String> {
    if known.contains(&text) {
        return Ok(text.to_owned());
    }
    let instead = instead(text, known.iter().copied());
    Err(format!("`{text}` is not known: {instead}"))
}

/// Converts the entries into sanitisers.
///
/// # Errors
/// Returns the position of the first invalid entry, and why it is invalid.
pub(super) fn sanitisers(
    entries: Vec<Spanned<SanitiserEntry>>,
) -> Result<Vec<Operations>, (Range<usize>, String)> {
    let mut all: Vec<Operations> = Vec::new();
    for entry in entries {
        let span = entry.span();
        let SanitiserEntry { error, name, operation, reason, .. } = entry.get_ref();
        let missing = [
            ("name", name.is_empty()),
            ("reason", reason.is_empty()),
            ("operation", operation.0.is_empty()),
            ("error", error.0.is_empty()),
        ]
        .into_iter()
        .find(|(_, is_missing)| *is_missing);
        let why = if let Some((key, _)) = missing {
            format!("a sanitiser needs `{key}`")
        } else if name == NetworkPrerequisite::NAME {
            "`network` is the name of the built-in sanitiser".to_owned()
        } else if all.iter().any(|other| other.name == *name) {
            format!("there are two sanitisers `{name}`")
        } else {
            let entry = entry.into_inner();
            all.push(Operations {
                name: entry.name,
                reason: entry.reason,
                operations: entry.operation.0.into_iter().map(|name| name.0).collect(),
                errors: entry.error.0.into_iter().map(|name| name.0).collect(),
                target: entry.target,
            });
            continue;
        };
        return Err((span, why));
    }
    Ok(all)
}
