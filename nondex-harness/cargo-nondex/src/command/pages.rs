//! `cargo nondex completions`, `man` and `schema`: files that describe this tool to other programs.

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use super::console::Console;
use crate::cli::{CommandLine, SchemaOf};
use crate::error::{OrSetup, Result};
use crate::exit_code::ExitCode;

/// Name of the executable, as a shell completes it.
const EXECUTABLE: &str = "cargo-nondex";

/// Writes the completions for a shell to stdout.
pub(super) fn completions(shell: Shell, console: &Console) -> Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), EXECUTABLE, &mut text);
    console.product(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::Ok)
}

/// Writes the manual page to stdout.
pub(super) fn man(console: &Console) -> Result<ExitCode> {
    let mut text = Vec::new();
    Man::new(CommandLine::command())
        .render(&mut text)
        .or_setup("failed to write the manual page")?;
    console.product(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::Ok)
}

/// Writes a schema to stdout.
pub(super) fn schema(of: SchemaOf, console: &Console) -> Result<ExitCode> {
    console.product(match of {
        SchemaOf::Report => include_str!("schema/report.json"),
        SchemaOf::Events => include_str!("schema/events.json"),
        SchemaOf::Configuration => include_str!("schema/configuration.json"),
    })?;
    Ok(ExitCode::Ok)
}
