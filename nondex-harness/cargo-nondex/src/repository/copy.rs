//! Separate checkout that shares only the objects of the user's repository.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;

use camino::{Utf8Path, Utf8PathBuf};

use nondex_core::hash;

use super::git::Git;
use crate::error::{Error, Result};

/// Start of the names of the folders of copies in the cache.
const PREFIX: &str = "checkout-";

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
    /// Returns the folder in the user's `cache` for a copy of the project with this target
    /// directory. `use_of` names what the copy is for. Tests may search for files in all folders
    /// around theirs, so a copy must not be inside of the project.
    pub fn folder(cache: &Utf8Path, target_dir: &Utf8Path, use_of: &str) -> Utf8PathBuf {
        cache.join(format!("{}{use_of}", start_of_names(target_dir)))
    }

    /// Returns whether a [folder](Self::folder) of the cache with this name is for a copy: of the
    /// project with this target directory, or of any.
    pub fn is_folder(name: &str, target_dir: Option<&Utf8Path>) -> bool {
        match target_dir {
            Some(target_dir) => name.starts_with(&start_of_names(target_dir)),
            None => name.starts_with(PREFIX),
        }
    }

    /// Creates a copy of `of` below `folder`, or reuses the previous one there. `workspace` is the
    /// root of the user's workspace. The folders `outside` of the repository, in which it has
    /// dependencies, are found at the same relative paths from the copy.
    ///
    /// # Errors
    /// Returns a set-up error if the copy cannot be made.
    pub fn of(
        of: &Git,
        workspace: &Utf8Path,
        folder: &Utf8Path,
        outside: &[Utf8PathBuf],
    ) -> Result<Self> {
        let resolved = workspace.canonicalize_utf8().unwrap_or_else(|_| workspace.to_owned());
        let relative = resolved.strip_prefix(of.root()).map_err(|_| {
            Error::setup(format!(
                "the workspace `{workspace}` is not in the repository `{}`",
                of.root()
            ))
        })?;
        let lockfile = fs::read_to_string(workspace.join("Cargo.lock")).ok();
        let base = folder_around(of.root(), outside);
        let own = |path: &Utf8Path| folder.join(path.strip_prefix(base).unwrap_or(path));
        let root = own(of.root());
        let workspace = root.join(relative);
        let copy = Copy { git: Git::at(&root), of: of.clone(), lockfile, workspace };
        if !copy.is_usable() {
            let failed = |e| Error::setup(format!("failed to prepare `{folder}`: {e}"));
            if folder.exists() {
                fs::remove_dir_all(folder).map_err(failed)?;
            }
            let parent = root.parent().unwrap_or(folder);
            fs::create_dir_all(parent).map_err(failed)?;
            let arguments = ["clone", "--quiet", "--shared", "--no-checkout", "--no-tags"];
            let ends = [of.root().as_str(), root.as_str()];
            Git::at(parent).read(&[arguments.as_slice(), &ends].concat())?;
        }
        // A folder in one of the others is there with it. A link would be made inside the latter.
        let is_inner =
            |path: &Utf8PathBuf| outside.iter().any(|o| o != path && path.starts_with(o));
        for path in outside.iter().filter(|path| !is_inner(path)) {
            link(path, &own(path))
                .map_err(|e| Error::setup(format!("failed to link `{path}` in `{folder}`: {e}")))?;
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

    /// Returns the root of the copy.
    pub fn root(&self) -> &Utf8Path {
        self.git.root()
    }

    /// Returns whether the commit selects another toolchain than the user's sources.
    pub fn has_other_toolchain(&self) -> bool {
        let within = self.workspace.strip_prefix(self.git.root()).unwrap_or(Utf8Path::new(""));
        let names = ["rust-toolchain", "rust-toolchain.toml"];
        let mut files = within.ancestors().flat_map(|folder| names.map(|name| folder.join(name)));
        let text = |git: &Git, file: &Utf8Path| fs::read(git.root().join(file)).ok();
        files.any(|file| text(&self.git, &file) != text(&self.of, &file))
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
            // Without this section, cargo would take the copy for a part of a workspace around the
            // cache.
            let is_root = manifest.lines().any(|line| line.trim_start().starts_with("[workspace"));
            let mut around = self.git.root().ancestors().skip(1);
            if !is_root && around.any(|folder| folder.join("Cargo.toml").is_file()) {
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

/// Returns the start of the names of the folders for copies of the project with this target
/// directory.
fn start_of_names(target_dir: &Utf8Path) -> String {
    format!("{PREFIX}{:016x}-", hash::of(target_dir.as_str()))
}

/// Makes a link to `path`, if there is none.
fn link(path: &Utf8Path, link: &Utf8Path) -> io::Result<()> {
    if link.symlink_metadata().is_ok() {
        return Ok(());
    }
    fs::create_dir_all(link.parent().unwrap_or(link))?;
    symlink(path, link)
}

/// Returns the innermost folder around a repository and these folders outside of it.
fn folder_around<'r>(repository: &'r Utf8Path, outside: &[Utf8PathBuf]) -> &'r Utf8Path {
    let mut around = repository.ancestors().skip(1);
    let is_around = |folder: &&Utf8Path| outside.iter().all(|path| path.starts_with(folder));
    around.find(is_around).unwrap_or(repository)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_names_that_paths_out_of_the_repository_go_through() {
        let around = |outside: &[&str]| {
            let outside: Vec<Utf8PathBuf> = outside.iter().map(Utf8PathBuf::from).collect();
            folder_around(Utf8Path::new("/work/a/app"), &outside).to_owned()
        };
        assert_eq!(around(&[]), "/work/a");
        assert_eq!(around(&["/work/a/lib"]), "/work/a");
        assert_eq!(around(&["/work/a/lib", "/work/b"]), "/work");
        assert_eq!(around(&["/other/lib"]), "/");
    }

    #[test]
    fn a_folder_of_the_cache_is_known_as_that_of_a_project() {
        let cache = Utf8Path::new("/cache");
        let [own, other] = ["/p/target", "/q/target"].map(Utf8Path::new);
        let name = Copy::folder(cache, own, "bisect").file_name().unwrap().to_owned();
        assert!(Copy::is_folder(&name, Some(own)) && Copy::is_folder(&name, None));
        assert!(!Copy::is_folder(&name, Some(other)));
        assert!(!Copy::is_folder("0123456789abcdef", None));
    }
}
