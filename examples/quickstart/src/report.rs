//! The report on a log.

use std::fmt;

use tally::Tally;

use crate::Entry;
use crate::fx::FxHashMap;

/// Number of visitors that a report names.
const SAMPLE: usize = 4;

/// Statistics of a list of requests.
#[derive(Default)]
pub struct Report {
    hits: FxHashMap<String, usize>,
    visitors: Tally<String>,
    errors: usize,
}

impl Report {
    /// Counts all requests of a log.
    pub fn new<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut report = Report::default();
        for entry in entries {
            *report.hits.entry(entry.path.clone()).or_default() += 1;
            report.visitors.add(entry.visitor.clone());
            report.errors += usize::from(entry.status >= 400);
        }
        report
    }

    /// Returns the page with the most hits.
    pub fn busiest(&self) -> Option<&str> {
        self.hits.iter().max_by_key(|(_, hits)| **hits).map(|(path, _)| path.as_str())
    }

    /// Returns the number of failed requests.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Returns the number of hits of a page.
    pub fn hits(&self, path: &str) -> usize {
        self.hits.get(path).copied().unwrap_or(0)
    }

    /// Returns the number of different visitors.
    pub fn visitors(&self) -> usize {
        self.visitors.distinct()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.visitors.sample(SAMPLE).map(String::as_str).collect();
        writeln!(f, "busiest page: {}", self.busiest().unwrap_or("none"))?;
        writeln!(f, "visitors: {} ({}, …)", self.visitors(), names.join(", "))?;
        writeln!(f, "errors: {}", self.errors)
    }
}
