//! Entries of a report on one or more tests: a line, or a diagnostic.

use super::diagnostic::Diagnostic;
use super::verdict_style;
use crate::report::schema::TestReport;

/// One entry of a report.
#[derive(Debug)]
pub(in crate::report) enum Entry<'r, 's> {
    /// A test with a single line, and the text of the line.
    Remark(&'r TestReport, String),
    /// A finding.
    Shown {
        /// The tests of the finding, the one drawn in full first.
        tests: Vec<&'r TestReport>,
        /// The headline of the finding if it were about the first test alone.
        first: String,
        /// The finding.
        diagnostic: Box<Diagnostic<'s>>,
    },
}

impl<'r, 's> Entry<'r, 's> {
    /// Creates an entry for a finding whose headline names one test.
    pub(super) fn shown(tests: Vec<&'r TestReport>, diagnostic: Diagnostic<'s>) -> Self {
        Entry::Shown {
            tests,
            first: diagnostic.headline().to_owned(),
            diagnostic: Box::new(diagnostic),
        }
    }

    /// Returns the tests of the entry, the one drawn in full first.
    pub(in crate::report) fn tests(&self) -> &[&'r TestReport] {
        match self {
            Entry::Remark(test, _) => std::slice::from_ref(test),
            Entry::Shown { tests, .. } => tests,
        }
    }

    /// Returns the first line, without severity and code.
    pub(in crate::report) fn headline(&self) -> String {
        match self {
            Entry::Remark(test, why) if why.is_empty() => format!("`{}`", test.id),
            Entry::Remark(test, why) => format!("`{}`: {why}", test.id),
            Entry::Shown { diagnostic, .. } => diagnostic.headline().to_owned(),
        }
    }

    /// Returns the finding, unless the entry is a single line.
    pub(in crate::report) fn diagnostic(&self) -> Option<&Diagnostic<'s>> {
        match self {
            Entry::Remark(..) => None,
            Entry::Shown { diagnostic, .. } => Some(diagnostic),
        }
    }

    /// Renders the entry as styled text.
    pub(super) fn text(self) -> String {
        let headline = self.headline();
        let test = match self {
            Entry::Shown { diagnostic, .. } => return diagnostic.finish(),
            Entry::Remark(test, _) => test,
        };
        let style = verdict_style(test);
        format!("{style}note[{}]{style:#}: {headline}\n", test.verdict)
    }
}
