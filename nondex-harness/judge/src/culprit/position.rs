//! Defines the position that decides.

use serde::{Deserialize, Serialize};

/// A position in an order. Serialised as `"first"`, `"last"` or `{"nth": index}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// The first one.
    First,
    /// The last one.
    Last,
    /// Any other, from 0.
    Nth(u64),
}
