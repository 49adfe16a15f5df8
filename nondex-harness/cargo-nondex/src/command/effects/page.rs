//! Changed sources and pages, whose comments may contain doctests.

use camino::Utf8PathBuf;

use super::Effects;
use crate::project::doctest::{block, same};
use crate::report::TestReport;

/// Texts of a changed source or page.
#[derive(Debug)]
pub(super) struct ChangedText {
    pub(super) before: String,
    pub(super) after: String,
}

impl Effects {
    /// Returns the changed file that contains a doctest, the line of the doctest, and the texts of
    /// the file.
    fn doctest(&self, test: &TestReport) -> Option<(&Utf8PathBuf, u32, &ChangedText)> {
        let is_doctest = test.binary.contains("::doc/");
        let (file, line) = test.file.as_ref().zip(test.line).filter(|_| is_doctest)?;
        let path = self.root.join(file);
        let (path, page) = self.pages.get_key_value(&path)?;
        Some((path, line, page))
    }

    /// Returns the place of a doctest whose own text was changed.
    pub(super) fn own_change(&self, test: &TestReport) -> Option<(String, u32)> {
        let (path, line, ChangedText { before, after }) = self.doctest(test)?;
        let is_same = !same(before, &block(after, line)).is_empty();
        (!is_same).then(|| (self.shown(path), line))
    }

    /// Returns the names that a test may have had before the change. The name of a doctest contains
    /// its line number.
    pub(in crate::command) fn names_before(&self, test: &TestReport) -> Vec<String> {
        let moved = self.doctest(test).map(|(_, line, ChangedText { before, after })| {
            let lines = same(before, &block(after, line));
            let name = |before: u32| {
                let [before, after] = [before, line].map(|line| format!("(line {line})"));
                test.name.replace(&after, &before)
            };
            lines.into_iter().map(name).collect()
        });
        moved.unwrap_or_else(|| vec![test.name.clone()])
    }

    /// Returns whether a changed page may contain a doctest whose file is unknown. A page may be
    /// included in the documentation of a crate.
    pub(in crate::command) fn may_have_doctest(&self, test: &TestReport) -> bool {
        let is_page = |path: &Utf8PathBuf| path.extension() == Some("md");
        test.binary.contains("::doc/")
            && self.doctest(test).is_none()
            && self.pages.keys().any(is_page)
    }
}
