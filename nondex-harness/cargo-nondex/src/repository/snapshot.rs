//! What a project consists of at a moment, as a tree of git: keyed by content, so that a commit
//! that was moved or rewritten is still known.
//!
//! What is not committed is written to a folder of our own, with an index of our own. Nothing of
//! the user's repository changes.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::changes::Changes;
use super::git::Git;
use super::index::Index;
use crate::error::{Error, Result};

/// Trees of a repository, and those that were written in a separate store.
#[derive(Clone, Debug)]
pub struct Snapshots {
    /// The repository, which sees what was written there.
    git: Git,
    folder: Utf8PathBuf,
    objects: Utf8PathBuf,
}

impl Snapshots {
    /// Those of a repository; what is new goes to `folder`, which several may share.
    ///
    /// # Errors
    /// When git cannot say where its objects are.
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

    /// The repository.
    pub fn git(&self) -> &Git {
        &self.git
    }

    /// The tree of the working tree with all that git does not ignore, but for the folder
    /// `without`.
    ///
    /// # Errors
    /// When git cannot write it.
    pub fn now(&self, without: &Utf8Path) -> Result<String> {
        let failed = |e| Error::setup(format!("failed to write in `{}`: {e}", self.folder));
        fs::create_dir_all(&self.folder).map_err(failed)?;
        // With what git knows of the files, it reads only those that are new.
        let index = Index::of(&self.git, &self.folder)?;
        let git = index
            .git
            .with("GIT_OBJECT_DIRECTORY", self.folder.as_str())
            .with("GIT_ALTERNATE_OBJECT_DIRECTORIES", &quoted(&self.objects));
        let mut all = vec!["add", "--all", "--", ":/"];
        let without = without.strip_prefix(self.git.root()).ok().filter(|folder| {
            self.git.read(&["check-ignore", "--quiet", "--", folder.as_str()]).is_err()
        });
        let without = without.map(|folder| format!(":(top,exclude){folder}"));
        all.extend(without.as_deref());
        git.read(&all)?;
        Ok(git.read(&["write-tree"])?.trim_end().to_owned())
    }

    /// The tree of a commit.
    ///
    /// # Errors
    /// When there is none.
    pub fn of(&self, commit: &str) -> Result<String> {
        let tree = self.git.read(&["rev-parse", &format!("{commit}^{{tree}}")])?;
        Ok(tree.trim_end().to_owned())
    }

    /// Whether a tree is here.
    pub fn has(&self, tree: &str) -> bool {
        self.git.read(&["cat-file", "-e", &format!("{tree}^{{tree}}")]).is_ok()
    }

    /// What is different between two trees.
    ///
    /// # Errors
    /// When git cannot say.
    pub fn changes(&self, from: &str, to: &str) -> Result<Changes> {
        Changes::read(&self.git, &["diff", from, to])
    }

    /// The text of a file in a tree, if it is there.
    pub fn text(&self, tree: &str, file: &str) -> Option<String> {
        self.git.text(tree, file)
    }

    /// Whether there are submodules, whose content is no part of a tree.
    pub fn has_submodules(&self) -> bool {
        self.git.root().join(".gitmodules").is_file()
    }
}

/// A path as git takes it in a list of paths.
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
        // The time of the last write can be chosen, that of the last change not.
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
