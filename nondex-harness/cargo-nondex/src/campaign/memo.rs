//! Stored runs of a test that depends on choices, with which a later search continues.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::RunSpec;
use serde::{Deserialize, Serialize};

use crate::atomic_file;
use crate::error::Result;
use crate::judge::{Evidence, Run};
use crate::report::id;

/// Version of [`Memo`].
pub const SCHEMA: u32 = 2;

/// Runs of one test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memo {
    /// Version, which is [`SCHEMA`].
    pub schema: u32,
    /// Id of the test.
    pub test: String,
    /// Runs with their specs, in the order in which they were made.
    pub runs: Vec<(RunSpec, Run)>,
}

impl Memo {
    /// Returns the runs of a test until now.
    pub fn new(test: &str, evidence: &Evidence) -> Self {
        let runs = evidence.all();
        Memo {
            schema: SCHEMA,
            test: test.to_owned(),
            runs: runs.map(|(spec, run)| (spec.clone(), run.clone())).collect(),
        }
    }

    /// Returns the path of the stored runs of the search for the failing `spec` of a test. `run` is
    /// the directory of a campaign's run.
    pub fn path(run: &Utf8Path, test: &str, spec: &RunSpec) -> Utf8PathBuf {
        run.join("searches").join(format!("{}.json", id::of(test, spec)))
    }

    /// Writes the runs.
    ///
    /// # Errors
    /// Returns a set-up error with the path.
    pub fn write(&self, path: &Utf8Path) -> Result<()> {
        let json = serde_json::to_vec(self).expect("no map of a run has other keys than strings");
        atomic_file::text(path, &json)
    }

    /// Reads the runs. Returns `None` if the file does not exist, is damaged, or has another
    /// version.
    pub fn read(path: &Utf8Path) -> Option<Self> {
        let memo: Memo = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        (memo.schema == SCHEMA).then_some(memo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::simulation::run;

    #[test]
    fn runs_are_read_back_as_they_were_written_and_a_damaged_file_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let directory = Utf8Path::from_path(directory.path()).unwrap();
        let mut evidence = Evidence::new(true);
        let spec = RunSpec::new("t", nondex_core::Level::Eq, 3);
        evidence.add(spec.clone(), run(false, [1, 2]));
        let memo = Memo::new("a$t", &evidence);
        let path = Memo::path(directory, "a$t", &spec);
        assert_eq!(Memo::read(&path), None);
        memo.write(&path).unwrap();
        assert_eq!(Memo::read(&path), Some(memo));
        fs::write(&path, "{\"schema\": 1").unwrap();
        assert_eq!(Memo::read(&path), None);
    }
}
