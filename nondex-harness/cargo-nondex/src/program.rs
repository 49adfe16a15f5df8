//! Calls of other programs, with errors that name them.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

/// Returns the message about a program that could not be run.
pub fn not_run(program: impl AsRef<OsStr>, error: &io::Error) -> String {
    format!("failed to run `{}`: {error}", program.as_ref().display())
}

/// Runs a program. Returns how it ended and what it wrote.
///
/// # Errors
/// Returns the message if the program cannot be run.
pub fn output(command: &mut Command) -> Result<Output, String> {
    command.output().map_err(|e| not_run(command.get_program(), &e))
}

/// Replaces this process by a program. Returns only if that fails, with the message.
pub fn replace(command: &mut Command) -> String {
    let error = command.exec();
    not_run(command.get_program(), &error)
}
