//! From a user's project to its built test binaries and their tests.

pub mod suite;

pub use suite::{Harness, Suite, TestBinary, TestCase};
