//! `cargo nondex clean`: removes what this tool wrote.

use std::io::ErrorKind;

use camino::Utf8Path;

use super::console::Console;
use crate::cli::{BuildArgs, CleanArgs};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::project;

/// Removes `nondex` from the project's target directory, and with `--cache` the runtimes of this user.
pub(super) fn clean(args: &CleanArgs, console: &Console) -> Result<ExitCode> {
    let target = if let Some(target) = &args.target_dir {
        target.clone()
    } else {
        let build = BuildArgs {
            manifest_path: args.manifest_path.clone(),
            ..BuildArgs::default()
        };
        project::metadata(&build, false)?.target_directory
    };
    remove(&target.join("nondex"), console)?;
    if args.cache {
        remove(&project::cache_dir()?, console)?;
    }
    Ok(ExitCode::Ok)
}

fn remove(directory: &Utf8Path, console: &Console) -> Result<()> {
    match std::fs::remove_dir_all(directory) {
        Ok(()) => console.status("Removed", directory.as_str()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            console.status("Removed", &format!("nothing: there is no {directory}"));
        }
        Err(error) => {
            return Err(Error::setup(format!(
                "failed to remove `{directory}`: {error}"
            )));
        }
    }
    Ok(())
}
