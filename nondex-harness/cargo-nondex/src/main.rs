//! The `cargo nondex` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Cargo starts this executable again as a wrapper of its tools. Such a call must not reach the
    // parser of the command line.
    if let Some(code) = cargo_nondex::project::intercept() {
        return code;
    }
    cargo_nondex::command::main(std::env::args_os()).into()
}
