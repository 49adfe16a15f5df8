//! `cargo nondex schema`: prints JSON Schemas, for editors and for programs that read reports.

use super::console::Console;
use crate::cli::SchemaOf;
use crate::error::Result;
use crate::exit_code::ExitCode;

/// Writes a schema to stdout.
pub(super) fn schema(of: SchemaOf, console: &Console) -> Result<ExitCode> {
    console.product(match of {
        SchemaOf::Report => include_str!("schema/report.json"),
        SchemaOf::Events => include_str!("schema/events.json"),
        SchemaOf::Configuration => include_str!("schema/configuration.json"),
    })?;
    Ok(ExitCode::Ok)
}
