//! Backend of the crate rustix. On Linux, rustix makes system calls without libc, where the runtime
//! cannot observe them. A `--cfg` makes it call libc instead. Both cargo and rustc must have the
//! flag, because rustix then depends on another crate.

use camino::Utf8Path;

use crate::error::Result;
use crate::file;

/// Name of the `cfg` that makes rustix call libc.
pub(super) const CFG: &str = "rustix_use_libc";

/// Crate name of rustix in calls of rustc.
pub(super) const CRATE: &str = "rustix";

/// How rustix, if a workspace depends on it, makes system calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Backend {
    /// As in a plain build: there is no rustix, or its operations are not observed.
    #[default]
    Unchanged,
    /// Through libc.
    Libc,
    /// Without libc, because the crate that it would depend on cannot be fetched.
    Raw,
}

impl Backend {
    /// Returns the part of a build's key that distinguishes backends.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Backend::Unchanged => "",
            Backend::Libc => " rustix through libc",
            Backend::Raw => " rustix by itself",
        }
    }

    /// Returns a note for the user, one sentence, if rustix is not observed.
    pub(super) const fn note(self) -> Option<&'static str> {
        match self {
            Backend::Unchanged | Backend::Libc => None,
            Backend::Raw => Some(
                "the network operations of rustix are not observed: the build that shows them \
                 needs the crate `errno`, which cannot be fetched",
            ),
        }
    }
}

/// Returns how to build rustix in the workspace of this lock file. Does not call `fetch` if the
/// lock file has no rustix. `fetch` returns whether cargo could fetch the dependencies of rustix
/// with libc.
///
/// # Errors
/// Returns an error if the lock file cannot be read.
pub(super) fn backend(lock: &Utf8Path, fetch: impl FnOnce() -> bool) -> Result<Backend> {
    // If there is no lock file, cargo writes one when it fetches.
    if file::read_if_there(lock)?.is_some_and(|text| !is_locked(&text)) {
        return Ok(Backend::Unchanged);
    }
    let fetched = fetch();
    if !file::read_if_there(lock)?.is_some_and(|text| is_locked(&text)) {
        return Ok(Backend::Unchanged);
    }
    Ok(if fetched { Backend::Libc } else { Backend::Raw })
}

fn is_locked(lock: &str) -> bool {
    lock.lines().any(|line| line.trim() == format!("name = \"{CRATE}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_tells_whether_there_is_rustix() {
        let entry = |name| format!("[[package]]\nname = \"{name}\"\nversion = \"1.1.6\"\n");
        assert!(is_locked(&entry("rustix")));
        assert!(is_locked(&entry("rustix").replace('\n', "\r\n")));
        assert!(!is_locked(&entry("rustix-openpty")));
        assert!(!is_locked("dependencies = [\n \"rustix\",\n]\n"));
    }

    #[test]
    fn a_lock_file_that_cannot_be_read_is_an_error_before_and_after_cargo_wrote_it() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Utf8Path::from_path(folder.path()).unwrap().join("Cargo.lock");
        let write = |bytes: &[u8]| std::fs::write(&lock, bytes).unwrap();
        assert_eq!(backend(&lock, || true).unwrap(), Backend::Unchanged);
        let spoilt = backend(&lock, || {
            write(b"\xff");
            true
        });
        assert!(spoilt.unwrap_err().to_string().contains("Cargo.lock"));
        assert!(backend(&lock, || true).is_err());
        write(b"name = \"rustix\"\n");
        assert_eq!(backend(&lock, || true).unwrap(), Backend::Libc);
    }
}
