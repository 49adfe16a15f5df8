//! Tests that depend on what the tests of another binary leave in files.
//!
//! The binaries of a project run one after the other, in folders and with a folder for temporary files that they share. A binary whose
//! tests leave nothing there, all in one process, changes nothing for others. Behind one that does, every other binary is run once more:
//! what ends otherwise is searched for the tests that make the difference, each time with files as they were before.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use camino::Utf8Path;
use nondex_core::{AccessRecord, Outcome, RunSpec, StateId, StateKind};

use super::launch::Launcher;
use super::order::Processes;
use super::state::{PLACE, States};
use super::tree::Tree;
use crate::judge::culprit::subset::smallest;
use crate::judge::order::{Dependence, End};
use crate::judge::run::Run;
use crate::project::{TestBinary, TestCase};
use crate::report::schema::{Line, SharedState, WrittenLine};

/// Runs the tests of each binary `before` in a process, then those of the last one, with one empty folder for temporary files, and puts
/// back what they leave in their folders; what was there goes to `kept`. The runs of the last process; `None` when it was stopped.
pub fn run_behind(
    launcher: &Launcher<'_>,
    limit: Duration,
    before: &[(&TestBinary, Vec<&TestCase>)],
    (binary, tests): (&TestBinary, &[&TestCase]),
    spec: &RunSpec,
    kept: &Utf8Path,
) -> Option<Vec<Run>> {
    let folders = before.iter().map(|(binary, _)| &binary.cwd);
    let folders = folders.chain([&binary.cwd]);
    let tree = Tree::of(
        folders.map(|folder| folder.clone().into_std_path_buf()),
        kept.as_std_path().to_owned(),
    );
    let runs = Launcher::with_fresh(PLACE, |folder| {
        let run = |binary, tests: &[&TestCase], spec: &RunSpec| {
            launcher.experiment_in(folder, &vec![limit; tests.len()], binary, tests, spec)
        };
        for (binary, tests) in before {
            let spec = RunSpec {
                test: tests.last()?.name.clone(),
                watch: Vec::new(),
                meet: None,
                until: None,
                ..spec.clone()
            };
            run(binary, tests, &spec)?;
        }
        run(binary, tests, spec)
    });
    tree.restore();
    runs
}

/// So many tests that end the process of all are left out.
const MAX_CUTS: usize = 5;

/// So many of the files that are left are put back one by one.
const MAX_FILES: usize = 24;

/// A test that depends on tests of another binary.
pub(super) struct Found {
    /// The binary and the test, each by number.
    pub(super) test: (usize, usize),
    /// The other binary. The numbers of what makes the difference are those of its tests.
    pub(super) with: usize,
    pub(super) dependence: Dependence,
    /// What they share.
    pub(super) state: Vec<SharedState>,
    /// How the test failed.
    pub(super) end: End,
}

/// What is tried among the binaries of a project.
pub(super) struct Across<'a> {
    /// The tests of each binary.
    pub(super) binaries: &'a [Processes<'a>],
    /// For the places of their lines.
    pub(super) states: &'a [States<'a>],
    pub(super) tree: &'a Tree,
    /// Whether this test of this binary is to be reported on, and how it ends alone, if that is always the same.
    pub(super) alone: &'a dyn Fn(usize, usize) -> Option<bool>,
    pub(super) reruns: usize,
    pub(super) questions: usize,
}

/// What is done between the tests of the other binary and those of the one that is looked at.
type Between<'b> = &'b mut dyn FnMut(Option<&Path>);

impl Across<'_> {
    /// The tests that depend on those of another binary, and how many processes that took; `None` when it was stopped.
    pub(super) fn find(&self) -> Option<(Vec<Found>, u64)> {
        let mut made = 0;
        let mut found: Vec<Found> = Vec::new();
        if self.binaries.len() < 2 {
            return Some((found, made));
        }
        for with in 0..self.binaries.len() {
            let (all, is_left) = self.all(with, &mut made)?;
            if !is_left {
                continue;
            }
            for binary in (0..self.binaries.len()).filter(|binary| *binary != with) {
                for test in self.suspects(with, &all, binary, &mut made)? {
                    if found.iter().any(|known| known.test == (binary, test)) {
                        continue;
                    }
                    let one = self.dependent(with, &all, (binary, test), &mut made)?;
                    found.extend(one);
                }
            }
        }
        Some((found, made))
    }

    /// The tests of a binary that can run in one process, in their order, and whether they leave files.
    fn all(&self, binary: usize, made: &mut u64) -> Option<(Vec<usize>, bool)> {
        let mut all: Vec<usize> = (0..self.binaries[binary].tests.len()).collect();
        for _ in 0..=MAX_CUTS {
            let mut is_left = false;
            let mut between = |folder: Option<&Path>| is_left = !self.left(folder).is_empty();
            let runs = self.run(&[(binary, &all, &[])], &mut between, made)?;
            let ends = |run: &Run| !matches!(run.outcome, Outcome::Passed | Outcome::Failed);
            match runs[0].iter().position(ends) {
                Some(cut) => _ = all.remove(cut),
                None => return Some((all, is_left)),
            }
        }
        Some((Vec::new(), false))
    }

    /// The tests of `binary` that end otherwise in its original order when the other binary ran before.
    fn suspects(
        &self,
        with: usize,
        all: &[usize],
        binary: usize,
        made: &mut u64,
    ) -> Option<Vec<usize>> {
        let is_asked = |test: &usize| (self.alone)(binary, *test).is_some();
        if !(0..self.binaries[binary].tests.len()).any(|test| is_asked(&test)) {
            return Some(Vec::new());
        }
        let (own, _) = self.all(binary, made)?;
        let before = self.run(&[(binary, &own, &[])], &mut |_| (), made)?;
        let steps: [Step<'_>; 2] = [(with, all, &[]), (binary, &own, &[])];
        let behind = self.run(&steps, &mut |_| (), made)?;
        let passed = |test: usize, run: &Run| {
            let end = self.binaries[binary].end(test, run.clone(), false);
            end.passed()
        };
        let pairs = before[0].iter().zip(&behind[1]).zip(&own);
        let differs = pairs
            .filter(|((before, behind), test)| passed(**test, before) != passed(**test, behind));
        let differs = differs.map(|(_, test)| *test);
        Some(differs.filter(is_asked).collect())
    }

    /// What a test depends on, if it ends otherwise behind `all` of another binary each time.
    fn dependent(
        &self,
        with: usize,
        all: &[usize],
        test: (usize, usize),
        made: &mut u64,
    ) -> Option<Option<Found>> {
        let Some(passes_alone) = (self.alone)(test.0, test.1) else {
            return Some(None);
        };
        let is_alike = |before: &[usize], passes: bool, times: usize, made: &mut u64| {
            for _ in 0..times {
                let end = self.behind(with, before, test, made)?;
                if end.passed() != Some(passes) {
                    return Some(false);
                }
            }
            Some(true)
        };
        if !is_alike(all, !passes_alone, 1, made)? {
            return Some(None);
        }
        let smallest = smallest(all.len(), self.questions, |part| {
            let kept = part.kept.iter().rev().map(|place| all[*place]);
            let before: Vec<usize> = all[..part.beginning].iter().copied().chain(kept).collect();
            is_alike(&before, !passes_alone, 1, made).ok_or(())
        });
        let smallest = smallest.ok()?;
        let set: Vec<usize> = smallest.elements.iter().map(|place| all[*place]).collect();
        if !is_alike(&set, !passes_alone, self.reruns, made)?
            || !is_alike(&[], passes_alone, self.reruns, made)?
        {
            return Some(None);
        }
        let failing = if passes_alone { &set[..] } else { &[] };
        let end = self.behind(with, failing, test, made)?;
        let state = self.shared(with, &set, test, passes_alone, made)?;
        Some(Some(Found {
            test,
            with,
            dependence: Dependence {
                passes_alone,
                sets: vec![set],
                cleaners: Vec::new(),
                is_complete: smallest.is_complete,
            },
            state,
            end,
        }))
    }

    /// How a test ends alone in its process, once these of the other binary ran in another.
    fn behind(
        &self,
        with: usize,
        before: &[usize],
        (binary, test): (usize, usize),
        made: &mut u64,
    ) -> Option<End> {
        let steps: [Step<'_>; 2] = [(with, before, &[]), (binary, &[test], &[])];
        let run = self.run(&steps, &mut |_| (), made)?.pop()?.pop()?;
        Some(self.binaries[binary].end(test, run, true))
    }

    /// The files that these leave, those that are proven, or else all.
    fn shared(
        &self,
        with: usize,
        set: &[usize],
        (binary, test): (usize, usize),
        passes_alone: bool,
        made: &mut u64,
    ) -> Option<Vec<SharedState>> {
        let steps: [Step<'_>; 2] = [(with, set, &[]), (binary, &[test], &[])];
        let mut left = Vec::new();
        self.run(&steps, &mut |folder| left = self.left(folder), made)?;
        let mut all = Vec::new();
        for path in left.iter().take(MAX_FILES) {
            let mut restore = |folder: Option<&Path>| self.restore(folder, path);
            let run = self.run(&steps, &mut restore, made)?.pop()?.pop()?;
            all.push((path, run.passed() == passes_alone));
        }
        if all.iter().any(|(_, confirmed)| *confirmed) {
            all.retain(|(_, confirmed)| *confirmed);
        }
        let mut shared = Vec::new();
        for (path, confirmed) in all {
            let mut one = SharedState {
                kind: StateKind::File.name().to_owned(),
                name: self.states[binary].path(&path.to_string_lossy()),
                confirmed,
                ..SharedState::default()
            };
            if confirmed {
                self.add_lines(with, set, (binary, test), path, &mut one, made)?;
            }
            shared.push(one);
        }
        Some(shared)
    }

    /// Adds the line that leaves a file, or what is in a folder, and the one that meets it.
    fn add_lines(
        &self,
        with: usize,
        set: &[usize],
        (binary, test): (usize, usize),
        path: &Path,
        shared: &mut SharedState,
        made: &mut u64,
    ) -> Option<()> {
        let watch = [StateId {
            kind: StateKind::File,
            name: String::new(),
        }];
        let is_of = |access: &&AccessRecord| Path::new(&access.state.name).starts_with(path);
        let steps: [Step<'_>; 2] = [(with, set, &watch), (binary, &[test], &watch)];
        let runs = self.run(&steps, &mut |_| (), made)?;
        shared.written = runs[0].iter().zip(set).rev().find_map(|(run, test)| {
            let accesses = run.accesses.iter().rev().filter(is_of);
            let mut writes = accesses.filter(|access| access.writes);
            let Line { file, line } = writes.find_map(|access| self.states[with].line(access))?;
            let test = self.id(with, *test);
            Some(WrittenLine { file, line, test })
        });
        let accesses = runs[1].iter().flat_map(|run| run.accesses.iter());
        let mut accesses = accesses.filter(is_of);
        shared.read = accesses.find_map(|access| self.states[binary].line(access));
        Some(())
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

    /// Puts one file or folder back.
    fn restore(&self, folder: Option<&Path>, path: &Path) {
        if !folder.is_some_and(|folder| path.starts_with(folder)) {
            self.tree.restore_path(path);
        } else if path.is_dir() {
            let _ = fs::remove_dir_all(path);
        } else {
            let _ = fs::remove_file(path);
        }
    }

    /// Runs these processes one after the other, with files as they were and one empty folder for temporary files; `between` comes behind
    /// the first one.
    fn run(
        &self,
        steps: &[Step<'_>],
        between: Between<'_>,
        made: &mut u64,
    ) -> Option<Vec<Vec<Run>>> {
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
                *made += 1;
                let processes = &self.binaries[*binary];
                let spec = RunSpec {
                    watch: watch.to_vec(),
                    lines: true,
                    ..processes.spec(*last)
                };
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
