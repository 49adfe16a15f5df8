//! `cargo nondex mcp`: a server of the Model Context Protocol, for agents and editors.
//!
//! [`tools`] are what it offers, [`server`] is the protocol. Its crates are compiled with the
//! feature `mcp` only.

#[cfg(feature = "mcp")]
mod server;
#[cfg(feature = "mcp")]
mod tools;

use crate::cli::LocationArgs;
#[cfg(not(feature = "mcp"))]
use crate::error::Error;
use crate::error::Result;
use crate::exit_code::ExitCode;

/// Serves until stdin ends.
#[cfg(feature = "mcp")]
pub(super) fn mcp(location: &LocationArgs) -> Result<ExitCode> {
    tools::Tools::new(location).and_then(server::serve).map(|()| ExitCode::Ok)
}

/// An error, which shows how the server is built.
#[cfg(not(feature = "mcp"))]
pub(super) fn mcp(_location: &LocationArgs) -> Result<ExitCode> {
    Err(Error::usage(
        "this `cargo nondex` was built without its MCP server: \
         `cargo install --locked --path nondex-harness/cargo-nondex --features mcp` in its sources \
         builds it",
    ))
}
