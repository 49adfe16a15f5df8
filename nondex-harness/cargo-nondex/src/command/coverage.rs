//! Coverage: the lines that each test of a campaign ran, over all its runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::CoveredRecord;

use super::file_observer::FileObserver;
use crate::campaign::SelectedTests;
use crate::locked::Locked;
use crate::project::blocks::{Blocks, FileLine};

/// Executables that tests ran. Each is read once.
#[derive(Debug, Default)]
pub(super) struct Programs {
    /// Blocks of each executable, by its path; `None` if it cannot be read.
    known: BTreeMap<String, Option<Blocks>>,
    /// All compiled lines of the executables.
    pub(super) compiled: BTreeSet<FileLine>,
}

impl Programs {
    /// Returns the blocks of a program, which is read on first use. Returns `None` if it cannot be
    /// read.
    fn read(&mut self, program: &str) -> Option<&Blocks> {
        if !self.known.contains_key(program) {
            let read = Blocks::of(program.into()).ok();
            let all = read.iter().flat_map(Blocks::all);
            self.compiled.extend(all.cloned());
            self.known.insert(program.to_owned(), read);
        }
        self.known[program].as_ref()
    }

    /// Adds the lines of these blocks of a program to `lines`. Returns whether the program can be
    /// read.
    pub(super) fn add<'b>(
        &mut self,
        program: &str,
        blocks: impl IntoIterator<Item = &'b u64>,
        lines: &mut BTreeSet<FileLine>,
    ) -> bool {
        let Some(known) = self.read(program) else { return false };
        let of_blocks = blocks.into_iter().flat_map(|block| known.lines(*block));
        lines.extend(of_blocks.cloned());
        true
    }
}

/// Returns whether there is a complete record of what the test's own executable ran.
pub(super) fn has_own_record(own: &Utf8Path, covered: &[CoveredRecord]) -> bool {
    // A process records its own path without symbolic links.
    let own = own.canonicalize_utf8();
    let mut programs = covered.iter().filter(|covered| !covered.is_lost);
    own.is_ok_and(|own| programs.any(|covered| covered.program == own.as_str()))
}

/// Collects what the tests of a campaign run.
#[derive(Debug)]
pub(super) struct Coverage {
    /// Executable of each test that can record what it runs, by the test's id.
    own: BTreeMap<String, Utf8PathBuf>,
    ran: Mutex<BTreeMap<String, Ran>>,
    /// Files that the tests open; `None` if the system cannot report them.
    observer: Mutex<Option<FileObserver>>,
}

/// Blocks that a test ran, by program.
#[derive(Debug, Default)]
struct Ran {
    blocks: BTreeMap<String, BTreeSet<u64>>,
    /// Whether the record of a run is incomplete.
    is_lost: bool,
}

/// Lines that each test ran, and all compiled lines.
#[derive(Debug)]
pub(super) struct CoveredLines {
    /// Lines that each test ran, by its id. Tests with incomplete records are left out.
    pub(super) ran: BTreeMap<String, BTreeSet<FileLine>>,
    /// Files and folders of the repository that were opened while each test ran.
    pub(super) opened: BTreeMap<String, BTreeSet<String>>,
    pub(super) compiled: BTreeSet<FileLine>,
}

impl Coverage {
    /// Starts to collect for these tests.
    pub(super) fn new(selected: &[SelectedTests<'_>], observer: Option<FileObserver>) -> Self {
        let tests = selected.iter().flat_map(SelectedTests::all);
        // The code of a doctest is in a comment. A changed comment does not affect what other tests
        // run, so the lines of a doctest are not tracked.
        let own = tests.filter(|(_, case)| case.doctest.is_none()).map(|(suite, case)| {
            let executable = suite.binary.executable_of(case);
            (suite.test_id(case), executable.to_owned())
        });
        Coverage { own: own.collect(), ran: Mutex::default(), observer: Mutex::new(observer) }
    }

    /// Calls `update` if the system reports opened files.
    fn with_observer(&self, update: impl FnOnce(&mut FileObserver)) {
        if let Some(observer) = self.observer.locked().as_mut() {
            update(observer);
        }
    }

    /// Records that a run of a test begins.
    pub(super) fn begin(&self, test: &str) {
        self.with_observer(|observer| observer.begin(test));
    }

    /// Records that a run of a test ended.
    pub(super) fn end(&self, test: &str) {
        self.with_observer(|observer| observer.end(test));
    }

    /// Adds the blocks that a run of a test ran.
    pub(super) fn add(&self, test: &str, covered: &[CoveredRecord]) {
        let mut all = self.ran.locked();
        let ran = all.entry(test.to_owned()).or_default();
        let own = self.own.get(test);
        ran.is_lost |= !own.is_some_and(|own| has_own_record(own, covered));
        for covered in covered {
            ran.is_lost |= covered.is_lost;
            ran.blocks.entry(covered.program.clone()).or_default().extend(&covered.blocks);
        }
    }

    /// Returns the lines of each test. Leaves out tests with incomplete records.
    pub(super) fn lines(self) -> CoveredLines {
        let mut programs = Programs::default();
        let mut found = BTreeMap::new();
        let opened = self.observer.unlocked().and_then(FileObserver::found);
        for (test, ran) in self.ran.unlocked() {
            let mut lines = BTreeSet::new();
            let mut is_lost = ran.is_lost || opened.is_none();
            for (program, blocks) in &ran.blocks {
                is_lost |= !programs.add(program, blocks, &mut lines);
            }
            if !is_lost {
                found.insert(test, lines);
            }
        }
        CoveredLines { ran: found, opened: opened.unwrap_or_default(), compiled: programs.compiled }
    }
}
