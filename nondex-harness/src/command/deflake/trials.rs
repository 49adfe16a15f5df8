//! What tests run.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;

use super::Session;
use crate::campaign::launch::Launcher;
use crate::judge::specs::clean_spec;
use crate::project::Project;
use crate::project::coverage::{Blocks, SourceLine};
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
    programs: BTreeMap<Utf8PathBuf, Blocks>,
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
        let suite = self
            .project
            .suites
            .iter()
            .find(|suite| suite.binary.id == test.binary);
        let found = suite.and_then(|suite| {
            let case = suite.tests.iter().find(|case| case.name == test.name)?;
            Some((suite, case))
        });
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
            // A doctest's own code is compiled by rustdoc, and what it is stands in a comment.
            trial.is_known = case.doctest.is_none()
                && run
                    .covered
                    .iter()
                    .any(|covered| covered.program == own.as_str());
            for covered in &*run.covered {
                let blocks = self.blocks(covered.program.as_str().into());
                for block in &covered.blocks {
                    trial.lines.extend(blocks.lines(*block).iter().cloned());
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

    fn blocks(&mut self, program: Utf8PathBuf) -> &Blocks {
        let read = |program: &Utf8PathBuf| Blocks::of(program).unwrap_or_default();
        let blocks = read_once(&mut self.programs, program, read);
        &*blocks
    }

    /// Every line that was compiled.
    pub(super) fn compiled(&self) -> BTreeSet<SourceLine> {
        self.programs
            .values()
            .flat_map(Blocks::all)
            .cloned()
            .collect()
    }
}

fn read_once(
    programs: &mut BTreeMap<Utf8PathBuf, Blocks>,
    program: Utf8PathBuf,
    read: impl FnOnce(&Utf8PathBuf) -> Blocks,
) -> &mut Blocks {
    let blocks = match programs.contains_key(&program) {
        true => None,
        false => Some(read(&program)),
    };
    programs
        .entry(program)
        .or_insert_with(|| blocks.unwrap_or_default())
}
