//! The store of findings: `<target>/nondex/findings/<id>.json`.

use std::fs;
use std::time::SystemTime;

use camino::{Utf8Path, Utf8PathBuf};

use super::finding::{Finding, SCHEMA};
use super::named::choose;
use crate::atomic_file;
use crate::error::{Error, OrSetup, Result};
use crate::file;
use crate::report::versioned;

/// Maximum number of findings that are kept. Writing new ones deletes the oldest above this limit.
pub const KEPT_FINDINGS: usize = 1000;

/// The findings in a target directory.
#[derive(Clone, Debug)]
pub struct FindingStore {
    directory: Utf8PathBuf,
}

impl FindingStore {
    /// Returns the store in a project's target directory, which need not exist.
    pub fn new(target: &Utf8Path) -> Self {
        FindingStore { directory: target.join("nondex/findings") }
    }

    /// Returns the directory of the store.
    pub fn directory(&self) -> &Utf8Path {
        &self.directory
    }

    /// Creates the directory.
    ///
    /// # Errors
    /// Returns a set-up error with the path.
    pub fn create(&self) -> Result<()> {
        file::create_folder(&self.directory)
    }

    /// Writes each finding atomically, replaces earlier findings with the same ids, and deletes the
    /// oldest beyond [`KEPT_FINDINGS`].
    ///
    /// # Errors
    /// Returns a set-up error with the path when a file cannot be written.
    pub fn write(&self, findings: &[Finding]) -> Result<()> {
        if findings.is_empty() {
            return Ok(());
        }
        for finding in findings {
            atomic_file::json(&self.path(&finding.id), finding)?;
        }
        self.delete_old();
        Ok(())
    }

    /// Returns all findings, the newest first, and a sentence about each unreadable file. Within
    /// one run, the findings whose replay line the report shows come first.
    ///
    /// # Errors
    /// Returns an error when the directory cannot be read. A missing directory is not an error.
    pub fn all(&self) -> Result<(Vec<Finding>, Vec<String>)> {
        let mut findings = Vec::new();
        let mut damaged = Vec::new();
        for path in file::list_json(&self.directory)? {
            match read(&path) {
                Ok(finding) => findings.push(finding),
                Err(error) => damaged.push(error.to_string()),
            }
        }
        findings.sort_by(|a: &Finding, b: &Finding| {
            let newest_first = (b.found, b.primary).cmp(&(a.found, a.primary));
            let name = |one: &Finding| (one.test.clone(), one.choice(), one.id.clone());
            newest_first.then_with(|| name(a).cmp(&name(b)))
        });
        Ok((findings, damaged))
    }

    /// Returns the finding that `text` [selects](choose).
    ///
    /// # Errors
    /// Returns a usage error when there is no such finding or several. Returns a set-up error when
    /// the file of the finding is damaged.
    pub fn find(&self, text: &str) -> Result<Finding> {
        let exact = self.path(text);
        if file::list_json(&self.directory)?.contains(&exact) {
            return read(&exact);
        }
        let (findings, _) = self.all()?;
        if let Some(found) = choose(&findings, text)? {
            return Ok(found.clone());
        }
        let folder = &self.directory;
        Err(Error::usage(if findings.is_empty() {
            format!("there is no finding in `{folder}`: run `cargo nondex` first")
        } else {
            format!("no finding `{text}` in `{folder}`; `cargo nondex report --list` lists them")
        }))
    }

    fn path(&self, id: &str) -> Utf8PathBuf {
        self.directory.join(format!("{id}.json"))
    }

    /// Deletes the oldest findings above the limit. Ignores errors, since a surplus file only takes
    /// space.
    fn delete_old(&self) {
        let Ok(files) = file::list_json(&self.directory) else { return };
        let Some(surplus) = files.len().checked_sub(KEPT_FINDINGS).filter(|n| *n > 0) else {
            return;
        };
        let mut files: Vec<(SystemTime, Utf8PathBuf)> = files
            .into_iter()
            .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
            .collect();
        files.sort();
        for (_, path) in files.iter().take(surplus) {
            let _ = fs::remove_file(path);
        }
    }
}

fn read(path: &Utf8Path) -> Result<Finding> {
    fs::read_to_string(path)
        .map_err(|e| e.to_string())
        .and_then(|text| versioned::parse(&text, "a finding", SCHEMA))
        .or_setup(format_args!("failed to read the finding `{path}`"))
}

#[cfg(test)]
mod tests {
    use nondex_core::Level;

    use super::*;
    use crate::exit_code::ExitCode;
    use crate::findings::finding::tests::finding;

    fn store() -> (tempfile::TempDir, FindingStore) {
        let directory = tempfile::tempdir().unwrap();
        let store = FindingStore::new(Utf8Path::from_path(directory.path()).unwrap());
        (directory, store)
    }

    #[test]
    fn findings_are_read_back_as_they_were_written_newest_and_most_telling_first() {
        let (_directory, store) = store();
        assert_eq!(store.all().unwrap(), (vec![], vec![]));
        for text in ["latest", "a"] {
            let error = store.find(text).unwrap_err().to_string();
            assert!(error.contains("run `cargo nondex` first"), "{error}");
        }
        let old = finding("a", Level::Std, 1);
        let other = Finding { found: 2, primary: false, ..finding("a", Level::Std, 2) };
        let primary = Finding { found: 2, ..finding("z", Level::Full, 3) };
        let all = [old.clone(), other.clone(), primary.clone()];
        store.write(&all).unwrap();
        store.write(std::slice::from_ref(&old)).unwrap();
        let expected = vec![primary.clone(), other.clone(), old.clone()];
        assert_eq!(store.all().unwrap(), (expected, vec![]));
        assert_eq!(store.find("latest").unwrap(), primary);
        assert_eq!(store.find(&old.id).unwrap(), old);
        assert_eq!(store.find(&old.id[..6]).unwrap(), old);
        let files = fs::read_dir(store.directory()).unwrap();
        assert_eq!(files.count(), 3, "no temporary file is left");
    }

    #[test]
    fn what_is_not_there_or_not_clear_is_a_usage_error() {
        let (_directory, store) = store();
        let code = |text| {
            let error = store.find(text).unwrap_err();
            (error.code(), error.to_string())
        };
        for text in ["latest", "00000000", ""] {
            assert_eq!(code(text).0, ExitCode::Usage, "{text}");
        }
        let findings: Vec<Finding> = (0..40).map(|s| finding("a", Level::Std, s)).collect();
        store.write(&findings).unwrap();
        let first = |digit: char| findings.iter().filter(|f| f.id.starts_with(digit)).count();
        let shared = "0123456789abcdefghjkmnpqrstvwxyz".chars().find(|d| first(*d) > 1);
        let digit = shared.expect("40 findings, 32 digits").to_string();
        assert!(code(&digit).1.contains("several findings"), "{:?}", code(&digit));
        assert!(code("uuuu").1.contains("report --list"));
    }

    #[test]
    fn a_damaged_file_is_named_and_hides_no_other() {
        let (_directory, store) = store();
        let good = finding("a", Level::Std, 1);
        store.write(std::slice::from_ref(&good)).unwrap();
        for (id, text, part) in [
            ("empty", "", "it is not JSON"),
            ("cut", "{\"schema\": 3, ", "it is not JSON"),
            ("old", "{}", "it has no `schema`, expected 3"),
            ("new", "{\"schema\": 4}", "its schema is 4, "),
            ("partial", "{\"schema\": 3}", "not a finding of schema 3"),
        ] {
            let path = store.directory().join(format!("{id}.json"));
            fs::write(&path, text).unwrap();
            let error = store.find(id).unwrap_err();
            assert_eq!(error.code(), ExitCode::Setup);
            let message = error.to_string();
            assert!(message.contains(part) && message.contains(path.as_str()), "{message}");
        }
        let (findings, damaged) = store.all().unwrap();
        assert_eq!((findings, damaged.len()), (vec![good], 5));
    }

    #[test]
    fn only_so_many_are_kept() {
        let (_directory, store) = store();
        let many: Vec<Finding> =
            (0..KEPT_FINDINGS as u64 + 5).map(|seed| finding("a", Level::Std, seed)).collect();
        store.write(&many).unwrap();
        assert_eq!(file::list_json(store.directory()).unwrap().len(), KEPT_FINDINGS);
    }
}
