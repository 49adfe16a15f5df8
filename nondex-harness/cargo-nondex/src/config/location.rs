//! Finds and reads the configuration file.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::{Error, Result};

/// Path of the configuration file, relative to the root of the workspace.
pub const DEFAULT_FILE: &str = ".config/nondex.toml";

/// Returns the root of the workspace that contains `manifest_path`, or else the current directory.
/// Returns `None` when cargo finds no workspace: the command fails later with cargo's error. Runs
/// cargo once, which reads only manifests.
pub fn workspace_root(manifest_path: Option<&Utf8Path>) -> Option<Utf8PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["locate-project", "--workspace", "--message-format", "plain"]);
    if let Some(path) = manifest_path {
        command.arg("--manifest-path").arg(path);
    }
    let output = command.output().ok().filter(|found| found.status.success())?;
    let manifest = String::from_utf8(output.stdout).ok()?;
    Some(Utf8Path::new(manifest.trim_end()).parent()?.to_owned())
}

/// Returns the text of the file and the path to show in messages. Returns `None` when `given` is
/// `None` and there is no file at the default path.
///
/// # Errors
/// Returns an error when the file cannot be read, or when the file in `given` does not exist.
pub(super) fn read(
    given: Option<&Utf8Path>,
    root: Option<&Utf8Path>,
) -> Result<Option<(Utf8PathBuf, String)>> {
    let path = match (given, root) {
        (Some(file), _) => file.to_owned(),
        (None, Some(root)) => root.join(DEFAULT_FILE),
        (None, None) => return Ok(None),
    };
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some((shown(&path), text))),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound && given.is_none() => Ok(None),
        Err(e) => Err(Error::setup(format!("failed to read `{path}`: {e}"))),
    }
}

/// Returns `path` relative to the current directory if it is inside it, and unchanged otherwise.
fn shown(path: &Utf8Path) -> Utf8PathBuf {
    let relative = std::env::current_dir()
        .ok()
        .and_then(|directory| Utf8PathBuf::from_path_buf(directory).ok())
        .and_then(|directory| Some(path.strip_prefix(directory).ok()?.to_owned()));
    relative.unwrap_or_else(|| path.to_owned())
}
