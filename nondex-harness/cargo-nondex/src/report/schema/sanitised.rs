//! The reasons why failures are no evidence about the code.

use super::NetworkEvent;
use serde::{Deserialize, Serialize};

/// Missing prerequisite that explains every failing run of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sanitised {
    /// Name of the sanitiser; `network` is built in.
    pub name: String,
    /// Which prerequisite was missing, a sentence.
    pub reason: String,
    /// Failed operations, such as `exec`, each once.
    pub operations: Vec<NetworkEvent>,
}

impl std::fmt::Display for Sanitised {
    /// Writes `there is no network: connect 192.0.2.1:80: ENETUNREACH at src/lib.rs:3`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)?;
        for (index, event) in self.operations.iter().enumerate() {
            write!(f, "{} {event}", if index == 0 { ":" } else { ";" })?;
        }
        Ok(())
    }
}
