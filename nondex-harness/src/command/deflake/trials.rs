//! What tests run.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;

use super::Session;
use crate::campaign::launch::Launcher;
use crate::judge::specs::clean_spec;
use crate::project::coverage::{Blocks, SourceLine};
use crate::project::{self, Project};
use crate::report::TestReport;

/// How often a failing test is run until it fails.
const RUNS: usize = 5;

/// What one test ran.
#[derive(Debug, Default)]
pub(super) struct Trial {
    /// The lines.
    pub(super) lines: BTreeSet<SourceLine>,
    /// Whether these are all: not when a process could not say.
    pub(super) is_known: bool,
    /// Whether it passed.
    pub(super) passed: bool,
}

/// A build whose crates tell what they run.
pub(super) struct Trials<'a> {
    project: &'a Project,
    session: &'a Session<'a>,
    /// Those that ran; nothing for one that cannot be read.
    programs: BTreeMap<Utf8PathBuf, Option<Blocks>>,
}

impl<'a> Trials<'a> {
    pub(super) const fn new(project: &'a Project, session: &'a Session<'a>) -> Self {
        Trials {
            project,
            session,
            programs: BTreeMap::new(),
        }
    }

    /// Runs a test; one that is failing until it fails.
    pub(super) fn of(&mut self, test: &TestReport, is_failing: bool) -> Trial {
        let mut trial = Trial::default();
        let found = project::find(&self.project.suites, &test.binary, &test.name);
        let Some((suite, case)) = found else {
            return trial;
        };
        let mut options = self.session.options.of(&test.id).into_owned();
        options.cover = true;
        let records = self.session.directory.records();
        let launcher = Launcher::new(records, options.timeout, self.session.stop);
        let spec = clean_spec(&case.name, &options);
        for _ in 0..if is_failing { RUNS } else { 1 } {
            let Some(run) = launcher.run(&suite.binary, case, &spec) else {
                return Trial::default();
            };
            let own = suite.binary.executable_of(case);
            let mut programs = run.covered.iter().map(|covered| covered.program.as_str());
            // A doctest's own code is compiled by rustdoc, and what it is stands in a comment.
            trial.is_known = case.doctest.is_none() && programs.any(|program| program == own);
            for covered in &*run.covered {
                match self.blocks(covered.program.as_str().into()) {
                    None => trial.is_known = false,
                    Some(known) => {
                        let blocks = covered.blocks.iter();
                        let lines = blocks.flat_map(|block| known.lines(*block));
                        trial.lines.extend(lines.cloned());
                    }
                }
            }
            if !run.passed() {
                trial.passed = false;
                break;
            }
            trial.passed = true;
        }
        trial
    }

    /// The blocks of a program, if it can be read.
    fn blocks(&mut self, program: Utf8PathBuf) -> Option<&Blocks> {
        let program = self.programs.entry(program);
        program
            .or_insert_with_key(|program| Blocks::of(program).ok())
            .as_ref()
    }

    /// Every line that was compiled.
    pub(super) fn compiled(&self) -> BTreeSet<SourceLine> {
        let programs = self.programs.values().flatten();
        programs.flat_map(Blocks::all).cloned().collect()
    }
}
