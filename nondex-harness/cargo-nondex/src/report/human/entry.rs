//! Entries of a report on one or more tests: a line, or a diagnostic.

use super::diagnostic::Diagnostic;
use super::verdict_style;
use crate::report::schema::TestReport;

/// One entry of a report.
#[derive(Debug)]
pub(in crate::report) struct Entry<'r, 's> {
    /// The tests of the entry, the one drawn in full first. Never empty.
    pub tests: Vec<&'r TestReport>,
    /// The first line, without severity and code, if the entry were about the first test alone.
    pub first: String,
    /// The finding, unless the entry is a single line.
    pub diagnostic: Option<Diagnostic<'s>>,
}

impl<'r, 's> Entry<'r, 's> {
    /// Creates an entry of a single line about a test.
    pub(super) fn remark(test: &'r TestReport, why: &str) -> Self {
        let separator = if why.is_empty() { "" } else { ": " };
        let first = format!("`{}`{separator}{why}", test.id);
        Entry { tests: vec![test], first, diagnostic: None }
    }

    /// Creates an entry for a finding whose headline names one test.
    pub(super) fn shown(tests: Vec<&'r TestReport>, diagnostic: Diagnostic<'s>) -> Self {
        let first = diagnostic.headline().to_owned();
        Entry { tests, first, diagnostic: Some(diagnostic) }
    }

    /// Returns the first line, without severity and code.
    pub(in crate::report) fn headline(&self) -> &str {
        self.diagnostic.as_ref().map_or(&self.first, Diagnostic::headline)
    }

    /// Renders the entry as styled text.
    pub(super) fn text(self) -> String {
        let Some(diagnostic) = self.diagnostic else {
            let test = self.tests[0];
            let style = verdict_style(test);
            return format!("{style}note[{}]{style:#}: {}\n", test.verdict, self.first);
        };
        diagnostic.finish()
    }
}
