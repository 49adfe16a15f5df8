//! Files and folders of the user, with errors that name them.

use std::fs;
use std::io::ErrorKind;

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::{Error, OrSetup, Result};

/// Reads a text file. Returns `None` if it does not exist.
///
/// # Errors
/// Returns a set-up error with the path.
pub fn read_if_there(path: &Utf8Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::setup(format!("failed to read `{path}`: {e}"))),
    }
}

/// Writes a file in place, because it may be a pipe, and creates the folders that contain it.
///
/// # Errors
/// Returns a set-up error with the path.
pub fn write(path: &Utf8Path, text: &str) -> Result<()> {
    path.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(path, text))
        .or_setup(format_args!("failed to write `{path}`"))
}

/// Creates a folder, and those that contain it.
///
/// # Errors
/// Returns a set-up error with the path.
pub fn create_folder(path: &Utf8Path) -> Result<()> {
    fs::create_dir_all(path).or_setup(format_args!("failed to create `{path}`"))
}

/// Returns the paths in a folder, sorted, or none if the folder does not exist.
///
/// # Errors
/// Returns a set-up error with the path.
pub fn list(folder: &Utf8Path) -> Result<Vec<Utf8PathBuf>> {
    let entries = match folder.read_dir_utf8() {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.and_then(|entries| {
            let paths = entries.map(|entry| entry.map(camino::Utf8DirEntry::into_path));
            paths.collect::<Result<Vec<_>, _>>()
        }),
    };
    let mut paths = entries.or_setup(format_args!("failed to list `{folder}`"))?;
    paths.sort();
    Ok(paths)
}

/// Returns the paths in a folder, sorted, or none if the folder cannot be read.
pub fn entries(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    list(folder).unwrap_or_default()
}

/// Returns the paths of the JSON files in a folder, like [`list`].
///
/// # Errors
/// Returns a set-up error with the path.
pub fn list_json(folder: &Utf8Path) -> Result<Vec<Utf8PathBuf>> {
    let mut files = list(folder)?;
    files.retain(|path| path.extension() == Some("json"));
    Ok(files)
}

/// Returns the absolute path, whether or not it exists.
///
/// # Errors
/// Returns a set-up error if the current folder does not exist or is not UTF-8.
pub fn absolute(path: &Utf8Path) -> Result<Utf8PathBuf> {
    camino::absolute_utf8(path).or_setup(format_args!("failed to find `{path}`"))
}
