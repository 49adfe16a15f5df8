//! Files that are written whole: a reader, or somebody who writes the same file at the same time,
//! never sees half of one.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use camino::Utf8Path;
use serde::Serialize;

use crate::error::{Error, Result};

/// Writes a file, and the folders it is in.
///
/// # Errors
/// A set-up error with its path.
pub fn text(path: &Utf8Path, text: &[u8]) -> Result<()> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    // No other writer has it, in this process or in another one.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let part = format!("{path}.{}-{number}.part", std::process::id());
    path.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(&part, text))
        .and_then(|()| fs::rename(&part, path))
        .map_err(|e| Error::setup(format!("failed to write `{path}`: {e}")))
}

/// Writes a value as JSON for people.
///
/// # Errors
/// As [`text`].
pub fn json(path: &Utf8Path, value: &impl Serialize) -> Result<()> {
    let mut json = serde_json::to_vec_pretty(value).expect("every map has strings as keys");
    json.push(b'\n');
    text(path, &json)
}
