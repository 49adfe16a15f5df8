//! Copy of the index that hides no changes. The user's index may tell git not to check some files.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::git::Git;
use crate::error::{Error, Result};

/// Copy of the index, for the duration of a query.
#[derive(Debug)]
pub(super) struct Index {
    path: Utf8PathBuf,
    /// Repository that uses the copy as its index.
    pub(super) git: Git,
}

impl Index {
    /// Creates a copy in a folder, which hides no changes.
    pub(super) fn of(git: &Git, folder: &Utf8Path) -> Result<Self> {
        let path = folder.join(format!("nondex-index-{}", std::process::id()));
        let theirs = git.read(&["rev-parse", "--git-path", "index"])?;
        copy(&git.root().join(theirs.trim_end()), &path);
        let index = Index { git: git.with("GIT_INDEX_FILE", path.as_str()), path };
        let hidden = hidden(&index.git)?;
        // A command line surely has room for 500 paths.
        for files in hidden.chunks(500) {
            // git accepts only one of these options in a call.
            for shown in ["--no-assume-unchanged", "--no-skip-worktree"] {
                let mut all = vec!["update-index", shown, "--"];
                all.extend(files.iter().map(String::as_str));
                index.git.read(&all)?;
            }
        }
        Ok(index)
    }

    /// Creates a copy if the user's index hides changes. Returns `None` if it hides nothing.
    pub(super) fn if_hidden(git: &Git) -> Result<Option<Self>> {
        if hidden(git)?.is_empty() {
            return Ok(None);
        }
        let folder = Utf8PathBuf::from_path_buf(std::env::temp_dir())
            .map_err(|folder| Error::setup(format!("`{}` is not UTF-8", folder.display())))?;
        Index::of(git, &folder).map(Some)
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(self.path.with_extension("lock"));
    }
}

/// Returns the files that git does not check for changes. These are the files that are assumed to
/// be unchanged, and those that exist although a sparse checkout leaves them out.
fn hidden(git: &Git) -> Result<Vec<String>> {
    let listed = git.read(&["ls-files", "-v", "-z", "--full-name", ":/"])?;
    let files = listed.split('\0').filter_map(|entry| {
        let (tag, file) = entry.split_once(' ')?;
        let is_hidden = match tag {
            "S" => git.root().join(file).symlink_metadata().is_ok(),
            tag => tag.starts_with(|sign: char| sign.is_ascii_lowercase()),
        };
        is_hidden.then(|| file.to_owned())
    });
    Ok(files.collect())
}

/// Copies an index, if there is one, with its modification time. git reads each file again that was
/// changed at this time or later, because the index may not show that change.
fn copy(from: &Utf8Path, to: &Utf8Path) {
    let time = fs::metadata(from).and_then(|metadata| metadata.modified());
    let copied = time.and_then(|time| {
        fs::copy(from, to)?;
        fs::File::options().append(true).open(to)?.set_modified(time)
    });
    if copied.is_err() {
        let _ = fs::remove_file(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::scratch::Repository;
    use crate::repository::{Snapshots, since};

    #[test]
    fn a_change_that_the_index_hides_is_seen_and_the_index_stays_as_it_is() {
        let repository = Repository::new();
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let text = |name: &str| (name.to_owned(), "1\n".to_owned());
        let files = ["assumed", "skipped", "absent", "plain"].map(text);
        let files: Vec<_> = files.iter().map(|(name, text)| (&**name, text.clone())).collect();
        let commit = repository.commit(&files);
        repository.run(&["update-index", "--assume-unchanged", "assumed"]);
        repository.run(&["update-index", "--skip-worktree", "skipped", "absent"]);
        let root = repository.git.root();
        // A sparse checkout has no such file.
        fs::remove_file(root.join("absent")).unwrap();
        let index = fs::read(root.join(".git/index")).unwrap();
        let changed = || {
            let changes = since(&repository.git, &commit).unwrap();
            changes.files.into_keys().collect::<Vec<String>>()
        };
        let snapshots = Snapshots::new(&repository.git, folder).unwrap();
        let now = || snapshots.now(folder).unwrap();
        assert_eq!(changed(), [""; 0]);
        let before = now();
        for file in ["assumed", "skipped"] {
            fs::write(root.join(file), "2\n").unwrap();
        }
        assert_eq!(changed(), ["assumed", "skipped"]);
        let changes = snapshots.changes(&before, &now()).unwrap();
        assert_eq!(changes.files.into_keys().collect::<Vec<_>>(), ["assumed", "skipped"]);
        assert_eq!(fs::read(root.join(".git/index")).unwrap(), index);
    }
}
