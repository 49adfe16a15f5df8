//! Which code a program of a test ran, where it was compiled to tell.

use crate::json;

/// The code that one program of a test ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoveredRecord {
    /// The executable, absolute.
    pub program: String,
    /// The addresses of the basic blocks that ran, relative to where the executable is loaded. Ascending.
    pub blocks: Vec<u64>,
}

json::object!(CoveredRecord { program, blocks });
