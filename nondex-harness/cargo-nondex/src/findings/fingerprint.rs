//! Identifies what a test executable was built from, to tell whether a finding is about the same
//! program.

use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read};

use camino::Utf8Path;
use nondex_core::ALGORITHM;
use nondex_core::hash::FixedHasher;
use serde::{Deserialize, Serialize};

/// Number of bytes of a file that are read at once.
const BUFFER: usize = 1 << 20;

/// What determines the behaviour of a run, besides its spec.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The version of the algorithm that turned the seed into choices.
    pub algorithm: u32,
    /// The version text of the toolchain.
    pub toolchain: String,
    /// The hash of `Cargo.lock`; null if it could not be read.
    pub lockfile: Option<String>,
    /// The hash of the test executable; null if it could not be read.
    pub executable: Option<String>,
}

impl Fingerprint {
    /// Takes the fingerprint of an executable in the workspace at `root`, for a run by this version
    /// of the tool. Reads both files.
    pub fn take(root: &Utf8Path, toolchain: &str, executable: &Utf8Path) -> Self {
        Fingerprint {
            algorithm: ALGORITHM,
            toolchain: toolchain.trim().to_owned(),
            lockfile: hash(&root.join("Cargo.lock")).ok(),
            executable: hash(executable).ok(),
        }
    }

    /// Returns the names of what is different in `now`. A file whose hash is unknown in `self`
    /// counts as unchanged. Every other change also changes the executable, so the executable is
    /// named only if there is no other difference.
    pub fn differences(&self, now: &Fingerprint) -> Vec<&'static str> {
        let is_other = |before: &Option<String>, now| before.is_some() && before != now;
        let mut differences: Vec<&str> = [
            (self.algorithm != now.algorithm, "the algorithm that makes choices from a seed"),
            (self.toolchain != now.toolchain, "the toolchain"),
            (is_other(&self.lockfile, &now.lockfile), "Cargo.lock"),
        ]
        .into_iter()
        .filter_map(|(is_there, name)| is_there.then_some(name))
        .collect();
        if differences.is_empty() && is_other(&self.executable, &now.executable) {
            differences.push("the test executable");
        }
        differences
    }
}

/// Returns the hash of a file's content as hexadecimal digits.
fn hash(path: &Utf8Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = FixedHasher::default();
    let mut buffer = Vec::new();
    // The hasher gets whole buffers, because the hash depends on where the content is split.
    while {
        buffer.clear();
        (&mut file).take(BUFFER as u64).read_to_end(&mut buffer)? > 0
    } {
        hasher.write(&buffer);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_that_changed_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(directory.path()).unwrap();
        let executable = root.join("it");
        std::fs::write(&executable, vec![7; BUFFER + 1]).unwrap();
        let before = Fingerprint::take(root, "rustc 1\n", &executable);
        assert_eq!(before.lockfile, None);
        assert!(before.differences(&before).is_empty());

        let newer = Fingerprint::take(root, "rustc 2", &executable);
        assert_eq!(before.differences(&newer), ["the toolchain"]);
        std::fs::write(root.join("Cargo.lock"), "").unwrap();
        let locked = Fingerprint::take(root, "rustc 1", &executable);
        assert!(before.differences(&locked).is_empty(), "it was not known before");
        std::fs::write(root.join("Cargo.lock"), "1").unwrap();
        let relocked = Fingerprint::take(root, "rustc 1", &executable);
        assert_eq!(locked.differences(&relocked), ["Cargo.lock"]);
        std::fs::write(&executable, vec![7; BUFFER + 2]).unwrap();
        let rebuilt = Fingerprint::take(root, "rustc 1", &executable);
        assert_eq!(relocked.differences(&rebuilt), ["the test executable"]);
        let other = Fingerprint { algorithm: ALGORITHM + 1, ..rebuilt.clone() };
        assert_eq!(other.differences(&rebuilt), ["the algorithm that makes choices from a seed"]);
    }
}
