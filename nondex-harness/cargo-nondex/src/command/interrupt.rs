//! Ctrl-C: the first ends the campaign with a partial report, the second ends the process.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::pipe;

use crate::campaign::StopFlag;
use crate::campaign::process::guardian;
use crate::error::{Error, Result};

/// As a shell reports a process that a signal ended.
const SIGNAL_BASE: i32 = 128;

/// How long after the first signal another one is still the same request: `timeout` sends one to
/// its command, and at once one to the group that the command is in.
const ONE_REQUEST: Duration = Duration::from_secs(1);

/// Makes SIGINT and SIGTERM set the flag that is returned, and end the process when they come again
/// later.
///
/// SIGHUP is left alone: `nohup` has it ignored, and a handler would undo that.
pub(super) fn install() -> Result<StopFlag> {
    // What cannot be handled must leave no test running, either.
    guardian::start();
    let stop = StopFlag::new();
    let asked_before = Arc::new(AtomicBool::new(false));
    let (mut first, told) = UnixStream::pair()
        .map_err(|error| Error::setup(format!("failed to handle signals: {error}")))?;
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(
            signal,
            SIGNAL_BASE + signal,
            Arc::clone(&asked_before),
        )
        .and_then(|_| flag::register(signal, stop.handle()))
        .and_then(|_| pipe::register(signal, told.try_clone()?))
        .map_err(|error| Error::setup(format!("failed to handle signal {signal}: {error}")))?;
    }
    thread::spawn(move || {
        if first.read_exact(&mut [0]).is_ok() {
            thread::sleep(ONE_REQUEST);
            asked_before.store(true, Ordering::SeqCst);
        }
    });
    Ok(stop)
}

/// Makes SIGINT do nothing to this process: it is meant for the debugger that it has started.
pub(super) fn leave_to_debugger() -> Result<()> {
    flag::register(SIGINT, Arc::new(AtomicBool::new(false)))
        .map(drop)
        .map_err(|error| Error::setup(format!("failed to handle signal {SIGINT}: {error}")))
}
