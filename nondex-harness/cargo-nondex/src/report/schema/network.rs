//! Failed network operations.

use serde::{Deserialize, Serialize};

use crate::report::thread::describe;

/// Operation that failed because there is no network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkEvent {
    /// Operation, such as `connect`.
    pub operation: String,
    /// Address or host name.
    pub address: String,
    /// Error.
    pub error: String,
    /// Source file, if known.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Logical path of the thread, `0` for the test's own. In a program that the test started, `p`
    /// and a number precede it.
    #[serde(default)]
    pub thread: String,
    /// Time until it failed, in milliseconds; null if it had not ended.
    pub elapsed_ms: Option<u64>,
}

impl std::fmt::Display for NetworkEvent {
    /// Writes `connect 192.0.2.1:80: ETIMEDOUT after 30 s at src/lib.rs:3, on the 2nd thread that
    /// the test starts`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}: {}", self.operation, self.address, self.error)?;
        if let Some(seconds) = self.elapsed_ms.map(|ms| ms / 1000)
            && seconds > 0
        {
            write!(f, " after {seconds} s")?;
        }
        if let (Some(file), Some(line)) = (&self.file, self.line) {
            write!(f, " at {file}:{line}")?;
        }
        if !matches!(self.thread.as_str(), "" | "0") {
            write!(f, ", on {}", describe(&self.thread))?;
        }
        Ok(())
    }
}
