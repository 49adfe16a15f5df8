//! The harness of `cargo nondex`.
//!
//! [`inprocess`] runs inside a test executable, in place of libtest. Everything else (feature
//! `driver`) is what `cargo-nondex` stands on, in which data flows one way: `project` → `campaign`
//! → `judge` → `report`.

pub mod inprocess;

#[cfg(feature = "driver")]
pub mod campaign;
#[cfg(feature = "driver")]
pub mod error;
#[cfg(feature = "driver")]
pub mod exit_code;
#[cfg(feature = "driver")]
pub mod findings;
#[cfg(feature = "driver")]
pub mod judge;
#[cfg(feature = "driver")]
pub mod pool;
#[cfg(feature = "driver")]
pub mod project;
#[cfg(feature = "driver")]
pub mod report;
#[cfg(feature = "driver")]
pub mod repository;
#[cfg(feature = "driver")]
pub mod shell;
#[cfg(feature = "driver")]
pub mod statistics;
#[cfg(feature = "driver")]
pub mod written;

pub use inprocess::{Trial, main};
