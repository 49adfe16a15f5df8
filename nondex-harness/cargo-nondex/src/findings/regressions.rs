//! Failures worth keeping, in a committed file, so that later runs on every machine try them first.

use std::collections::BTreeMap;

use camino::Utf8Path;
use nondex_core::{ALGORITHM, Level, Schedule};
use serde::{Deserialize, Serialize};

use super::finding::Finding;
use crate::error::{OrSetup, Result};
use crate::file;
use crate::report::versioned;

/// Default path of the file, relative to the root of the workspace.
pub const DEFAULT_FILE: &str = ".config/nondex-regressions.json";

/// The version of the file.
const SCHEMA: u32 = 1;

/// The content of the file. It has nothing that differs between machines or changes without need,
/// and its entries are sorted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regressions {
    /// A description of the file for its readers.
    #[serde(default)]
    about: String,
    schema: u32,
    /// The entries, sorted by test, level and seed.
    regressions: Vec<Regression>,
}

/// Choices that made a test fail in an earlier run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regression {
    /// The id of the test, `<binary-id>$<test name>`.
    pub test: String,
    /// The level.
    pub level: Level,
    /// The seed.
    pub seed: u64,
    /// How seeds are mapped to orders.
    #[serde(default, skip_serializing_if = "Schedule::is_default")]
    pub schedule: Schedule,
    /// The version of the algorithm: the seed makes these choices only with this version.
    pub algorithm: u32,
    /// The id of the finding.
    pub id: String,
    /// The calls that were responsible when the failure was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub culprits: Vec<String>,
}

impl Regression {
    /// Returns what is tried first in later runs.
    fn choices(&self) -> (&str, Level, u64, Schedule, u32) {
        (&self.test, self.level, self.seed, self.schedule, self.algorithm)
    }
}

/// What determines the choices of a run: the schedule of seeds, the level and the seed.
pub type TriedSeed = (Schedule, Level, u64);

impl Default for Regressions {
    fn default() -> Self {
        Regressions {
            about: "Failures that `cargo nondex` found. `cargo nondex report --export` adds to \
                this file, every run tries \
                    these first. Commit it; remove an entry when its test is gone."
                .to_owned(),
            schema: SCHEMA,
            regressions: Vec::new(),
        }
    }
}

impl Regressions {
    /// Reads the file. Returns no regressions if there is no file.
    ///
    /// # Errors
    /// Returns a set-up error that describes what is wrong with the file.
    pub fn read(path: &Utf8Path) -> Result<Self> {
        let Some(text) = file::read_if_there(path)? else { return Ok(Self::default()) };
        versioned::parse(&text, "a list of regressions", SCHEMA)
            .or_setup(format_args!("failed to read regressions `{path}`"))
    }

    /// Writes the file, and creates its directory if necessary.
    ///
    /// # Errors
    /// Returns a set-up error with the path.
    pub fn write(&self, path: &Utf8Path) -> Result<()> {
        let mut json = serde_json::to_string_pretty(self)
            .expect("regressions have no map with other keys than strings");
        json.push('\n');
        file::write(path, &json)
    }

    /// Adds the findings that a level and a seed reproduce. For each test that depends on choices,
    /// this is the run whose replay line the report shows. Updates the entries of known findings.
    /// Returns the number of new entries.
    pub fn add(&mut self, findings: &[Finding]) -> usize {
        let before = self.regressions.len();
        // Oldest first, because a newer finding with the same choices replaces the entry.
        for finding in findings.iter().rev() {
            let is_reproducible = finding.primary
                && finding.is_reproducible()
                && finding.fingerprint.algorithm == ALGORITHM;
            let Some((level, seed)) = finding.choice().filter(|_| is_reproducible) else {
                continue;
            };
            let regression = Regression {
                test: finding.test.clone(),
                level,
                seed,
                schedule: finding.spec.schedule(),
                algorithm: ALGORITHM,
                id: finding.id.clone(),
                culprits: finding.culprit_texts(),
            };
            match self.regressions.iter_mut().find(|old| old.choices() == regression.choices()) {
                Some(old) => *old = regression,
                None => self.regressions.push(regression),
            }
        }
        self.regressions.sort_by(|a, b| {
            let key = |r: &Regression| (r.level, r.seed, r.algorithm, r.schedule.name());
            a.test.cmp(&b.test).then_with(|| key(a).cmp(&key(b)))
        });
        self.regressions.len() - before
    }

    /// Returns all entries.
    pub fn all(&self) -> &[Regression] {
        &self.regressions
    }

    /// Returns the choices to try, by test id, and the number of outdated entries. Another version
    /// of the algorithm made those, so their seeds no longer reproduce the failure.
    pub fn by_test(&self) -> (BTreeMap<String, Vec<TriedSeed>>, usize) {
        let mut by_test: BTreeMap<String, Vec<TriedSeed>> = BTreeMap::new();
        let mut outdated = 0;
        for regression in &self.regressions {
            if regression.algorithm != ALGORITHM {
                outdated += 1;
            } else {
                let choices = by_test.entry(regression.test.clone()).or_default();
                choices.push((regression.schedule, regression.level, regression.seed));
            }
        }
        (by_test, outdated)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::exit_code::ExitCode;
    use crate::findings::finding::tests::finding;
    use crate::report::Verdict;

    #[test]
    fn the_file_is_the_same_in_whatever_order_findings_come_and_is_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(directory.path()).unwrap().join("a/b.json");
        assert_eq!(Regressions::read(&path).unwrap(), Regressions::default());

        let secondary = Finding { primary: false, ..finding("a", Level::Std, 9) };
        let broken = Finding { verdict: Verdict::Broken, ..finding("c", Level::Std, 9) };
        let mut findings = vec![
            finding("b", Level::Std, 3),
            secondary,
            finding("a", Level::Full, 3),
            broken,
            finding("a", Level::One, 30),
        ];
        let mut regressions = Regressions::default();
        assert_eq!(regressions.add(&findings), 3);
        regressions.write(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(Regressions::read(&path).unwrap(), regressions);

        findings.reverse();
        let mut again = Regressions::read(&path).unwrap();
        assert_eq!(again.add(&findings), 0);
        again.write(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        let tests: Vec<_> = again.all().iter().map(|r| (r.test.as_str(), r.level)).collect();
        assert_eq!(tests, [("a$a", Level::One), ("a$a", Level::Full), ("a$b", Level::Std)]);
    }

    #[test]
    fn one_choice_that_several_options_show_is_one_entry() {
        let mut regressions = Regressions::default();
        let other = Finding { id: "other".to_owned(), ..finding("a", Level::Std, 1) };
        assert_eq!(regressions.add(&[finding("a", Level::Std, 1), other]), 1);
        assert_eq!(regressions.all()[0].id, finding("a", Level::Std, 1).id);
    }

    #[test]
    fn what_another_algorithm_made_is_counted_and_not_tried() {
        let mut regressions = Regressions::default();
        regressions.add(&[finding("a", Level::Std, 1), finding("b", Level::Std, 2)]);
        regressions.regressions[1].algorithm += 1;
        let (by_test, outdated) = regressions.by_test();
        assert_eq!((by_test.len(), outdated), (1, 1));
        assert_eq!(by_test["a$a"], [(Schedule::Covering, Level::Std, 1)]);
    }

    #[test]
    fn a_damaged_file_is_an_error_that_says_what_is_wrong() {
        let directory = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(directory.path()).unwrap().join("r.json");
        for (text, part) in [
            ("<<<<<<< HEAD", "it is not JSON"),
            ("{}", "it has no `schema`, expected 1"),
            (r#"{"schema": 7}"#, "its schema is 7, "),
            (r#"{"schema": 1, "regressions": [{"test": "a$b"}]}"#, "missing field `level`"),
        ] {
            fs::write(&path, text).unwrap();
            let error = Regressions::read(&path).unwrap_err();
            assert_eq!(error.code(), ExitCode::Setup);
            let message = error.to_string();
            assert!(message.contains(part) && message.contains(path.as_str()), "{message}");
        }
    }
}
