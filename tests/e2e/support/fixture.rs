//! A project under test: a copy in a temporary folder, so that no run sees what another one left.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The root of the repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the package is in the repository")
}

/// A copy of a project, removed when dropped.
#[derive(Debug)]
pub(crate) struct Fixture {
    _temporary: TempDir,
    root: PathBuf,
}

impl Fixture {
    /// A copy of `tests/fixtures/<name>`.
    pub(crate) fn new(name: &str) -> Self {
        Self::copy(&repository().join("tests/fixtures").join(name))
    }

    /// A copy of `examples/<name>`, which still finds the repository's own packages.
    pub(crate) fn example(name: &str) -> Self {
        Self::linked(&format!("examples/{name}"))
    }

    /// A copy of the project in this folder of the repository, which still finds the repository's
    /// own packages.
    pub(crate) fn linked(folder: &str) -> Self {
        let up = "../".repeat(folder.split('/').count());
        let fixture = Self::copy(&repository().join(folder));
        let manifest = fixture.path("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        let own = format!("path = \"{}/", repository().display());
        fs::write(manifest, text.replace(&format!("path = \"{up}"), &own)).unwrap();
        // Offline, only the versions that the repository was built with are sure to be there.
        fs::copy(repository().join("Cargo.lock"), fixture.path("Cargo.lock")).unwrap();
        fixture
    }

    fn copy(from: &Path) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        // Cargo resolves links; the paths that are compared must be the ones it prints.
        let root = temporary.path().canonicalize().unwrap();
        copy_folder(from, &root);
        Fixture {
            _temporary: temporary,
            root,
        }
    }

    /// A path in the copy.
    pub(crate) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// The line, from 1, that ends with the comment `// at: name`.
    pub(crate) fn line(&self, file: &str, name: &str) -> u32 {
        self.marked(file, &format!("at: {name}"))
    }

    /// The line, from 1, that ends with the comment `// mark`.
    pub(crate) fn marked(&self, file: &str, mark: &str) -> u32 {
        let text = fs::read_to_string(self.path(file)).unwrap();
        let comment = format!("// {mark}");
        let index = text.lines().position(|line| line.ends_with(&comment));
        let index = index.unwrap_or_else(|| panic!("`{file}` has no line with `{comment}`"));
        u32::try_from(index).unwrap() + 1
    }
}

/// Copies what is under version control: no build folders and lock files.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        if name == "target" || name == "Cargo.lock" {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &to.join(name));
        } else {
            fs::copy(entry.path(), to.join(name)).unwrap();
        }
    }
}
