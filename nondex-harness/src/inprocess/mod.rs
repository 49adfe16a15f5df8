//! inprocess

/// x
pub fn main() {}
