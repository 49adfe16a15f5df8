//! `cargo nondex mcp`: runs a server of the Model Context Protocol, for agents and editors.
//!
//! [`tools`] has the tools that the server offers, and [`server`] the protocol. Their dependencies
//! are compiled only with the feature `mcp`.

#[cfg(feature = "mcp")]
mod server;
#[cfg(feature = "mcp")]
mod tools;

use crate::cli::LocationArgs;
#[cfg(not(feature = "mcp"))]
use crate::error::Error;
use crate::error::Result;
use crate::exit_code::ExitCode;

/// Serves requests until stdin ends.
#[cfg(feature = "mcp")]
pub(super) fn mcp(location: &LocationArgs) -> Result<ExitCode> {
    tools::Tools::new(location).and_then(server::serve).map(|()| ExitCode::Ok)
}

/// Returns an error that explains how to build the server.
#[cfg(not(feature = "mcp"))]
pub(super) fn mcp(_location: &LocationArgs) -> Result<ExitCode> {
    Err(Error::usage(
        "this `cargo nondex` was built without its MCP server: \
         `cargo install --locked --path nondex-harness/cargo-nondex --features mcp` in its sources \
         builds it",
    ))
}
