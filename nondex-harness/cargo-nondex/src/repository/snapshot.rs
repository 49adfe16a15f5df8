//! Contents of a project at a moment, as a tree of git. A tree is known by its contents, so a
//! commit is still known after it was rebased or rewritten.
//!
//! Uncommitted contents are written to a separate folder, with a separate index. The user's
//! repository does not change.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::changes::Changes;
use super::git::Git;
use super::index::Index;
use crate::error::{OrSetup, Result};

/// Trees of a repository, and trees that were written to a separate store.
#[derive(Clone, Debug)]
pub struct Snapshots {
    /// Repository, with access to the separate store.
    git: Git,
    folder: Utf8PathBuf,
    objects: Utf8PathBuf,
}

impl Snapshots {
    /// Creates the snapshots of a repository. New objects are written to `folder`, which several
    /// instances may share.
    ///
    /// # Errors
    /// Returns a set-up error if git cannot show where its objects are.
    pub fn new(git: &Git, folder: &Utf8Path) -> Result<Self> {
        let objects = git.read(&["rev-parse", "--git-path", "objects"])?;
        let objects = git.root().join(objects.trim_end());
        let folder = folder.to_owned();
        Ok(Snapshots {
            git: git.with("GIT_ALTERNATE_OBJECT_DIRECTORIES", &quoted(&folder)),
            folder,
            objects,
        })
    }

    /// Returns the repository.
    pub fn git(&self) -> &Git {
        &self.git
    }

    /// Writes the tree of the working tree, with everything that git does not ignore except for the
    /// folder `without`. Returns the tree.
    ///
    /// # Errors
    /// Returns a set-up error if git cannot write it.
    pub fn now(&self, without: &Utf8Path) -> Result<String> {
        fs::create_dir_all(&self.folder)
            .or_setup(format_args!("failed to write in `{}`", self.folder))?;
        // With a copy of the index, git only reads files that changed.
        let index = Index::of(&self.git, &self.folder)?;
        let git = index
            .git
            .with("GIT_OBJECT_DIRECTORY", self.folder.as_str())
            .with("GIT_ALTERNATE_OBJECT_DIRECTORIES", &quoted(&self.objects));
        let mut all = vec!["add", "--all", "--", ":/"];
        // git leaves out an ignored folder by itself.
        let is_ignored = |folder: &Utf8Path| {
            self.git.read(&["check-ignore", "--quiet", "--", folder.as_str()]).is_ok()
        };
        let exclusion = without
            .strip_prefix(self.git.root())
            .ok()
            .filter(|folder| !is_ignored(folder))
            .map(|folder| format!(":(top,exclude){folder}"));
        all.extend(exclusion.as_deref());
        git.read(&all)?;
        Ok(git.read(&["write-tree"])?.trim_end().to_owned())
    }

    /// Returns the tree of a commit.
    ///
    /// # Errors
    /// Returns a set-up error if there is none.
    pub fn of(&self, commit: &str) -> Result<String> {
        let tree = self.git.read(&["rev-parse", &format!("{commit}^{{tree}}")])?;
        Ok(tree.trim_end().to_owned())
    }

    /// Returns whether a tree exists here.
    pub fn has(&self, tree: &str) -> bool {
        self.git.read(&["cat-file", "-e", &format!("{tree}^{{tree}}")]).is_ok()
    }

    /// Returns the differences between two trees.
    ///
    /// # Errors
    /// Returns a set-up error if git fails.
    pub fn changes(&self, from: &str, to: &str) -> Result<Changes> {
        Changes::read(&self.git, &["diff", from, to])
    }

    /// Returns the text of a file in a tree, if it exists there.
    pub fn text(&self, tree: &str, file: &str) -> Option<String> {
        self.git.text(tree, file)
    }

    /// Returns whether there are submodules, whose contents are not part of a tree.
    pub fn has_submodules(&self) -> bool {
        self.git.root().join(".gitmodules").is_file()
    }
}

/// Returns a path in the form in which git expects it in a list of paths.
fn quoted(path: &Utf8Path) -> String {
    let text = path.as_str().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::repository::scratch::Repository;

    #[test]
    fn what_changes_in_the_second_in_which_the_index_was_written_is_seen_later() {
        let repository = Repository::new();
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let snapshots = Snapshots::new(&repository.git, folder).unwrap();
        // A test can set the time of the last write, but not that of the last change.
        repository.run(&["config", "core.trustctime", "false"]);
        let commit = repository.commit(&[("a", "1".to_owned())]);
        let then = SystemTime::now() - Duration::from_secs(60);
        let written_then = |file: &str| {
            let path = repository.git.root().join(file);
            let file = fs::File::options().append(true).open(path).unwrap();
            file.set_modified(then).unwrap();
        };
        written_then("a");
        repository.run(&["update-index", "--refresh"]);
        written_then(".git/index");
        fs::write(repository.git.root().join("a"), "2").unwrap();
        written_then("a");
        let now = snapshots.now(folder).unwrap();
        assert_ne!(now, snapshots.of(&commit).unwrap());
    }
}
