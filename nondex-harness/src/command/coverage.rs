//! What the tests of a campaign ran, all their runs together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use camino::Utf8PathBuf;
use nondex_core::CoveredRecord;

use crate::campaign::Selected;
use crate::project::coverage::{Blocks, SourceLine};

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
#[derive(Debug, Default)]
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
        // A doctest's own code is compiled by rustdoc, and what it is stands in a comment.
        let own = tests.filter(|(_, case)| case.doctest.is_none());
        let own = own.map(|(suite, case)| {
            let executable = suite.binary.executable_of(case).to_owned();
            (suite.test_id(case), executable)
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
        let own = self.own.get(test);
        let mut programs = covered.iter().map(|covered| covered.program.as_str());
        ran.is_lost |= own.is_none_or(|own| !programs.any(|program| program == own));
        for covered in covered {
            let blocks = ran.blocks.entry(covered.program.clone()).or_default();
            blocks.extend(&covered.blocks);
        }
    }

    /// The lines of each test, but for those of which something is lost.
    pub(super) fn lines(self) -> Lines {
        let mut programs: BTreeMap<String, Option<Blocks>> = BTreeMap::new();
        let mut found = Lines::default();
        let ran = self
            .ran
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        for (test, ran) in ran {
            let mut lines = BTreeSet::new();
            let mut is_lost = ran.is_lost;
            for (program, blocks) in &ran.blocks {
                let known = programs.entry(program.clone()).or_insert_with(|| {
                    let known = Blocks::of(program.as_str().into()).ok()?;
                    found.compiled.extend(known.all().cloned());
                    Some(known)
                });
                match known {
                    Some(known) => {
                        let of_blocks = blocks.iter().flat_map(|block| known.lines(*block));
                        lines.extend(of_blocks.cloned());
                    }
                    None => is_lost = true,
                }
            }
            if !is_lost {
                found.ran.insert(test, lines);
            }
        }
        found
    }
}
