//! Files that tests of two binaries share, and the tests that undo changes to them. A shared file
//! is proven by restoring it between the tests.

use std::fs;
use std::path::{Path, PathBuf};

use nondex_core::{AccessRecord, StateId, StateKind};

use super::{Across, All, Step, Test};
use crate::campaign::proof::ProvenParts;
use crate::campaign::state::PLACE;
use crate::campaign::temporary;
use crate::campaign::temporary::fresh_folder;
use crate::report::{Line, SharedState, WrittenLine};

/// Maximum number of files that are restored one by one.
const MAX_FILES: usize = 24;

/// Number of runs in which the victim must pass after a cleaner.
const CLEANS: usize = 2;

impl Across<'_> {
    /// Returns the files that the tests of `set` leave, and the paths of those that are proven. The
    /// first list has only the proven files, if there are any. `passes_alone` is whether the victim
    /// passes alone. Returns `None` if the search was stopped.
    pub(super) fn shared(
        &self,
        with: usize,
        set: &[usize],
        (binary, test): Test,
        passes_alone: bool,
    ) -> Option<(Vec<SharedState>, Vec<PathBuf>)> {
        let steps: [Step<'_>; 2] = [(with, set, &[]), (binary, &[test], &[])];
        let mut left = Vec::new();
        self.run(&steps, &mut |folder| left = self.left(folder))?;
        left.truncate(MAX_FILES);
        let proof = ProvenParts::of(left.len(), left.len(), |places| {
            let mut restore = |folder: Option<&Path>| {
                for place in places {
                    self.restore(folder, &left[*place]);
                }
            };
            Some(self.run(&steps, &mut restore)?.pop()?.pop()?.passed() == passes_alone)
        })?;
        let (mut shared, mut proven) = (Vec::new(), Vec::new());
        for (place, path) in left.iter().enumerate() {
            let confirmed = proof.places().contains(&place);
            if !confirmed && proof != ProvenParts::None {
                continue;
            }
            let mut one = SharedState {
                kind: StateKind::File.name().to_owned(),
                name: self.states[binary]
                    .path(&temporary::name(&path.to_string_lossy(), &fresh_folder(PLACE))),
                confirmed,
                joint: confirmed && proof.is_joint(),
                ..SharedState::default()
            };
            if confirmed {
                self.add_lines(with, set, (binary, test), path, &mut one)?;
                proven.push(path.clone());
            }
            shared.push(one);
        }
        Some((shared, proven))
    }

    /// Adds the line that leaves a file, or something in a folder, and the line that uses it.
    fn add_lines(
        &self,
        with: usize,
        set: &[usize],
        (binary, test): Test,
        path: &Path,
        shared: &mut SharedState,
    ) -> Option<()> {
        let watch = [StateId::every(StateKind::File)];
        let is_of = |access: &&AccessRecord| Path::new(&access.state.name).starts_with(path);
        let steps: [Step<'_>; 2] = [(with, set, &watch), (binary, &[test], &watch)];
        let runs = self.run(&steps, &mut |_| ())?;
        shared.written = runs[0].iter().zip(set).rev().find_map(|(run, test)| {
            let mut writes = run.accesses.iter().rev().filter(is_of).filter(|access| access.writes);
            let Line { file, line } = writes.find_map(|access| self.states[with].line(access))?;
            let test = self.binaries[with].id(*test);
            Some(WrittenLine { file, line, test })
        });
        let mut accesses = runs[1].iter().flat_map(|run| run.accesses.iter()).filter(is_of);
        shared.read = accesses.find_map(|access| self.states[binary].line(access));
        Some(())
    }

    /// Returns the tests of any binary that undo the effect of `set` on a victim. Only tests that
    /// change one of the proven `files` are tried. Returns `None` if the search was stopped.
    pub(super) fn cleaners(
        &self,
        (with, set): (usize, &[usize]),
        all: &[All],
        (binary, test): Test,
        files: &[PathBuf],
    ) -> Option<Vec<Test>> {
        let changes = |access: &AccessRecord| {
            let path = Path::new(&access.state.name);
            access.writes && files.iter().any(|file| path.starts_with(file))
        };
        let watch = [StateId::every(StateKind::File)];
        let mut cleaners = Vec::new();
        for (other, all) in all.iter().enumerate().filter(|_| !files.is_empty()) {
            let is_victim = |one: &usize| (other, *one) == (binary, test);
            let is_in_set = |one: &usize| other == with && set.contains(one);
            let tests: Vec<usize> = all
                .tests
                .iter()
                .copied()
                .filter(|one| !is_victim(one) && !is_in_set(one))
                .collect();
            let steps: [Step<'_>; 2] = [(with, set, &[]), (other, &tests, &watch)];
            let runs = self.run(&steps, &mut |_| ())?.pop()?;
            let candidates =
                tests.iter().zip(&runs).filter(|(_, run)| run.accesses.iter().any(changes));
            for (candidate, _) in candidates.take(self.questions) {
                let candidate = (other, *candidate);
                if self.cleans((with, set), candidate, (binary, test))? {
                    cleaners.push(candidate);
                }
            }
        }
        Some(cleaners)
    }

    /// Returns whether a victim passes each time after the tests of `set` and then `candidate`.
    fn cleans(
        &self,
        (with, set): (usize, &[usize]),
        (other, candidate): Test,
        (binary, test): Test,
    ) -> Option<bool> {
        let steps: [Step<'_>; 3] =
            [(with, set, &[]), (other, &[candidate], &[]), (binary, &[test], &[])];
        for _ in 0..CLEANS {
            let run = self.run(&steps, &mut |_| ())?.pop()?.pop()?;
            if self.binaries[binary].passed(test, &run) != Some(true) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Restores one file or folder. The folder for temporary files was empty before the runs, so an
    /// entry in it is removed.
    fn restore(&self, folder: Option<&Path>, path: &Path) {
        if !folder.is_some_and(|folder| path.starts_with(folder)) {
            self.tree.restore_path(path);
        } else if path.is_dir() {
            let _ = fs::remove_dir_all(path);
        } else {
            let _ = fs::remove_file(path);
        }
    }
}
