//! Directories that are read completely and then listed in the decided order.

use ::std::ffi::OsString;
use ::std::fmt;
use ::std::fs::DirEntry;
use ::std::io;
use ::std::path::Path;
use ::std::vec::IntoIter;

use nondex_core::{Caller, model};

use nondex_core::choice::arrange;

pub use ::std::fs::{copy, read, read_to_string, remove_dir_all};

/// Mirror of [`::std::fs::read_dir`], in the order that the run decides.
///
/// # Errors
/// As std's.
#[track_caller]
pub fn read_dir<P: AsRef<Path>>(path: P) -> io::Result<ReadDir> {
    ReadDir::open(path.as_ref(), crate::caller::caller())
}

/// Mirror of [`::std::fs::ReadDir`], in the order that the run decides. Errors follow the entries.
pub struct ReadDir {
    entries: IntoIter<(OsString, DirEntry)>,
    errors: IntoIter<io::Error>,
}

impl ReadDir {
    pub(crate) fn open(path: &Path, caller: Caller) -> io::Result<Self> {
        let (mut entries, mut errors) = (Vec::new(), Vec::new());
        for entry in ::std::fs::read_dir(path)? {
            match entry {
                Ok(entry) => entries.push((entry.file_name(), entry)),
                Err(error) => errors.push(error),
            }
        }
        arrange(&mut entries, 0, &model::FS_READ_DIR, caller, |(name, _)| name.as_encoded_bytes());
        Ok(ReadDir { entries: entries.into_iter(), errors: errors.into_iter() })
    }
}

impl Iterator for ReadDir {
    type Item = io::Result<DirEntry>;

    fn next(&mut self) -> Option<io::Result<DirEntry>> {
        self.entries.next().map(|(_, entry)| Ok(entry)).or_else(|| self.errors.next().map(Err))
    }
}

impl fmt::Debug for ReadDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadDir").field(&self.entries.as_slice()).finish()
    }
}

#[cfg(test)]
mod tests {
    use nondex_core::context::{Context, enter};
    use nondex_core::{Level, RunSpec};

    use super::*;

    #[test]
    fn what_the_mirror_replaces_is_there_on_other_systems_too() {
        use crate::system::portable::fs::{copy, read, read_dir, read_to_string, remove_dir_all};
        let folder = ::std::env::temp_dir().join(format!("portable-{}", ::std::process::id()));
        ::std::fs::create_dir(&folder).unwrap();
        let (first, second) = (folder.join("first"), folder.join("second"));
        ::std::fs::write(&first, "text").unwrap();
        copy(&first, &second).unwrap();
        assert_eq!(read(&first).unwrap(), read_to_string(&second).unwrap().into_bytes());
        assert_eq!(read_dir(&folder).unwrap().count(), 2);
        remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_directory_is_listed_whole_in_the_decided_order() {
        let context = Context::new(RunSpec::new("t", Level::Full, 1));
        let _test = enter(&context, "t");
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let list = |here| -> Vec<OsString> {
            let entries = ReadDir::open(here, Caller::here()).unwrap();
            entries.map(|entry| entry.unwrap().file_name()).collect()
        };
        let (first, second) = (list(here), list(here));
        assert!(first.iter().any(|name| name == "Cargo.toml"));
        assert_ne!(first, second, "at FULL every listing is a separate choice");
        let sorted = |mut names: Vec<OsString>| {
            names.sort();
            names
        };
        assert_eq!(sorted(first), sorted(second));
    }
}
