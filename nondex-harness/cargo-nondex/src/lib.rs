//! Driver of `cargo nondex`.
//!
//! Data flows in one direction. [`cli`] and [`config`] determine what is wanted, and [`project`]
//! builds test executables. [`campaign`] runs them, [`judge`] concludes from the runs, and
//! [`report`] shows the conclusions. Each [`command`] combines these modules. The crate
//! `nondex-harness` runs inside of a test executable. This program contains its source.

pub mod atomic_file;
pub mod campaign;
pub mod cli;
pub mod command;
pub mod config;
pub mod error;
pub mod exit_code;
pub mod file;
pub mod findings;
pub mod interruption;
pub mod locked;
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
