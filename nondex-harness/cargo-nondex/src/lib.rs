//! The driver of `cargo nondex`.
//!
//! Data flows one way: [`cli`] and [`config`] say what is wanted, [`project`] builds test
//! executables, [`campaign`] runs them, [`judge`] concludes from the runs, and [`report`] shows
//! that. Each [`command`] is a short story over these rooms. What runs inside a test executable is
//! the crate `nondex-harness`, which this program carries as source.

pub mod atomic_file;
pub mod campaign;
pub mod cli;
pub mod command;
pub mod config;
pub mod error;
pub mod exit_code;
pub mod file;
pub mod findings;
pub mod nearest;
pub mod pool;
pub mod program;
pub mod project;
pub mod report;
pub mod repository;
pub mod shell;
pub mod statistics;
pub mod toml_error;

pub use nondex_judge as judge;
