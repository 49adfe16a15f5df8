//! Temporary edits.

use std::fs;
use std::path::Path;

use crate::support::{self, Fixture};

/// A file in which one text is replaced until the edit is undone. Undoing also restores the
/// history: the next run must not know what runs saw meanwhile.
pub(super) struct Edited<'a> {
    project: &'a Fixture,
    file: &'a str,
    text: String,
}

impl<'a> Edited<'a> {
    const HISTORY: &'static str = "target/nondex/history";
    const KEPT: &'static str = "target/kept";

    pub(super) fn new(project: &'a Fixture, file: &'a str, edit: (&str, &str)) -> Self {
        let text = fs::read_to_string(project.path(file)).unwrap();
        support::edit(project, file, &[edit]);
        copy(&project.path(Self::HISTORY), &project.path(Self::KEPT));
        Edited { project, file, text }
    }

    pub(super) fn undo(self) {
        let history = self.project.path(Self::HISTORY);
        fs::remove_dir_all(&history).unwrap();
        fs::rename(self.project.path(Self::KEPT), history).unwrap();
        fs::write(self.project.path(self.file), self.text).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
