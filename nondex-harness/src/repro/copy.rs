//! A copy of a workspace's sources, so that the user's own are never changed.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;

use camino::{Utf8Path, Utf8PathBuf};

use super::Subject;
use crate::error::{Error, Result};
use crate::project;

/// The largest sources that are copied, in bytes.
const LARGEST: u64 = 256 << 20;

/// A copied workspace.
#[derive(Debug)]
pub(super) struct Copy {
    /// Its root.
    pub(super) workspace: Utf8PathBuf,
}

impl Subject<'_> {
    /// Copies the workspace, and the packages outside of it that it names by their paths, to `folder`, where they stand to each
    /// other as they do now. `None` when they are too large.
    pub(super) fn copy_sources(&self, folder: &Utf8Path) -> Result<Option<Copy>> {
        let root = &self.project.workspace_root;
        let metadata = project::metadata(self.build, true)?;
        let mut folders = vec![root.clone()];
        for package in &metadata.packages {
            if package.source.is_none()
                && let Some(parent) = package.manifest_path.parent()
                && !folders.iter().any(|folder| parent.starts_with(folder))
            {
                folders.push(parent.to_owned());
            }
        }
        let common = folders.iter().fold(root.clone(), |common, folder| {
            common_ancestor(&common, folder)
        });
        let mut left = LARGEST;
        for from in &folders {
            let to = folder.join(relative(from, &common));
            let copied = copy(from, &to, &self.project.target_dir, &mut left)
                .map_err(|e| Error::setup(format!("failed to copy `{from}` to `{to}`: {e}")))?;
            if !copied {
                return Ok(None);
            }
        }
        Ok(Some(Copy {
            workspace: folder.join(relative(root, &common)),
        }))
    }
}

fn common_ancestor(one: &Utf8Path, other: &Utf8Path) -> Utf8PathBuf {
    let same = one.components().zip(other.components());
    same.take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
}

fn relative<'a>(path: &'a Utf8Path, base: &Utf8Path) -> &'a Utf8Path {
    path.strip_prefix(base).unwrap_or(path)
}

/// Copies a folder but for what is built and version control; false when it has more than `left` bytes.
fn copy(from: &Utf8Path, to: &Utf8Path, target: &Utf8Path, left: &mut u64) -> io::Result<bool> {
    fs::create_dir_all(to)?;
    for entry in from.read_dir_utf8()? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let to = to.join(name);
        let kind = entry.file_type()?;
        if kind.is_symlink() {
            symlink(fs::read_link(path)?, &to)?;
        } else if kind.is_dir() {
            let is_built = path == target || path.join("CACHEDIR.TAG").exists();
            if name != ".git" && !is_built && !copy(path, &to, target, left)? {
                return Ok(false);
            }
        } else if kind.is_file() {
            let Some(rest) = left.checked_sub(entry.metadata()?.len()) else {
                return Ok(false);
            };
            *left = rest;
            fs::copy(path, &to)?;
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_is_not_copied_and_what_is_too_large_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let from = root.join("from");
        for name in ["src", "target", ".git", "built"] {
            fs::create_dir_all(from.join(name)).unwrap();
            fs::write(from.join(name).join("file"), "four").unwrap();
        }
        fs::write(from.join("built/CACHEDIR.TAG"), "").unwrap();
        symlink("src/file", from.join("link")).unwrap();
        let (to, target) = (root.join("to"), from.join("target"));
        assert!(copy(&from, &to, &target, &mut 4).unwrap());
        let copied = to.read_dir_utf8().unwrap();
        let mut names: Vec<String> = copied.map(|e| e.unwrap().file_name().to_owned()).collect();
        names.sort();
        assert_eq!(names, ["link", "src"]);
        assert!(!copy(&from, &root.join("other"), &target, &mut 3).unwrap());
    }

    #[test]
    fn paths_have_what_they_begin_with_in_common() {
        let common = common_ancestor("/a/b/c".into(), "/a/bb/c".into());
        assert_eq!(common, "/a");
        assert_eq!(relative("/a/b/c".into(), &common), "b/c");
    }
}
