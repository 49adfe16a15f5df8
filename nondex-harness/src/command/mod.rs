//! What each command does.

use std::ffi::OsString;

use crate::exit_code::ExitCode;

/// Runs the command line.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    match crate::cli::CommandLine::parse(args) {
        Ok(_) => ExitCode::Ok,
        Err(e) => {
            let _ = e.print();
            ExitCode::Usage
        }
    }
}
