//! What a report shows of one or more tests: a line, or a diagnostic.

use super::diagnostic::Diagnostic;
use super::verdict_style;
use crate::report::schema::TestReport;

/// One of the things that a report shows.
#[derive(Debug)]
pub(in crate::report) enum Entry<'r, 's> {
    /// A test that needs no more than a line, and what is in it.
    Remark(&'r TestReport, String),
    /// A finding.
    Shown {
        /// The tests that it is about, the one that it shows first.
        tests: Vec<&'r TestReport>,
        /// Its headline, if it were about the first test alone.
        first: String,
        /// The finding.
        diagnostic: Box<Diagnostic<'s>>,
    },
}

impl<'r, 's> Entry<'r, 's> {
    /// A finding whose headline names one test.
    pub(super) fn shown(tests: Vec<&'r TestReport>, diagnostic: Diagnostic<'s>) -> Self {
        Entry::Shown {
            tests,
            first: diagnostic.headline().to_owned(),
            diagnostic: Box::new(diagnostic),
        }
    }

    /// The entry as styled text.
    pub(super) fn text(self) -> String {
        let (test, why) = match self {
            Entry::Shown { diagnostic, .. } => return diagnostic.finish(),
            Entry::Remark(test, why) => (test, why),
        };
        let style = verdict_style(test);
        let why = if why.is_empty() {
            String::new()
        } else {
            format!(": {why}")
        };
        format!(
            "{style}note[{}]{style:#}: `{}`{why}\n",
            test.verdict, test.id
        )
    }
}
