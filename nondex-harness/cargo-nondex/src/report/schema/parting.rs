//! The first difference between two equal runs of a test.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Line;

/// First event at which two runs with the same choices differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parting {
    /// Operation or modelled API that differs; `outcome` or `output` where nothing before does.
    pub event: String,
    /// Logical path of the thread; null if no thread is known.
    pub thread: Option<String>,
    /// Line; null if none is known.
    pub place: Option<Line>,
    /// What happened there in the first run and in the second.
    pub values: [String; 2],
}

impl fmt::Display for Parting {
    /// Writes `HashMap::iter at src/a.rs:7, thread 0.1: 3 entries in one run, 4 entries in the
    /// other`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.event)?;
        if let Some(Line { file, line }) = &self.place {
            write!(f, " at {file}:{line}")?;
        }
        if let Some(thread) = &self.thread {
            write!(f, ", thread {thread}")?;
        }
        let [first, second] = &self.values;
        write!(f, ": {first} in one run, {second} in the other")
    }
}
