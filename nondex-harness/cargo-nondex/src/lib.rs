//! The command line of `cargo nondex`: what it takes, what it reads from a project's configuration,
//! and its commands.
//!
//! What builds, runs, judges and reports is [`nondex_harness`].

pub mod cli;
pub mod command;
pub mod config;
pub mod repro;
