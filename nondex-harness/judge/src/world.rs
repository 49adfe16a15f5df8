//! Defines choices that are the same in every run.

use serde::{Deserialize, Serialize};

/// Choices that are the same in every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct World {
    /// Seed whose choices at level `STD` are made; null for canonical order.
    pub seed: Option<u64>,
    /// Whether every test is run twice and the two runs are compared.
    pub verify: bool,
}

impl World {
    /// Returns the number of runs of each test.
    pub const fn runs(&self) -> usize {
        if self.verify { 2 } else { 1 }
    }
}
