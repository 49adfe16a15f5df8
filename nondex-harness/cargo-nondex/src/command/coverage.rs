//! What tests ran, and what those of a campaign ran in all their runs together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::CoveredRecord;

use super::reads::Reads;
use crate::campaign::Selected;
use crate::project::blocks::{Blocks, SourceLine};

/// The executables that tests ran, each read once.
#[derive(Debug, Default)]
pub(super) struct Programs {
    /// Nothing for one that cannot be read.
    known: BTreeMap<String, Option<Blocks>>,
    /// Every line of them.
    pub(super) compiled: BTreeSet<SourceLine>,
}

impl Programs {
    /// Reads a program, the first time. Nothing if it cannot be read.
    fn read(&mut self, program: &str) -> Option<&Blocks> {
        if !self.known.contains_key(program) {
            let read = Blocks::of(program.into()).ok();
            let all = read.iter().flat_map(Blocks::all);
            self.compiled.extend(all.cloned());
            self.known.insert(program.to_owned(), read);
        }
        self.known[program].as_ref()
    }

    /// Adds the lines of these blocks of a program to `lines`. Whether it can be read.
    pub(super) fn add<'b>(
        &mut self,
        program: &str,
        blocks: impl IntoIterator<Item = &'b u64>,
        lines: &mut BTreeSet<SourceLine>,
    ) -> bool {
        let Some(known) = self.read(program) else { return false };
        let of_blocks = blocks.into_iter().flat_map(|block| known.lines(*block));
        lines.extend(of_blocks.cloned());
        true
    }
}

/// Whether a test's own executable said what it ran.
pub(super) fn is_told(own: &Utf8Path, covered: &[CoveredRecord]) -> bool {
    // A process knows itself by a path without links.
    let own = own.canonicalize_utf8();
    let mut programs = covered.iter().filter(|covered| !covered.is_lost);
    own.is_ok_and(|own| programs.any(|covered| covered.program == own.as_str()))
}

/// What the tests of a campaign run, while it goes on.
#[derive(Debug)]
pub(super) struct Coverage {
    /// The executable of each test that can say what it runs, by the test's id.
    own: BTreeMap<String, Utf8PathBuf>,
    ran: Mutex<BTreeMap<String, Ran>>,
    /// What they open; none where the system cannot say it.
    reads: Mutex<Option<Reads>>,
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
    /// The files and folders of the repository that were opened while each of them ran.
    pub(super) opened: BTreeMap<String, BTreeSet<String>>,
    pub(super) compiled: BTreeSet<SourceLine>,
}

impl Coverage {
    /// Nothing yet of these tests.
    pub(super) fn new(selected: &[Selected<'_>], reads: Option<Reads>) -> Self {
        let tests = selected
            .iter()
            .flat_map(|selected| selected.tests.iter().map(|(case, _)| (selected.suite, case)));
        // What a doctest is stands in a comment, which makes no difference to what other tests run.
        let own = tests.filter(|(_, case)| case.doctest.is_none()).map(|(suite, case)| {
            let executable = suite.binary.executable_of(case);
            (suite.test_id(case), executable.to_owned())
        });
        Coverage { own: own.collect(), ran: Mutex::default(), reads: Mutex::new(reads) }
    }

    fn reads(&self, tell: impl FnOnce(&mut Reads)) {
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reads) = reads.as_mut() {
            tell(reads);
        }
    }

    /// A run of a test begins.
    pub(super) fn begin(&self, test: &str) {
        self.reads(|reads| reads.begin(test));
    }

    /// It is over.
    pub(super) fn end(&self, test: &str) {
        self.reads(|reads| reads.end(test));
    }

    /// Adds what a run of a test ran.
    pub(super) fn add(&self, test: &str, covered: &[CoveredRecord]) {
        let mut ran = self.ran.lock().unwrap_or_else(PoisonError::into_inner);
        let ran = ran.entry(test.to_owned()).or_default();
        let own = self.own.get(test);
        ran.is_lost |= !own.is_some_and(|own| is_told(own, covered));
        for covered in covered {
            ran.is_lost |= covered.is_lost;
            ran.blocks.entry(covered.program.clone()).or_default().extend(&covered.blocks);
        }
    }

    /// The lines of each test, but for those of which something is lost.
    pub(super) fn lines(self) -> Lines {
        let mut programs = Programs::default();
        let mut found = BTreeMap::new();
        let reads = self.reads.into_inner().unwrap_or_else(PoisonError::into_inner);
        let opened = reads.and_then(Reads::found);
        let ran = self.ran.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (test, ran) in ran {
            let mut lines = BTreeSet::new();
            let mut is_lost = ran.is_lost || opened.is_none();
            for (program, blocks) in &ran.blocks {
                is_lost |= !programs.add(program, blocks, &mut lines);
            }
            if !is_lost {
                found.insert(test, lines);
            }
        }
        Lines { ran: found, opened: opened.unwrap_or_default(), compiled: programs.compiled }
    }
}
