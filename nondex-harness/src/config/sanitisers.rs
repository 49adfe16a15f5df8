//! `[[sanitise]]`: wants of a machine that explain failures.

use std::ops::Range;

use globset::Glob;
use nondex_core::operation::{ERRORS, OPERATIONS};
use toml::de::DeTable;

use super::document::{Document, Value};
use super::nearest::instead;
use crate::error::Result;
use crate::sanitise::{NetworkSanitiser, OperationSanitiser};

/// The keys of an entry.
pub const KEYS: [&str; 5] = ["error", "name", "operation", "reason", "target"];

/// Reads the entries.
pub(super) fn read<'a>(
    document: &Document<'a>,
    value: &Value<'a>,
) -> Result<Vec<OperationSanitiser>> {
    let mut all: Vec<OperationSanitiser> = Vec::new();
    for (table, span) in document.tables("sanitise", value)? {
        let one = entry(document, table, span.clone())?;
        if one.name == NetworkSanitiser::NAME {
            return Err(document.error(span, "`network` is the name of the built-in sanitiser"));
        }
        if all.iter().any(|other| other.name == one.name) {
            let why = format!("there are two sanitisers `{}`", one.name);
            return Err(document.error(span, why));
        }
        all.push(one);
    }
    Ok(all)
}

fn entry<'a>(
    document: &Document<'a>,
    table: &DeTable<'a>,
    span: Range<usize>,
) -> Result<OperationSanitiser> {
    let mut read = OperationSanitiser {
        name: String::new(),
        reason: String::new(),
        operations: Vec::new(),
        errors: Vec::new(),
        target: None,
    };
    for (name, value) in table {
        match name.get_ref().as_ref() {
            "name" => read.name = document.string("name", value)?,
            "reason" => read.reason = document.string("reason", value)?,
            "operation" => read.operations = names(document, "operation", value, &OPERATIONS)?,
            "error" => read.errors = names(document, "error", value, &ERRORS)?,
            "target" => {
                let glob = Glob::new(&document.string("target", value)?);
                let glob = glob.map_err(|e| document.error(value.span(), e))?;
                read.target = Some(glob.compile_matcher());
            }
            other => {
                let why = format!(
                    "unknown key `{other}` of a sanitiser: {}",
                    instead(other, KEYS)
                );
                return Err(document.error(name.span(), why));
            }
        }
    }
    for (key, is_missing) in [
        ("name", read.name.is_empty()),
        ("reason", read.reason.is_empty()),
        ("operation", read.operations.is_empty()),
        ("error", read.errors.is_empty()),
    ] {
        if is_missing {
            return Err(document.error(span, format!("a sanitiser needs `{key}`")));
        }
    }
    Ok(read)
}

/// One or several of the names that are known.
fn names<'a>(
    document: &Document<'a>,
    key: &str,
    value: &Value<'a>,
    known: &[&'static str],
) -> Result<Vec<String>> {
    let names = document.scalars(key, value)?;
    for (name, span) in &names {
        if !known.contains(&name.as_str()) {
            let instead = instead(name, known.iter().copied());
            let why = format!("`{key}` is `{name}`, which is not known: {instead}");
            return Err(document.error(span.clone(), why));
        }
    }
    Ok(names.into_iter().map(|(name, _)| name).collect())
}
