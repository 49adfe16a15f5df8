//! Parses JSON with the version of its schema.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Parses a text. Checks the version first, so that the text of a newer version is not reported as
/// malformed.
///
/// # Errors
/// Returns what was found and what was expected: `what`, such as "a report", of this version.
pub fn parse<T: DeserializeOwned>(text: &str, what: &str, schema: u32) -> Result<T, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| format!("it is not JSON: {e}"))?;
    match value.get("schema") {
        None => Err(format!("it has no `schema`, expected {schema}")),
        Some(found) if *found != schema => {
            let is_newer = found.as_u64().is_some_and(|found| found > schema.into());
            let newer = if is_newer { ", which a newer `cargo nondex` writes" } else { "" };
            Err(format!("its schema is {found}{newer}, expected {schema}"))
        }
        Some(_) => serde_json::from_str(text)
            .map_err(|e| format!("it is not {what} of schema {schema}: {e}")),
    }
}
