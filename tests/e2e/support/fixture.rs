//! Project under test: a copy in a temporary folder, so that no run sees the files of another one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, Once, PoisonError};

use tempfile::TempDir;

/// Returns the root of the repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the package is in the repository")
}

/// Copy of a project, removed when dropped.
#[derive(Debug)]
pub(crate) struct Fixture {
    /// `None` for a shared copy: statics are never dropped.
    _temporary: Option<TempDir>,
    root: PathBuf,
}

impl Fixture {
    /// Copies `tests/fixtures/<name>`.
    pub(crate) fn new(name: &str) -> Self {
        Self::copy(&repository().join("tests/fixtures").join(name))
    }

    /// Returns the one copy of `tests/fixtures/<name>` of this process. It is built once for all
    /// tests that use it. So they must not change it, and must read only their own report.
    pub(crate) fn shared(name: &str) -> &'static Self {
        static SHARED: Mutex<BTreeMap<String, &'static Fixture>> = Mutex::new(BTreeMap::new());
        // A panic under the lock poisons it, but leaves the map consistent.
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.entry(name.to_owned()).or_insert_with(|| {
            let root = shared_folder().join(name);
            copy_folder(&repository().join("tests/fixtures").join(name), &root);
            let fixture = Fixture { _temporary: None, root: root.canonicalize().unwrap() };
            Box::leak(Box::new(fixture))
        })
    }

    /// Copies `examples/<name>`. The copy still finds the packages of this repository.
    pub(crate) fn example(name: &str) -> Self {
        Self::linked(&format!("examples/{name}"))
    }

    /// Copies the project in this folder of the repository. The copy still finds the packages of
    /// this repository.
    pub(crate) fn linked(folder: &str) -> Self {
        let up = "../".repeat(folder.split('/').count());
        let fixture = Self::copy(&repository().join(folder));
        let manifest = fixture.path("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        let own = format!("path = \"{}/", repository().display());
        fs::write(manifest, text.replace(&format!("path = \"{up}"), &own)).unwrap();
        // The build is offline: only the versions that this repository was built with are certainly
        // available.
        fs::copy(repository().join("Cargo.lock"), fixture.path("Cargo.lock")).unwrap();
        fixture
    }

    /// Lets a plain build of a linked project share compiled packages with the build of these
    /// tests. For this, the project gets the profile of the workspace.
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
        // Cargo prints paths with symbolic links resolved, and tests compare them.
        let root = temporary.path().canonicalize().unwrap();
        copy_folder(from, &root);
        Fixture { _temporary: Some(temporary), root }
    }

    /// Returns a path in the copy.
    pub(crate) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// Writes a file of the copy, and makes the folders around it.
    pub(crate) fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns the line, from 1, that ends with the comment `// at: name`.
    pub(crate) fn line(&self, file: &str, name: &str) -> u32 {
        self.marked(file, &format!("at: {name}"))
    }

    /// Returns the line, from 1, that ends with the comment `// mark`.
    pub(crate) fn marked(&self, file: &str, mark: &str) -> u32 {
        let text = fs::read_to_string(self.path(file)).unwrap();
        let comment = format!("// {mark}");
        let index = text
            .lines()
            .position(|line| line.ends_with(&comment))
            .unwrap_or_else(|| panic!("`{file}` has no line with `{comment}`"));
        u32::try_from(index).unwrap() + 1
    }
}

/// Returns the folder of this process for shared copies. Removes the folders of processes that have
/// ended.
fn shared_folder() -> PathBuf {
    static SWEPT: Once = Once::new();
    let all = std::env::temp_dir().join("cargo-nondex-fixtures");
    SWEPT.call_once(|| {
        for folder in fs::read_dir(&all).into_iter().flatten().flatten() {
            if !Path::new("/proc").join(folder.file_name()).exists() {
                // Another process may remove the folder at the same time.
                let _ = fs::remove_dir_all(folder.path());
            }
        }
    });
    all.join(std::process::id().to_string())
}

/// Copies a folder without build folders and lock files.
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
