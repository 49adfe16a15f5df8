//! Stand-alone repros: scripts that make a test fail as in a finding, with plain cargo and a shell.
//!
//! In a finding some order decides. A plain program gets another order by plain means: variables
//! given in another order, a directory on another filesystem; where std itself draws the order it
//! is enough to repeat the run. A repro is kept only if it failed each time, where the test does,
//! while the same test passes in the passing order of the finding.

mod directory;
mod environment;
mod outcome;
mod repeat;
mod script;

use std::time::Duration;

use camino::Utf8PathBuf;
use nondex_core::Family;
use serde::Serialize;

use crate::campaign::StopFlag;
use crate::error::Result;
use crate::findings::Finding;
use crate::project::{BuildPlan, Harness, Project, TestBinary, TestCase};
use crate::report::Culprit;

/// How often a repro is run before it is kept.
pub const VERIFICATIONS: u64 = 5;

/// A finding, and the plain build of its test.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The finding.
    pub finding: &'a Finding,
    /// The executable, a [plain](crate::project::Mode::Plain) one.
    pub binary: &'a TestBinary,
    /// The test.
    pub test: &'a TestCase,
    /// The project that it was built from.
    pub project: &'a Project,
    /// How it was built.
    pub plan: &'a BuildPlan,
    /// How many of how many plain runs failed.
    pub plain: (u64, u64),
    /// The time limit of one run of the test.
    pub timeout: Duration,
    /// Whether to stop.
    pub stop: &'a StopFlag,
}

/// What came of the attempt to reproduce what one culprit does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repro {
    /// The id of the finding.
    pub finding: String,
    /// The culprit, `std::fs::read_dir at src/lib.rs:4`.
    pub culprit: String,
    /// Its family.
    pub family: Family,
    /// The script, when it reproduces the failure.
    pub script: Option<Utf8PathBuf>,
    /// How many of its runs failed, where the finding does.
    pub failures: u64,
    /// How many there were.
    pub runs: u64,
    /// What the script does, or why there is none.
    pub explanation: String,
}

/// What a family's module has found.
enum Reproduction {
    /// A script that fails each time, and what it does.
    Script(Utf8PathBuf, String),
    /// Why there is none.
    Nothing(String),
}

impl Subject<'_> {
    /// Tries to reproduce what each culprit of the finding does, one of each family. Takes some
    /// runs of the test. Writes into `<target>/nondex/repros/<id>`, and replaces what is there.
    ///
    /// # Errors
    /// When files cannot be written or programs not be started.
    pub fn reproduce(&self) -> Result<Vec<Repro>> {
        let mut repros: Vec<Repro> = Vec::new();
        for (culprit, text) in self.finding.culprits.iter().zip(self.finding.culprit_texts()) {
            let done = repros.iter().any(|repro| {
                repro.family == culprit.family && (repro.script.is_some() || repro.culprit == text)
            });
            if done || self.stop.is_set() {
                continue;
            }
            let (script, explanation) = match self.found(culprit)? {
                Reproduction::Script(path, explanation) => (Some(path), explanation),
                Reproduction::Nothing(reason) => (None, reason),
            };
            let runs = if script.is_some() { VERIFICATIONS } else { 0 };
            repros.push(Repro {
                finding: self.finding.id.clone(),
                culprit: text,
                family: culprit.family,
                script,
                failures: runs,
                runs,
                explanation,
            });
        }
        Ok(repros)
    }

    fn found(&self, culprit: &Culprit) -> Result<Reproduction> {
        let (failures, runs) = self.plain;
        if self.plan.target.is_some() || !self.binary.runner.is_empty() {
            return Ok(Reproduction::Nothing(
                "scripts for another target or a target runner are not written".to_owned(),
            ));
        }
        if self.binary.harness == Harness::Doctest {
            return Ok(Reproduction::Nothing(
                "scripts for doctests are not written: cargo builds them only to run them"
                    .to_owned(),
            ));
        }
        match culprit.family {
            Family::Directory => self.directory(),
            _ if runs == 0 => Ok(Reproduction::Nothing("no plain run was made".to_owned())),
            // A script that fails would show nothing.
            _ if failures == runs => Ok(Reproduction::Nothing(
                "every plain run fails: plain `cargo test` shows it".to_owned(),
            )),
            Family::HashMap | Family::HashSet | Family::HashKeys | Family::Entropy => self.repeat(),
            _ if failures > 0 => self.repeat(),
            Family::FixedHasher => Ok(Reproduction::Nothing(
                "a fixed hasher gives std's collections the same order in every run: only a change \
                 of the sources gives them another"
                    .to_owned(),
            )),
            Family::Environment => self.environment(culprit),
            _ => Ok(Reproduction::Nothing(
                "nothing that a script can do makes this choice differently".to_owned(),
            )),
        }
    }

    /// Where the files of one repro are.
    fn folder(&self, name: &str) -> Utf8PathBuf {
        self.project.target_dir.join("nondex/repros").join(&self.finding.id).join(name)
    }
}
