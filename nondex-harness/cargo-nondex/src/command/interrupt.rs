//! Ctrl-C: the first ends the campaign with a partial report, the second ends the process.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use nondex_harness::campaign::StopFlag;
use nondex_harness::campaign::process::guardian;
use nondex_harness::error::{Error, Result};

/// As a shell reports a process that a signal ended.
const SIGNAL_BASE: i32 = 128;

/// Makes SIGINT and SIGTERM set the flag that is returned, and end the process when it is already set.
///
/// SIGHUP is left alone: `nohup` has it ignored, and a handler would undo that.
pub(super) fn install() -> Result<StopFlag> {
    // What cannot be handled must leave no test behind, either.
    guardian::start();
    let stop = StopFlag::new();
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag unset, and sets it.
        flag::register_conditional_shutdown(signal, SIGNAL_BASE + signal, stop.handle())
            .and_then(|_| flag::register(signal, stop.handle()))
            .map_err(|error| Error::setup(format!("failed to handle signal {signal}: {error}")))?;
    }
    Ok(stop)
}

/// Makes SIGINT do nothing to this process: it is meant for the debugger that it has started.
pub(super) fn leave_to_debugger() -> Result<()> {
    flag::register(SIGINT, Arc::new(AtomicBool::new(false)))
        .map(drop)
        .map_err(|error| Error::setup(format!("failed to handle signal {SIGINT}: {error}")))
}
