//! Other programs, with errors that name them.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

/// The message about a program that could not be run.
pub fn not_run(program: impl AsRef<OsStr>, error: &io::Error) -> String {
    format!("failed to run `{}`: {error}", program.as_ref().display())
}

/// Runs a program: how it ended, and what it wrote.
///
/// # Errors
/// When it cannot be run.
pub fn output(command: &mut Command) -> Result<Output, String> {
    command.output().map_err(|e| not_run(command.get_program(), &e))
}

/// Becomes a program; why that failed.
pub fn replace(command: &mut Command) -> String {
    let error = command.exec();
    not_run(command.get_program(), &error)
}
