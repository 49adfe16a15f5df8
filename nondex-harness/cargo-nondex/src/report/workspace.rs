//! The user's workspace, and which source files belong to it.

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::Frame;

/// Directories of a workspace that contain third-party code.
const FOREIGN: [&str; 2] = ["target", "vendor"];

/// The user's workspace.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: Utf8PathBuf,
    /// Directory in which the test runs. Relative paths in its frames may be relative to it.
    cwd: Utf8PathBuf,
}

impl Workspace {
    /// Creates the workspace at `root`, an absolute path.
    pub fn new(root: Utf8PathBuf) -> Self {
        Workspace { cwd: root.clone(), root }
    }

    /// Returns the workspace for tests that run in `cwd`.
    pub fn at(&self, cwd: &Utf8Path) -> Self {
        Workspace { cwd: cwd.to_owned(), ..self.clone() }
    }

    /// Returns the root.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Returns a path as it is shown: relative to the root if it is below it.
    pub fn shown<'p>(&self, path: &'p str) -> &'p str {
        let inner = path.strip_prefix(self.root.as_str());
        inner.and_then(|inner| inner.strip_prefix('/')).unwrap_or(path)
    }

    /// Returns whether the file of a [`Site`](nondex_core::Site) is in the workspace. Checks that
    /// the file exists below the root, since the paths of dependencies and std are relative, too.
    pub fn is_users(&self, file: &str) -> bool {
        self.relative(file, &self.root).is_some()
    }

    /// Returns the path of a source file relative to the root, or `None` if the file is not in the
    /// workspace. A relative `file` may be relative to the root or to the test's directory.
    pub fn user_file(&self, file: &str) -> Option<String> {
        [&self.root, &self.cwd].into_iter().find_map(|base| self.relative(file, base))
    }

    fn relative(&self, file: &str, base: &Utf8Path) -> Option<String> {
        let path = base.join(file);
        let relative = path.strip_prefix(&self.root).ok()?;
        let first = relative.components().next()?;
        // Keeps a leading `./`, which distinguishes places in a doctest from places in the file
        // that contains it.
        let inner = path.as_str().strip_prefix(self.root.as_str());
        let text = inner.map_or(relative.as_str(), |inner| inner.trim_start_matches('/'));
        (!FOREIGN.contains(&first.as_str()) && path.is_file()).then(|| text.to_owned())
    }

    /// Iterates over the frames in the workspace, the innermost first: file, relative to the root,
    /// and line.
    pub fn of_users(&self, frames: &[Frame]) -> impl Iterator<Item = (String, u32)> {
        frames.iter().filter_map(|frame| Some((self.user_file(&frame.file)?, frame.line)))
    }

    /// Returns the innermost frame in the workspace, as [`of_users`](Self::of_users) does.
    pub fn nearest_of_users(&self, frames: &[Frame]) -> Option<(String, u32)> {
        self.of_users(frames).next()
    }

    /// Returns what the workspace's innermost frame calls, the innermost frame first; all frames if
    /// none is in the workspace.
    pub fn called<'f>(&self, frames: &'f [Frame]) -> &'f [Frame] {
        let user = frames.iter().position(|frame| self.user_file(&frame.file).is_some());
        &frames[..user.unwrap_or(frames.len())]
    }

    /// Returns the innermost frame in the workspace, of the first of these stacks that has one.
    pub fn nearest_of_stacks(&self, stacks: &[Vec<Frame>]) -> Option<(String, u32)> {
        stacks.iter().find_map(|stack| self.nearest_of_users(stack))
    }

    /// Returns the innermost frame in the workspace or, if there is none, in a dependency.
    pub fn nearest(&self, frames: &[Frame]) -> Option<(String, u32)> {
        self.nearest_of_users(frames).or_else(|| {
            let frame = frames.iter().find(|frame| is_dependency(&frame.file))?;
            Some((frame.file.clone(), frame.line))
        })
    }
}

/// Returns whether a file, as in [`Site::file`](nondex_core::Site::file), belongs to a published
/// crate: `name-1.2.3/src/lib.rs`, a path in cargo's home.
pub fn is_dependency(file: &str) -> bool {
    let Some((package, _)) = file.split_once('/') else { return false };
    package
        .rsplit_once('-')
        .is_some_and(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_files_that_are_in_the_workspace_are_the_users() {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(directory.path()).unwrap();
        for file in ["src/lib.rs", "member/src/lib.rs", "vendor/dep/src/lib.rs"] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "").unwrap();
        }
        let workspace = Workspace::new(root.to_owned()).at(Utf8Path::new("/elsewhere"));
        let absolute = root.join("member/src/lib.rs").to_string();
        let vendored = root.join("vendor/dep/src/lib.rs").to_string();
        for (file, expected) in [
            ("src/lib.rs", Some("src/lib.rs")),
            ("./src/lib.rs", Some("./src/lib.rs")),
            ("member/src/lib.rs", Some("member/src/lib.rs")),
            (&absolute, Some("member/src/lib.rs")),
            (&vendored, None),
            ("serde-1.0.0/src/lib.rs", None),
            ("library/alloc/src/vec/mod.rs", None),
            ("/elsewhere/src/lib.rs", None),
            ("", None),
        ] {
            assert_eq!(workspace.user_file(file).as_deref(), expected, "{file}");
            assert_eq!(workspace.is_users(file), expected.is_some(), "{file}");
        }
    }
}
