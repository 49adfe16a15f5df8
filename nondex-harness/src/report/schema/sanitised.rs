//! Why a failure says nothing about the code.

use serde::{Deserialize, Serialize};

/// What explains every failing run of a test, so that they are not held against the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sanitised {
    /// The name of the sanitiser; `network` is the built-in one.
    pub name: String,
    /// What the machine was in want of, a sentence.
    pub reason: String,
}
