//! Tests that depend on what the tests of another binary leave in files.
//!
//! The binaries of a project run one after the other, in folders and with a folder for temporary
//! files that they share. A binary whose tests leave nothing there, all in one process, changes
//! nothing for others. Behind one that does, every other binary is run once more: what ends
//! otherwise is searched for the tests that make the difference, each time with files as they were
//! before.

mod files;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use camino::Utf8Path;
use nondex_core::{Execution, Outcome, RunSpec, StateId};

use super::launch::Launcher;
use super::order::Processes;
use super::state::{PLACE, States};
use super::tree::Tree;
use crate::judge::culprit::subset::smallest;
use crate::judge::order::{Dependence, End};
use crate::judge::run::Run;
use crate::project::{TestBinary, TestCase};
use crate::report::schema::SharedState;

/// Runs the tests of each binary `before` in a process, then those of the last one, with one empty
/// folder for temporary files. Puts back what they leave in their folders; what was there goes to
/// `kept`. The runs of the last process; `None` when it was stopped.
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

/// Maximum number of tests that end the process of all and are left out.
const MAX_CUTS: usize = 5;

/// Maximum number of sets of tests of one binary that are searched for the same difference.
const MAX_SETS: usize = 8;

/// A test of a binary, each by number.
pub(super) type Test = (usize, usize);

/// A test that depends on tests of other binaries.
pub(super) struct AcrossBinaries {
    pub(super) test: Test,
    pub(super) passes_alone: bool,
    /// The tests that make the difference, each list those of one binary: see [`Dependence::sets`].
    pub(super) sets: Vec<Vec<Test>>,
    /// Those that undo it when they run between.
    pub(super) cleaners: Vec<Test>,
    /// Whether the search came to its end.
    pub(super) is_complete: bool,
    /// What they share.
    pub(super) state: Vec<SharedState>,
    /// How the test failed.
    pub(super) end: End,
}

impl AcrossBinaries {
    /// The same with the tests of all binaries numbered one after the other, where those of each
    /// begin at this number.
    pub(super) fn dependence(&self, starts: &[usize]) -> Dependence {
        let number = |(binary, test): &Test| starts[*binary] + test;
        let numbers = |tests: &Vec<Test>| tests.iter().map(number).collect();
        Dependence {
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

/// What is tried among the binaries of a project.
pub(super) struct Across<'a> {
    /// The tests of each binary.
    pub(super) binaries: &'a [Processes<'a>],
    /// For the places of their lines.
    pub(super) states: &'a [States<'a>],
    pub(super) tree: &'a Tree,
    /// Whether this test of this binary is to be reported on, and how it ends alone, if that is
    /// always the same.
    pub(super) alone: &'a dyn Fn(usize, usize) -> Option<bool>,
    pub(super) reruns: usize,
    pub(super) questions: usize,
}

/// What is done between the tests of the other binary and those of the one that is looked at.
type Between<'b> = &'b mut dyn FnMut(Option<&Path>);

impl Across<'_> {
    /// The tests that depend on those of another binary; `None` when it was stopped.
    pub(super) fn find(&self) -> Option<Vec<AcrossBinaries>> {
        let mut found: Vec<AcrossBinaries> = Vec::new();
        if self.binaries.len() < 2 {
            return Some(found);
        }
        let all = (0..self.binaries.len()).map(|binary| self.all(binary));
        let all: Vec<All> = all.collect::<Option<_>>()?;
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

    /// The tests of a binary that can run in one process.
    fn all(&self, binary: usize) -> Option<All> {
        let mut tests: Vec<usize> = (0..self.binaries[binary].tests.len()).collect();
        for _ in 0..=MAX_CUTS {
            let mut are_left = false;
            let mut between = |folder: Option<&Path>| are_left = !self.left(folder).is_empty();
            let runs = self.run(&[(binary, &tests, &[])], &mut between)?;
            let ends = |run: &Run| !matches!(run.outcome, Outcome::Passed | Outcome::Failed);
            match runs[0].iter().position(ends) {
                Some(cut) => _ = tests.remove(cut),
                None => return Some(All { tests, are_left }),
            }
        }
        Some(All { tests: Vec::new(), are_left: false })
    }

    /// The tests of `binary` that have another outcome in its original order when the other binary
    /// ran before.
    fn suspects(&self, with: usize, all: &[All], binary: usize) -> Option<Vec<usize>> {
        let own = &all[binary].tests;
        let is_asked = |test: &usize| (self.alone)(binary, *test).is_some();
        if !own.iter().any(is_asked) {
            return Some(Vec::new());
        }
        let before = self.run(&[(binary, own, &[])], &mut |_| ())?;
        let steps: [Step<'_>; 2] = [(with, &all[with].tests, &[]), (binary, own, &[])];
        let after = self.run(&steps, &mut |_| ())?;
        let passed =
            |test: usize, run: &Run| self.binaries[binary].end(test, run.clone(), false).passed();
        let pairs = before[0].iter().zip(&after[1]).zip(own);
        let differs =
            pairs.filter(|((before, after), test)| passed(**test, before) != passed(**test, after));
        Some(differs.map(|(_, test)| *test).filter(is_asked).collect())
    }

    /// The lists of tests of another binary after which a test has another outcome each time, the
    /// others of these left out, and whether the search came to its end.
    fn sets(&self, with: usize, all: &[usize], test: Test) -> Option<(Vec<Vec<Test>>, bool)> {
        let mut sets: Vec<Vec<Test>> = Vec::new();
        let Some(passes_alone) = (self.alone)(test.0, test.1) else { return Some((sets, true)) };
        let mut is_complete = true;
        let mut all = all.to_vec();
        while sets.len() < MAX_SETS && self.ends(with, &all, test, !passes_alone, 1)? {
            let smallest = smallest(all.len(), self.questions, |part| {
                let kept = part.kept.iter().rev().map(|place| all[*place]);
                let before: Vec<usize> =
                    all[..part.beginning].iter().copied().chain(kept).collect();
                self.ends(with, &before, test, !passes_alone, 1).ok_or(())
            });
            let smallest = smallest.ok()?;
            let set: Vec<usize> = smallest.elements.iter().map(|place| all[*place]).collect();
            let is_sure = self.ends(with, &set, test, !passes_alone, self.reruns)?
                && self.ends(with, &[], test, passes_alone, self.reruns)?;
            if !is_sure {
                break;
            }
            is_complete &= smallest.is_complete;
            all.retain(|one| !set.contains(one));
            sets.push(set.iter().map(|one| (with, *one)).collect());
        }
        Some((sets, is_complete))
    }

    /// What there is to say of a test that depends on the first of these lists.
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
        let end = self.after(with, failing, test)?;
        let (state, files) = self.shared(with, &set, test, passes_alone)?;
        let cleaners =
            if passes_alone { self.cleaners((with, &set), all, test, &files)? } else { Vec::new() };
        Some(Some(AcrossBinaries { test, passes_alone, sets, cleaners, is_complete, state, end }))
    }

    /// Whether a test ends so after these of another binary, in each of a number of runs.
    fn ends(
        &self,
        with: usize,
        before: &[usize],
        test: Test,
        passes: bool,
        times: usize,
    ) -> Option<bool> {
        for _ in 0..times {
            if self.after(with, before, test)?.passed() != Some(passes) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// How a test ends alone in its process, once these of the other binary ran in another.
    fn after(&self, with: usize, before: &[usize], (binary, test): Test) -> Option<End> {
        let steps: [Step<'_>; 2] = [(with, before, &[]), (binary, &[test], &[])];
        let run = self.run(&steps, &mut |_| ())?.pop()?.pop()?;
        Some(self.binaries[binary].end(test, run, true))
    }

    /// The id of a test.
    pub(super) fn id(&self, binary: usize, test: usize) -> String {
        let processes = &self.binaries[binary];
        processes.suite.test_id(processes.tests[test])
    }

    /// What is left in the source tree and in the folder for temporary files.
    fn left(&self, folder: Option<&Path>) -> Vec<PathBuf> {
        let entries = folder.and_then(|folder| fs::read_dir(folder).ok());
        let entries = entries.into_iter().flatten().flatten();
        let mut left: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        left.sort();
        left.extend(self.tree.left());
        left
    }

    /// Runs these processes one after the other, with files as they were and one empty folder for
    /// temporary files; `between` comes after the first one.
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

/// Some tests of a binary that run in one process, and what is watched meanwhile.
type Step<'s> = (usize, &'s [usize], &'s [StateId]);
