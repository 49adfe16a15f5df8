//! Model Context Protocol: JSON-RPC on stdin and stdout, implemented by the crate `rmcp`.

use std::process::Child;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::runtime::Builder;

use super::tools::{ToolAnswer, ToolCall, Tools, descriptions, parsed, refused};
use crate::error::{Error, OrSetup, Result};

/// Instructions that a client may show to its model.
const INSTRUCTIONS: &str = concat!(
    "Flaky tests of a Rust project, as `cargo nondex check` has found them: run that command ",
    "first, and again after a change. What a finding's `disproved_by` names would refute it.",
);

/// Serves these tools until stdin ends.
///
/// # Errors
/// When the server cannot be started, or ends with an error.
pub(super) fn serve(tools: Tools) -> Result<()> {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .build()
        .or_setup("failed to start the server")?;
    let served = runtime.block_on(async {
        let transport = (tokio::io::stdin(), tokio::io::stdout());
        let service = Server { tools }.serve(transport).await;
        service.map_err(|e| e.to_string())?.waiting().await.map_err(|e| e.to_string())
    });
    match served {
        Ok(_) => Ok(()),
        Err(e) => Err(Error::setup(format!("the server ended: {e}"))),
    }
}

/// Request handler of the server.
struct Server {
    tools: Tools,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let own = Implementation::new("cargo-nondex", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(own).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = descriptions().into_iter().map(|(name, text, schema)| {
            let schema = schema.as_object().cloned().unwrap_or_default();
            Tool::new(name, text, schema)
        });
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let call = json!({ "name": request.name, "arguments": arguments });
        let tool_call: ToolCall = serde_json::from_value(call)
            .map_err(|e| ErrorData::invalid_params(refused(&request.name, &e), None))?;
        let answer = context.ct.run_until_cancelled(self.answered(&tool_call)).await;
        let result = match answer {
            Some(Ok(value)) => CallToolResult::structured(value),
            Some(Err(message)) => CallToolResult::error(vec![ContentBlock::text(message)]),
            None => CallToolResult::error(vec![ContentBlock::text("cancelled")]),
        };
        Ok(result.into())
    }
}

impl Server {
    /// Returns the result of a call, after the process that it needs has ended.
    async fn answered(&self, call: &ToolCall) -> Result<Value, String> {
        let in_words = |e: Error| e.to_string();
        match self.tools.answer(call).map_err(in_words)? {
            ToolAnswer::Ready(value) => Ok(value),
            ToolAnswer::Running(child) => output_of(child).await,
            ToolAnswer::Searching(child, test) => {
                // If the search fails, the present state of the finding is explained anyway.
                let _ = output_of(child).await;
                self.tools.explained(&test).map_err(in_words)
            }
        }
    }
}

/// Waits for a process and returns the JSON that it wrote. Interrupts the process if the future is
/// dropped.
async fn output_of(child: Child) -> Result<Value, String> {
    let running = Running(child.id());
    let output = tokio::task::spawn_blocking(|| child.wait_with_output()).await;
    // The process has ended, and its id may be reused. It must not be interrupted any more.
    std::mem::forget(running);
    let finished = output.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
    parsed(&finished)
}

/// Id of a process that is interrupted on drop. The process then ends its tests, as after Ctrl-C.
struct Running(u32);

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(id) = i32::try_from(self.0) {
            let _ = kill(Pid::from_raw(id), Signal::SIGINT);
        }
    }
}
