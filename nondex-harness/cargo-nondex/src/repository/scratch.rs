//! Repository for tests, in its own temporary folder.

use super::Git;

/// Repository in its own folder, whose commits consist of whole files.
pub(super) struct Repository {
    _folder: tempfile::TempDir,
    pub(super) git: Git,
}

impl Repository {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let git = Git::at(camino::Utf8Path::from_path(folder.path()).unwrap());
        git.read(&["init", "--quiet", "--initial-branch", "main"]).unwrap();
        Repository { _folder: folder, git }
    }

    pub(super) fn run(&self, arguments: &[&str]) {
        let who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        self.git.read(&[&who[..], arguments].concat()).unwrap();
    }

    /// Commits these files, and returns the commit. A file with an empty text is removed.
    pub(super) fn commit(&self, files: &[(&str, String)]) -> String {
        for (file, text) in files {
            let path = self.git.root().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            if text.is_empty() {
                std::fs::remove_file(path).unwrap();
            } else {
                std::fs::write(path, text).unwrap();
            }
        }
        self.run(&["add", "--all"]);
        self.run(&["commit", "--quiet", "--allow-empty", "--message", "x"]);
        self.head()
    }

    pub(super) fn head(&self) -> String {
        self.git.read(&["rev-parse", "HEAD"]).unwrap().trim().to_owned()
    }
}
