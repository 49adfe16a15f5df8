//! Directories that are read completely and then listed in the decided order.

use ::std::ffi::OsString;
use ::std::fmt;
use ::std::fs::DirEntry;
use ::std::io;
use ::std::path::Path;
use ::std::vec::IntoIter;

use nondex_core::{Caller, model};

use nondex_core::choice::arrange;

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
