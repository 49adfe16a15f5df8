//! Defines the position that decides.

use serde::{Deserialize, Serialize};

/// Position in an order. Serialised as `"first"`, `"last"` or `{"nth": index}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// First position.
    First,
    /// Last position.
    Last,
    /// Any other position, from 0.
    Nth(u64),
}
