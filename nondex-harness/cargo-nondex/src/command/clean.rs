//! `cargo nondex clean`: removes the files that this tool wrote.

use std::io::ErrorKind;

use camino::{Utf8Path, Utf8PathBuf};

use super::console::Console;
use crate::cli::CleanArgs;
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::file;
use crate::project::{self, BuildPlan};
use crate::repository::Copy;

/// Removes `nondex` from the project's target directory, and the project's checkouts in the cache.
/// With `--cache`, removes this user's cached runtimes and checkouts.
pub(super) fn clean(args: &CleanArgs, console: &Console) -> Result<ExitCode> {
    let target = if let Some(target) = &args.location.target_dir {
        file::absolute(target)?
    } else {
        let plan = BuildPlan::of(args.location.manifest_path.as_deref());
        project::metadata(&plan, false)?.target_directory
    };
    remove(&target.join("nondex"), console)?;
    let is_removed = |name: &str| {
        let project = (!args.cache).then_some(target.as_path());
        args.cache && is_runtime(name) || Copy::is_folder(name, project)
    };
    let cache = match project::cache_dir() {
        Err(error) if args.cache => return Err(error),
        // Without a cache, there are no checkouts.
        Err(_) => return Ok(ExitCode::Ok),
        Ok(cache) => cache,
    };
    for folder in folders(&cache, is_removed)? {
        remove(&folder, console)?;
    }
    Ok(ExitCode::Ok)
}

/// Returns the folders of the cache with such names. Other entries are left alone, because the user
/// may have chosen a folder with other content.
fn folders(cache: &Utf8Path, is_ours: impl Fn(&str) -> bool) -> Result<Vec<Utf8PathBuf>> {
    let mut found = file::list(cache)?;
    found.retain(|path| {
        let is_folder = path.is_dir() && !path.is_symlink();
        is_folder && path.file_name().is_some_and(&is_ours)
    });
    Ok(found)
}

/// Returns whether a folder name is that of a runtime: a key of 16 hexadecimal digits. While the
/// runtime is built, a dot and the process id follow.
fn is_runtime(name: &str) -> bool {
    let (key, process) = name.split_once('.').unwrap_or((name, ""));
    key.len() == 16
        && key.bytes().all(|byte| byte.is_ascii_hexdigit())
        && process.bytes().all(|byte| byte.is_ascii_digit())
}

/// Removes a directory and reports it. A directory that does not exist is not an error.
fn remove(directory: &Utf8Path, console: &Console) -> Result<()> {
    match std::fs::remove_dir_all(directory) {
        Ok(()) => console.status("Removed", directory.as_str()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            console.status("Removed", &format!("nothing: there is no {directory}"));
        }
        Err(error) => {
            return Err(Error::setup(format!("failed to remove `{directory}`: {error}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_named_as_a_runtime_is_removed_from_the_cache() {
        for (name, ours) in [
            ("0123456789abcdef", true),
            ("0123456789abcdef.4711", true),
            ("0123456789abcdef.toml", false),
            ("src", false),
            ("0123", false),
        ] {
            assert_eq!(is_runtime(name), ours, "{name}");
        }
    }
}
