//! Tests that depend on files left by the tests of another binary.
//!
//! The binaries of a project run one after the other and share folders and the folder for temporary
//! files. A binary whose tests leave no files there cannot affect others. After a binary that does
//! leave files, every other binary is run once more. For each test whose outcome changes, a search
//! finds the tests that cause it. Files are restored before each run.

mod files;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use camino::Utf8Path;
use nondex_core::{Execution, RunSpec, StateId};

use super::launch::Launcher;
use super::order::Processes;
use super::state::{BinaryState, PLACE};
use super::tree::Tree;
use crate::judge::Run;
use crate::judge::culprit::subset::smallest;
use crate::judge::order::OrderDependence;
use crate::project::{TestBinary, TestCase};
use crate::report::SharedState;

/// Runs the tests of each binary `before` in a process, then those of the last one, with one empty
/// folder for temporary files. Restores their folders afterwards; changed files are moved to
/// `kept`. Returns the runs of the last process; `None` when it was stopped.
pub fn run_after(
    launcher: &Launcher<'_>,
    limit: Duration,
    before: &[(&TestBinary, Vec<&TestCase>)],
    (binary, tests): (&TestBinary, &[&TestCase]),
    spec: &RunSpec,
    kept: &Utf8Path,
) -> Option<Vec<Run>> {
    let binaries = before.iter().map(|(binary, _)| *binary).chain([binary]);
    let folders = binaries.flat_map(TestBinary::folders);
    let tree = Tree::of(folders.map(Into::into), kept.as_std_path().to_owned());
    let launcher = launcher.clone().noting(tree.written());
    let runs = Launcher::with_fresh(PLACE, |folder| {
        let run = |binary, tests: &[&TestCase], spec: &RunSpec| {
            launcher.experiment(folder, &[limit], binary, tests, spec)
        };
        for (binary, tests) in before {
            let spec = RunSpec {
                test: tests.last()?.name.clone(),
                execution: Execution::default(),
                ..spec.clone()
            };
            run(binary, tests, &spec)?;
        }
        run(binary, tests, spec)
    });
    tree.restore();
    runs
}

/// Maximum number of tests that are left out because they end the process with all tests.
const MAX_CUTS: usize = 5;

/// Maximum number of sets of tests of one binary that are searched for the same difference.
const MAX_SETS: usize = 8;

/// A binary and a test in it, by number.
pub(super) type Test = (usize, usize);

/// A test that depends on tests of other binaries.
pub(super) struct AcrossBinaries {
    pub(super) test: Test,
    pub(super) passes_alone: bool,
    /// The sets of tests that change the outcome, each of one binary: see
    /// [`OrderDependence::sets`].
    pub(super) sets: Vec<Vec<Test>>,
    /// Tests that undo the change when they run in between.
    pub(super) cleaners: Vec<Test>,
    /// Whether the search was completed.
    pub(super) is_complete: bool,
    /// State that the tests share.
    pub(super) state: Vec<SharedState>,
    /// Failure of the test.
    pub(super) run: Run,
}

impl AcrossBinaries {
    /// Converts to a dependence in which the tests of all binaries have consecutive numbers.
    /// `starts` has the first number of each binary.
    pub(super) fn dependence(&self, starts: &[usize]) -> OrderDependence {
        let number = |(binary, test): &Test| starts[*binary] + test;
        let numbers = |tests: &Vec<Test>| tests.iter().map(number).collect();
        OrderDependence {
            passes_alone: self.passes_alone,
            sets: self.sets.iter().map(numbers).collect(),
            cleaners: numbers(&self.cleaners),
            is_complete: self.is_complete,
        }
    }
}

/// The tests of a binary that can run in one process, in their order, and whether they leave files.
struct All {
    tests: Vec<usize>,
    are_left: bool,
}

/// A search for dependences among the binaries of a project.
pub(super) struct Across<'a> {
    /// The tests of each binary.
    pub(super) binaries: &'a [Processes<'a>],
    /// State of each binary, for the lines of accesses.
    pub(super) states: &'a [BinaryState<'a>],
    pub(super) tree: &'a Tree,
    /// Returns the outcome of this test of this binary alone; `None` if that varies, or if the test
    /// is not to be reported.
    pub(super) alone: &'a dyn Fn(usize, usize) -> Option<bool>,
    pub(super) reruns: usize,
    pub(super) questions: usize,
}

/// Called between the tests of the other binary and those of the examined binary.
type Between<'b> = &'b mut dyn FnMut(Option<&Path>);

impl Across<'_> {
    /// Returns the tests that depend on those of another binary; `None` when it was stopped.
    pub(super) fn find(&self) -> Option<Vec<AcrossBinaries>> {
        let mut found: Vec<AcrossBinaries> = Vec::new();
        if self.binaries.len() < 2 {
            return Some(found);
        }
        let all: Vec<All> =
            (0..self.binaries.len()).map(|binary| self.all(binary)).collect::<Option<_>>()?;
        for with in (0..all.len()).filter(|with| all[*with].are_left) {
            for binary in (0..all.len()).filter(|binary| *binary != with) {
                for test in self.suspects(with, &all, binary)? {
                    let test = (binary, test);
                    let sets = self.sets(with, &all[with].tests, test)?;
                    match found.iter_mut().find(|known| known.test == test) {
                        Some(known) => known.sets.extend(sets.0),
                        None => found.extend(self.dependent(sets, &all, test)?),
                    }
                }
            }
        }
        Some(found)
    }

    /// Returns the tests of a binary that can run in one process.
    fn all(&self, binary: usize) -> Option<All> {
        let mut tests: Vec<usize> = (0..self.binaries[binary].tests.len()).collect();
        for _ in 0..=MAX_CUTS {
            let mut are_left = false;
            let mut between = |folder: Option<&Path>| are_left = !self.left(folder).is_empty();
            let runs = self.run(&[(binary, &tests, &[])], &mut between)?;
            match runs[0].iter().position(Run::ends_process) {
                Some(cut) => _ = tests.remove(cut),
                None => return Some(All { tests, are_left }),
            }
        }
        Some(All { tests: Vec::new(), are_left: false })
    }

    /// Returns the tests of `binary` whose outcome in its original order changes when the binary
    /// `with` ran before.
    fn suspects(&self, with: usize, all: &[All], binary: usize) -> Option<Vec<usize>> {
        let own = &all[binary].tests;
        let is_reported = |test: &usize| (self.alone)(binary, *test).is_some();
        if !own.iter().any(is_reported) {
            return Some(Vec::new());
        }
        let before = self.run(&[(binary, own, &[])], &mut |_| ())?;
        let steps: [Step<'_>; 2] = [(with, &all[with].tests, &[]), (binary, own, &[])];
        let after = self.run(&steps, &mut |_| ())?;
        let passed = |test: usize, run: &Run| self.binaries[binary].passed(test, run);
        let pairs = before[0].iter().zip(&after[1]).zip(own);
        let differs =
            pairs.filter(|((before, after), test)| passed(**test, before) != passed(**test, after));
        Some(differs.map(|(_, test)| *test).filter(is_reported).collect())
    }

    /// Returns disjoint sets of tests of another binary that change the outcome of a test, each
    /// without the tests of the sets before. Also returns whether the search was completed.
    fn sets(&self, with: usize, all: &[usize], test: Test) -> Option<(Vec<Vec<Test>>, bool)> {
        let mut sets: Vec<Vec<Test>> = Vec::new();
        let Some(passes_alone) = (self.alone)(test.0, test.1) else { return Some((sets, true)) };
        let mut is_complete = true;
        let mut all = all.to_vec();
        while sets.len() < MAX_SETS && self.always_ends(with, &all, test, !passes_alone, 1)? {
            let smallest = smallest(all.len(), self.questions, |part| {
                let rest = part.kept.iter().rev().map(|place| all[*place]);
                let before: Vec<usize> =
                    all[..part.beginning].iter().copied().chain(rest).collect();
                self.always_ends(with, &before, test, !passes_alone, 1).ok_or(())
            })
            .ok()?;
            let set: Vec<usize> = smallest.elements.iter().map(|place| all[*place]).collect();
            let is_sure = self.always_ends(with, &set, test, !passes_alone, self.reruns)?
                && self.always_ends(with, &[], test, passes_alone, self.reruns)?;
            if !is_sure {
                break;
            }
            is_complete &= smallest.is_complete;
            all.retain(|one| !set.contains(one));
            sets.push(set.iter().map(|one| (with, *one)).collect());
        }
        Some((sets, is_complete))
    }

    /// Describes a test that depends on the first of these sets.
    fn dependent(
        &self,
        (sets, is_complete): (Vec<Vec<Test>>, bool),
        all: &[All],
        test: Test,
    ) -> Option<Option<AcrossBinaries>> {
        let (Some(first), Some(passes_alone)) = (sets.first(), (self.alone)(test.0, test.1)) else {
            return Some(None);
        };
        let with = first[0].0;
        let set: Vec<usize> = first.iter().map(|(_, one)| *one).collect();
        let failing = if passes_alone { &set[..] } else { &[] };
        let run = self.after(with, failing, test)?;
        let (state, files) = self.shared(with, &set, test, passes_alone)?;
        let cleaners =
            if passes_alone { self.cleaners((with, &set), all, test, &files)? } else { Vec::new() };
        Some(Some(AcrossBinaries { test, passes_alone, sets, cleaners, is_complete, state, run }))
    }

    /// Returns whether a test has this outcome after these tests of another binary, in each of a
    /// number of runs.
    fn always_ends(
        &self,
        with: usize,
        before: &[usize],
        test: Test,
        passes: bool,
        times: usize,
    ) -> Option<bool> {
        for _ in 0..times {
            let run = self.after(with, before, test)?;
            if self.binaries[test.0].passed(test.1, &run) != Some(passes) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Returns the run of a test alone in its process, after these tests of the other binary ran in
    /// another process.
    fn after(&self, with: usize, before: &[usize], (binary, test): Test) -> Option<Run> {
        let steps: [Step<'_>; 2] = [(with, before, &[]), (binary, &[test], &[])];
        self.run(&steps, &mut |_| ())?.pop()?.pop()
    }

    /// Returns the files that tests left in the source tree and in the folder for temporary files.
    fn left(&self, folder: Option<&Path>) -> Vec<PathBuf> {
        let mut left: Vec<PathBuf> = folder
            .and_then(|folder| fs::read_dir(folder).ok())
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        left.sort();
        left.extend(self.tree.left());
        left
    }

    /// Runs these processes one after the other, with restored files and one empty folder for
    /// temporary files. Calls `between` after the first one.
    fn run(&self, steps: &[Step<'_>], between: Between<'_>) -> Option<Vec<Vec<Run>>> {
        self.tree.restore();
        let runs = Launcher::with_fresh(PLACE, |folder| {
            let mut runs = Vec::new();
            for (number, (binary, tests, watch)) in steps.iter().enumerate() {
                if number == 1 {
                    between(folder);
                }
                let Some(last) = tests.last() else {
                    runs.push(Vec::new());
                    continue;
                };
                let processes = &self.binaries[*binary];
                let spec = processes.spec(*last).in_order(|tests| {
                    tests.watch = watch.to_vec();
                    tests.lines = true;
                });
                runs.push(processes.run_in(folder, tests, &spec)?);
            }
            if steps.len() == 1 {
                between(folder);
            }
            Some(runs)
        });
        self.tree.restore();
        runs
    }
}

/// Tests of a binary to run in one process, and the state to watch meanwhile.
type Step<'s> = (usize, &'s [usize], &'s [StateId]);
