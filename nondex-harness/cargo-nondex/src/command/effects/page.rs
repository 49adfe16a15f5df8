//! Sources and pages that were changed: doctests stand in comments of them.

use camino::Utf8PathBuf;

use super::Effects;
use crate::project::doctest::{block, same};
use crate::report::TestReport;

/// The texts of a changed source or page.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) before: String,
    pub(super) after: String,
}

impl Effects {
    /// The source of a doctest that is in a changed file, with its line, and with its text before
    /// the change and after it.
    fn doctest(&self, test: &TestReport) -> Option<(&Utf8PathBuf, u32, &Page)> {
        let is_doctest = test.binary.contains("::doc/");
        let (file, line) = test.file.as_ref().zip(test.line).filter(|_| is_doctest)?;
        let path = self.root.join(file);
        let (path, page) = self.pages.get_key_value(&path)?;
        Some((path, line, page))
    }

    /// Where a doctest is that is not as it was.
    pub(super) fn own_change(&self, test: &TestReport) -> Option<(String, u32)> {
        let (path, line, Page { before, after }) = self.doctest(test)?;
        let is_same = !same(before, &block(after, line)).is_empty();
        (!is_same).then(|| (self.shown(path), line))
    }

    /// The names that a test may have had before the change: the name of a doctest has its line.
    pub(in crate::command) fn names_before(&self, test: &TestReport) -> Vec<String> {
        let moved = self.doctest(test).map(|(_, line, Page { before, after })| {
            let lines = same(before, &block(after, line));
            let name = |before: u32| {
                let [before, after] = [before, line].map(|line| format!("(line {line})"));
                test.name.replace(&after, &before)
            };
            lines.into_iter().map(name).collect()
        });
        moved.unwrap_or_else(|| vec![test.name.clone()])
    }

    /// Whether a page was changed that may be a part of the documentation of a crate, and not the
    /// one that a doctest is known to be in.
    pub(in crate::command) fn may_have_doctest(&self, test: &TestReport) -> bool {
        let is_page = |path: &Utf8PathBuf| path.extension() == Some("md");
        test.binary.contains("::doc/")
            && self.doctest(test).is_none()
            && self.pages.keys().any(is_page)
    }
}
