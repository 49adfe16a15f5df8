//! The harness of `cargo nondex`.
//!
//! [`inprocess`] runs inside a test executable, in place of libtest. Everything else (feature `cli`) is the driver, in
//! which data flows one way: `cli` → `project` → `campaign` → `report`.

pub mod inprocess;

#[cfg(feature = "cli")]
pub mod campaign;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod command;
#[cfg(feature = "cli")]
pub mod config;
#[cfg(feature = "cli")]
pub mod error;
#[cfg(feature = "cli")]
pub mod exit_code;
#[cfg(feature = "cli")]
pub mod findings;
#[cfg(feature = "cli")]
pub mod judge;
#[cfg(feature = "cli")]
pub mod project;
#[cfg(feature = "cli")]
pub mod report;
#[cfg(feature = "cli")]
pub mod repository;
#[cfg(feature = "cli")]
pub mod repro;
#[cfg(feature = "cli")]
pub mod shell;
#[cfg(feature = "cli")]
pub mod statistics;

pub use inprocess::{Trial, main};
