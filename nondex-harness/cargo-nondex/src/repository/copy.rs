//! Separate checkout that shares only the objects of the user's repository.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::git::Git;
use crate::error::{Error, Result};

/// Checkout in which one commit after another is tried.
#[derive(Debug)]
pub struct Copy {
    git: Git,
    of: Git,
    /// Lock file of the user's workspace, for commits that have none.
    lockfile: Option<String>,
    workspace: Utf8PathBuf,
}

impl Copy {
    /// Creates a copy of `of` in `folder`, or reuses the previous one there. `workspace` is the
    /// root of the user's workspace.
    ///
    /// # Errors
    /// Returns a set-up error if the copy cannot be made.
    pub fn of(of: &Git, workspace: &Utf8Path, folder: &Utf8Path) -> Result<Self> {
        let resolved = workspace.canonicalize_utf8().unwrap_or_else(|_| workspace.to_owned());
        let relative = resolved.strip_prefix(of.root()).map_err(|_| {
            Error::setup(format!(
                "the workspace `{workspace}` is not in the repository `{}`",
                of.root()
            ))
        })?;
        let lockfile = fs::read_to_string(workspace.join("Cargo.lock")).ok();
        let copy = Copy {
            git: Git::at(folder),
            of: of.clone(),
            lockfile,
            workspace: folder.join(relative),
        };
        if !copy.is_usable() {
            let failed = |e| Error::setup(format!("failed to prepare `{folder}`: {e}"));
            if folder.exists() {
                fs::remove_dir_all(folder).map_err(failed)?;
            }
            let parent = folder.parent().unwrap_or(folder);
            fs::create_dir_all(parent).map_err(failed)?;
            let arguments = ["clone", "--quiet", "--shared", "--no-checkout", "--no-tags"];
            let ends = [of.root().as_str(), folder.as_str()];
            Git::at(parent).read(&[arguments.as_slice(), &ends].concat())?;
        }
        Ok(copy)
    }

    /// Returns whether a previous copy is a separate repository and has the user's current
    /// `HEAD`.
    fn is_usable(&self) -> bool {
        let folder = self.git.root();
        let own = |git: &Git| git.read(&["rev-parse", "--show-toplevel"]).ok();
        let is_own = folder.join(".git").is_dir()
            && own(&self.git).is_some_and(|root| root.trim_end() == folder);
        let head = self.of.read(&["rev-parse", "HEAD"]).unwrap_or_default();
        is_own && self.git.read(&["cat-file", "-e", head.trim()]).is_ok()
    }

    /// Returns the root of the workspace in the copy.
    pub fn workspace(&self) -> &Utf8Path {
        &self.workspace
    }

    /// Checks out a commit, and removes everything that belongs to another one.
    ///
    /// # Errors
    /// Returns a set-up error if this fails, for example if a submodule is missing on this machine.
    pub fn check_out(&self, commit: &str) -> Result<()> {
        self.git.read(&["checkout", "--quiet", "--force", "--detach", commit])?;
        self.git.read(&["clean", "-ffdxq"])?;
        self.submodules()?;
        let root = self.workspace.join("Cargo.toml");
        let failed = |e| Error::setup(format!("failed to write in `{}`: {e}", self.workspace));
        if let Ok(manifest) = fs::read_to_string(&root) {
            // The copy is below the user's workspace. Without this section, cargo would take it for
            // a part of that workspace.
            let is_root = manifest.lines().any(|line| line.trim_start().starts_with("[workspace"));
            if !is_root {
                fs::write(&root, format!("{manifest}\n[workspace]\n")).map_err(failed)?;
            }
            let lockfile = self.workspace.join("Cargo.lock");
            if let Some(text) = self.lockfile.as_ref().filter(|_| !lockfile.exists()) {
                fs::write(lockfile, text).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Checks out the submodules from the user's own checkouts of them.
    fn submodules(&self) -> Result<()> {
        if !self.git.root().join(".gitmodules").is_file() {
            return Ok(());
        }
        let paths = ["config", "--file", ".gitmodules", "--get-regexp", r"\.path$"];
        for line in self.git.read(&paths).unwrap_or_default().lines() {
            let Some((name, path)) = line.split_once(' ') else { continue };
            let theirs = self.of.root().join(path);
            if !theirs.join(".git").exists() {
                return Err(Error::setup(format!(
                    "the submodule `{path}` is not checked out in `{}`",
                    self.of.root()
                )));
            }
            let url = name.replace(".path", ".url");
            self.git.read(&["config", &url, theirs.as_str()])?;
            self.git.read(&["submodule", "--quiet", "update", "--init", "--force", "--", path])?;
        }
        Ok(())
    }
}
