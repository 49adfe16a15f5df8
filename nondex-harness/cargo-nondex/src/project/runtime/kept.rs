//! Manifest of a runtime in the cache, which shows whether the runtime is complete and undamaged.

use std::fs;
use std::os::unix::fs::MetadataExt;

use camino::Utf8Path;
use nondex_core::hash;
use serde::{Deserialize, Serialize};

use super::Runtime;

/// Prefix of the file name of the library that is loaded before libc in the programs that tests
/// start.
const PRELOAD: &str = "libnondex_preload.";

/// File that marks a built runtime as complete.
const MANIFEST: &str = "runtime.json";

/// Manifest of a runtime in the cache, with the file names of its libraries.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct RuntimeManifest {
    std: String,
    test: String,
    preload: Option<String>,
    libraries: Vec<Library>,
}

/// Library in the cache, with its expected state. A library with the same length and modification
/// time is not read. With another time, its content decides, because copying a cache changes times.
#[derive(Debug, Serialize, Deserialize)]
struct Library {
    name: String,
    length: u64,
    /// Modification time, in seconds since 1970.
    modified: i64,
    /// Hash of the content.
    content: u64,
}

impl RuntimeManifest {
    /// Copies the libraries that cargo built in `built` to `home`.
    ///
    /// # Errors
    /// Returns a message if a file cannot be copied, or a library is missing.
    pub(super) fn collect(built: &Utf8Path, home: &Utf8Path) -> Result<Self, String> {
        let mut manifest = RuntimeManifest::default();
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

    /// Copies a library to `home`, and adds it to the manifest.
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

    /// Writes the manifest to `home`, which marks the runtime there as complete.
    pub(super) fn write(&self, home: &Utf8Path) -> std::io::Result<()> {
        let text = serde_json::to_string(self).expect("a manifest has no map");
        fs::write(home.join(MANIFEST), text)
    }

    /// Returns whether `home` has a manifest.
    pub(super) fn is_in(home: &Utf8Path) -> bool {
        home.join(MANIFEST).is_file()
    }

    /// Returns the key of the content of the libraries. `key` is the key of the runtime.
    fn content(&self, key: &str) -> String {
        let contents: Vec<u64> = self.libraries.iter().map(|one| one.content).collect();
        format!("{key}-{:016x}", hash::of(&contents))
    }
}

impl Library {
    /// Returns whether the library in `home` is unchanged.
    fn check(&self, home: &Utf8Path) -> std::io::Result<bool> {
        let path = home.join(&self.name);
        let metadata = fs::metadata(&path)?;
        if metadata.len() != self.length {
            return Ok(false);
        }
        Ok(metadata.mtime() == self.modified || content_hash(&fs::read(&path)?) == self.content)
    }
}

/// Loads the runtime in `home`. Returns `None` if the folder does not exist.
///
/// # Errors
/// Returns a message if the runtime is incomplete or damaged.
pub(super) fn load(home: &Utf8Path, key: &str) -> Result<Option<Runtime>, String> {
    let Ok(text) = fs::read_to_string(home.join(MANIFEST)) else {
        return if home.exists() { Err(format!("`{home}` has no {MANIFEST}")) } else { Ok(None) };
    };
    let manifest: RuntimeManifest =
        serde_json::from_str(&text).map_err(|e| format!("{MANIFEST}: {e}"))?;
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
