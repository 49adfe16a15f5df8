//! What tests ran, and what those of a campaign ran in all their runs together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use camino::Utf8PathBuf;
use nondex_core::CoveredRecord;

use crate::campaign::Selected;
use crate::project::coverage::{Blocks, SourceLine};
use crate::project::{Suite, TestCase};

/// The executables that tests ran, each read once.
#[derive(Debug, Default)]
pub(super) struct Programs {
    /// Nothing for one that cannot be read.
    known: BTreeMap<String, Option<Blocks>>,
    /// Every line of them.
    pub(super) compiled: BTreeSet<SourceLine>,
}

impl Programs {
    /// Adds the lines of these blocks of a program to `lines`. Whether it can be read.
    pub(super) fn add<'b>(
        &mut self,
        program: &str,
        blocks: impl IntoIterator<Item = &'b u64>,
        lines: &mut BTreeSet<SourceLine>,
    ) -> bool {
        if !self.known.contains_key(program) {
            let read = Blocks::of(program.into()).ok();
            let all = read.iter().flat_map(Blocks::all);
            self.compiled.extend(all.cloned());
            self.known.insert(program.to_owned(), read);
        }
        let Some(known) = &self.known[program] else {
            return false;
        };
        let of_blocks = blocks.into_iter().flat_map(|block| known.lines(*block));
        lines.extend(of_blocks.cloned());
        true
    }
}

/// The executable that says what a test runs. None of a doctest: its own code is compiled by rustdoc, and what it is stands in a comment.
pub(super) fn executable(suite: &Suite, case: &TestCase) -> Option<Utf8PathBuf> {
    let is_doctest = case.doctest.is_some();
    (!is_doctest).then(|| suite.binary.executable_of(case).to_owned())
}

/// Whether a test's own [`executable`] said what it ran.
pub(super) fn is_told(own: Option<&Utf8PathBuf>, covered: &[CoveredRecord]) -> bool {
    let mut programs = covered.iter().map(|covered| covered.program.as_str());
    own.is_some_and(|own| programs.any(|program| program == own))
}

/// What the tests of a campaign run, while it goes on.
#[derive(Debug)]
pub(super) struct Coverage {
    /// The executable of each test that can say what it runs, by the test's id.
    own: BTreeMap<String, Utf8PathBuf>,
    ran: Mutex<BTreeMap<String, Ran>>,
}

/// The blocks that a test ran, by program.
#[derive(Debug, Default)]
struct Ran {
    blocks: BTreeMap<String, BTreeSet<u64>>,
    /// Whether a run could not say it.
    is_lost: bool,
}

/// The lines that each test ran, and those that were compiled.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) ran: BTreeMap<String, BTreeSet<SourceLine>>,
    pub(super) compiled: BTreeSet<SourceLine>,
}

impl Coverage {
    /// Nothing yet of these tests.
    pub(super) fn new(selected: &[Selected<'_>]) -> Self {
        let tests = selected.iter().flat_map(|selected| {
            selected
                .tests
                .iter()
                .map(|(case, _)| (selected.suite, case))
        });
        let own = tests.filter_map(|(suite, case)| {
            let executable = executable(suite, case)?;
            Some((suite.test_id(case), executable))
        });
        Coverage {
            own: own.collect(),
            ran: Mutex::default(),
        }
    }

    /// Adds a run of a test.
    pub(super) fn add(&self, test: &str, covered: &[CoveredRecord]) {
        let mut ran = self.ran.lock().unwrap_or_else(PoisonError::into_inner);
        let ran = ran.entry(test.to_owned()).or_default();
        ran.is_lost |= !is_told(self.own.get(test), covered);
        for covered in covered {
            let blocks = ran.blocks.entry(covered.program.clone()).or_default();
            blocks.extend(&covered.blocks);
        }
    }

    /// The lines of each test, but for those of which something is lost.
    pub(super) fn lines(self) -> Lines {
        let mut programs = Programs::default();
        let mut found = BTreeMap::new();
        let ran = self
            .ran
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        for (test, ran) in ran {
            let mut lines = BTreeSet::new();
            let mut is_lost = ran.is_lost;
            for (program, blocks) in &ran.blocks {
                is_lost |= !programs.add(program, blocks, &mut lines);
            }
            if !is_lost {
                found.insert(test, lines);
            }
        }
        Lines {
            ran: found,
            compiled: programs.compiled,
        }
    }
}
