//! A project under test: a copy in a temporary folder, so that no run sees what another one left.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, Once, PoisonError};

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
    /// None if it is shared: nothing in a static is dropped.
    _temporary: Option<TempDir>,
    root: PathBuf,
}

impl Fixture {
    /// A copy of `tests/fixtures/<name>`.
    pub(crate) fn new(name: &str) -> Self {
        Self::copy(&repository().join("tests/fixtures").join(name))
    }

    /// The one copy of `tests/fixtures/<name>` of this process. It is built once for all tests that
    /// take it, so they do not change it, and look at no report but their own.
    pub(crate) fn shared(name: &str) -> &'static Self {
        static SHARED: Mutex<BTreeMap<String, &'static Fixture>> = Mutex::new(BTreeMap::new());
        // A failed test poisons the lock, and leaves the map whole.
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.entry(name.to_owned()).or_insert_with(|| {
            let root = shared_folder().join(name);
            copy_folder(&repository().join("tests/fixtures").join(name), &root);
            let fixture = Fixture { _temporary: None, root: root.canonicalize().unwrap() };
            Box::leak(Box::new(fixture))
        })
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

    /// Lets a plain build of a linked project share what it compiles of other packages with the
    /// build of these tests, whose profile it takes.
    pub(crate) fn share_build(&self, build: &mut Command) {
        let workspace = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
        let profile = &workspace[workspace.find("\n[profile.dev]").unwrap()..];
        let manifest = fs::read_to_string(self.path("Cargo.toml")).unwrap();
        if !manifest.contains(profile) {
            fs::write(self.path("Cargo.toml"), manifest + profile).unwrap();
        }
        let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        build.env("CARGO_BUILD_BUILD_DIR", shared);
    }

    fn copy(from: &Path) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        // Cargo resolves links; the paths that are compared must be the ones it prints.
        let root = temporary.path().canonicalize().unwrap();
        copy_folder(from, &root);
        Fixture { _temporary: Some(temporary), root }
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

/// The folder of this process for shared copies. Those of processes that have ended are removed.
fn shared_folder() -> PathBuf {
    static SWEPT: Once = Once::new();
    let all = std::env::temp_dir().join("cargo-nondex-fixtures");
    SWEPT.call_once(|| {
        for folder in fs::read_dir(&all).into_iter().flatten().flatten() {
            if !Path::new("/proc").join(folder.file_name()).exists() {
                // Another process may be removing it, too.
                let _ = fs::remove_dir_all(folder.path());
            }
        }
    });
    all.join(std::process::id().to_string())
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
