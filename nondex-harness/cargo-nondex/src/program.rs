//! Calls of other programs, with errors that name them.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::thread;

use crate::interruption::Passed;

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

/// Runs a program without input. Returns how it ended and what it wrote. Ends the program when the
/// user interrupts the command.
///
/// # Errors
/// Returns the message if the program cannot be run.
pub fn interruptible(command: &mut Command) -> Result<Output, String> {
    let program = command.get_program().to_owned();
    let failed = |e| not_run(&program, &e);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let passed = Passed::to(&child);
    let mut pipes = (child.stdout.take(), child.stderr.take());
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let read = thread::scope(|scope| {
        let other = scope.spawn(|| pipes.0.as_mut().map(|pipe| pipe.read_to_end(&mut stdout)));
        let own = pipes.1.as_mut().map(|pipe| pipe.read_to_end(&mut stderr));
        own.into_iter().chain(other.join().expect("reading does not panic")).find_map(Result::err)
    });
    drop(passed);
    let status = child.wait().map_err(failed)?;
    read.map_or(Ok(Output { status, stdout, stderr }), |e| Err(failed(e)))
}

/// Replaces this process by a program. Returns only if that fails, with the message.
pub fn replace(command: &mut Command) -> String {
    let error = command.exec();
    not_run(command.get_program(), &error)
}
