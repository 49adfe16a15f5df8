//! Where the file is.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

use crate::error::{Error, Result};

/// The file, below the root of the workspace.
pub const DEFAULT_FILE: &str = ".config/nondex.toml";

/// The root of the workspace that `manifest_path`, or the current folder, belongs to. `None` when
/// cargo finds none: the command will fail with that error. Takes one call of cargo, which reads
/// manifests only.
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

/// The text of the file, with the path it is shown by; `None` when there is none and `given` does
/// not ask for one.
///
/// # Errors
/// When it cannot be read, or `given` names none.
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

/// A path below the current folder without it.
fn shown(path: &Utf8Path) -> Utf8PathBuf {
    let here = std::env::current_dir().ok();
    let here = here.and_then(|here| Utf8PathBuf::from_path_buf(here).ok());
    let relative = here.and_then(|here| Some(path.strip_prefix(here).ok()?.to_owned()));
    relative.unwrap_or_else(|| path.to_owned())
}
