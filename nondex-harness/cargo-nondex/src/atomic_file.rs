//! Files that are written atomically: a reader, or a concurrent writer of the same file, never sees
//! half of one.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use camino::Utf8Path;
use serde::Serialize;

use crate::error::{OrSetup, Result};

/// Writes a file, and creates the folders that contain it.
///
/// # Errors
/// Returns a set-up error with the path.
pub fn text(path: &Utf8Path, text: &[u8]) -> Result<()> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    // No other writer uses this name, in this process or in another one.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let part = format!("{path}.{}-{number}.part", std::process::id());
    path.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(&part, text))
        .and_then(|()| fs::rename(&part, path))
        .or_setup(format_args!("failed to write `{path}`"))
}

/// Writes a value as JSON that people can read.
///
/// # Errors
/// As [`text`].
pub fn json(path: &Utf8Path, value: &impl Serialize) -> Result<()> {
    let mut json = serde_json::to_vec_pretty(value).expect("every map has strings as keys");
    json.push(b'\n');
    text(path, &json)
}
