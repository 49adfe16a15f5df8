//! Files and folders that users know, with errors that name them.

use std::fs;
use std::io::ErrorKind;

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::{Error, Result};

/// Reads a text; `None` when there is no such file.
///
/// # Errors
/// A set-up error with its path.
pub fn read_if_there(path: &Utf8Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::setup(format!("failed to read `{path}`: {e}"))),
    }
}

/// Writes a file in place, because it may be a pipe, and makes the folders above it.
///
/// # Errors
/// A set-up error with its path.
pub fn write(path: &Utf8Path, text: &str) -> Result<()> {
    path.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(path, text))
        .map_err(|e| Error::setup(format!("failed to write `{path}`: {e}")))
}

/// Makes a folder, and those above it.
///
/// # Errors
/// A set-up error with its path.
pub fn create_folder(path: &Utf8Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|e| Error::setup(format!("failed to create `{path}`: {e}")))
}

/// The paths in a folder, sorted; none when there is no such folder.
///
/// # Errors
/// A set-up error with its path.
pub fn list(folder: &Utf8Path) -> Result<Vec<Utf8PathBuf>> {
    let entries = match folder.read_dir_utf8() {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.and_then(|entries| {
            let paths = entries.map(|entry| entry.map(camino::Utf8DirEntry::into_path));
            paths.collect::<Result<Vec<_>, _>>()
        }),
    };
    let mut paths = entries.map_err(|e| Error::setup(format!("failed to list `{folder}`: {e}")))?;
    paths.sort();
    Ok(paths)
}

/// A path from the root, whether or not there is something.
///
/// # Errors
/// When the current folder is not UTF-8 or not there.
pub fn absolute(path: &Utf8Path) -> Result<Utf8PathBuf> {
    camino::absolute_utf8(path).map_err(|e| Error::setup(format!("failed to find `{path}`: {e}")))
}
