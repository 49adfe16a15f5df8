//! The `cargo nondex` command.
fn main() {}
