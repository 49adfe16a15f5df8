//! A built runtime as it is kept in the cache, and how it is known to be whole.

use std::fs;
use std::os::unix::fs::MetadataExt;

use camino::Utf8Path;
use nondex_core::hash;
use serde::{Deserialize, Serialize};

use super::Runtime;

/// The start of the file name of the library that is put before libc in the programs that tests
/// start.
const PRELOAD: &str = "libnondex_preload.";

/// The file that marks a built runtime as complete.
const MANIFEST: &str = "runtime.json";

/// What is kept in the cache.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Manifest {
    std: String,
    test: String,
    preload: Option<String>,
    libraries: Vec<Library>,
}

/// A file of the cache, and how it is known to be whole: at the same length and time it is not
/// read, else its content decides (a cache that was copied or restored has other times).
#[derive(Debug, Serialize, Deserialize)]
struct Library {
    name: String,
    length: u64,
    /// When it was last written, in seconds since 1970.
    modified: i64,
    content: u64,
}

impl Manifest {
    /// Copies the libraries that cargo left in `built` to `home`; an error that names what failed,
    /// or what is missing.
    pub(super) fn collect(built: &Utf8Path, home: &Utf8Path) -> Result<Self, String> {
        let mut manifest = Manifest::default();
        for (dir, extension) in
            [(&built.join("deps"), "rlib"), (&built.to_owned(), std::env::consts::DLL_EXTENSION)]
        {
            let entries =
                dir.read_dir_utf8().map_err(|e| format!("failed to list `{dir}`: {e}"))?;
            for entry in entries.flatten() {
                if entry.path().extension() == Some(extension) {
                    manifest
                        .add(entry.path(), home)
                        .map_err(|e| format!("failed to copy `{}`: {e}", entry.path()))?;
                }
            }
        }
        if manifest.std.is_empty() || manifest.test.is_empty() {
            return Err(format!("cargo left no libstd or libtest in `{built}`"));
        }
        manifest.libraries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(manifest)
    }

    fn add(&mut self, library: &Utf8Path, home: &Utf8Path) -> std::io::Result<()> {
        let name = library.file_name().unwrap_or_default().to_owned();
        let bytes = fs::read(library)?;
        let copy = home.join(&name);
        fs::write(&copy, &bytes)?;
        if name.starts_with("libstd-") {
            self.std.clone_from(&name);
        } else if name.starts_with("libtest-") {
            self.test.clone_from(&name);
        } else if name.starts_with(PRELOAD) {
            self.preload = Some(name.clone());
        }
        self.libraries.push(Library {
            name,
            length: bytes.len() as u64,
            modified: fs::metadata(&copy)?.mtime(),
            content: content_hash(&bytes),
        });
        Ok(())
    }

    /// Writes it into `home`, which makes what is there a whole runtime.
    pub(super) fn write(&self, home: &Utf8Path) -> std::io::Result<()> {
        let text = serde_json::to_string(self).expect("a manifest has no map");
        fs::write(home.join(MANIFEST), text)
    }

    /// Whether there is one in `home`.
    pub(super) fn is_in(home: &Utf8Path) -> bool {
        home.join(MANIFEST).is_file()
    }

    /// Identifies what is in the libraries of the runtime with this key.
    fn content(&self, key: &str) -> String {
        let contents: Vec<u64> = self.libraries.iter().map(|one| one.content).collect();
        format!("{key}-{:016x}", hash::of(&contents))
    }
}

impl Library {
    fn check(&self, home: &Utf8Path) -> std::io::Result<bool> {
        let path = home.join(&self.name);
        let metadata = fs::metadata(&path)?;
        if metadata.len() != self.length {
            return Ok(false);
        }
        Ok(metadata.mtime() == self.modified || content_hash(&fs::read(&path)?) == self.content)
    }
}

/// The runtime in `home`: `None` when there is none, an error that names the problem when it is not
/// whole.
pub(super) fn load(home: &Utf8Path, key: &str) -> Result<Option<Runtime>, String> {
    let Ok(text) = fs::read_to_string(home.join(MANIFEST)) else {
        return if home.exists() { Err(format!("`{home}` has no {MANIFEST}")) } else { Ok(None) };
    };
    let manifest: Manifest = serde_json::from_str(&text).map_err(|e| format!("{MANIFEST}: {e}"))?;
    for library in &manifest.libraries {
        match library.check(home) {
            Ok(true) => {}
            Ok(false) => return Err(format!("{} has changed", library.name)),
            Err(e) => return Err(format!("{}: {e}", library.name)),
        }
    }
    Ok(Some(Runtime {
        key: key.to_owned(),
        content: manifest.content(key),
        std: home.join(manifest.std),
        test: home.join(manifest.test),
        libraries: home.to_owned(),
        preload: manifest.preload.map(|name| home.join(name)),
    }))
}

fn content_hash(bytes: &[u8]) -> u64 {
    let mut hasher = hash::FixedHasher::default();
    std::hash::Hasher::write(&mut hasher, bytes);
    std::hash::Hasher::finish(&hasher)
}
