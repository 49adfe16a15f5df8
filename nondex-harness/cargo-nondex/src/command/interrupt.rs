//! Handles Ctrl-C: the first one ends the campaign with a partial report, the second one ends the
//! process.

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
use crate::error::{OrSetup, Result};
use crate::interruption;

/// Exit code of a process that a signal ended, minus the signal's number, as in a shell.
pub(super) const SIGNAL_BASE: i32 = 128;

/// Time during which another signal counts as the same request. `timeout` sends a signal to its
/// command, and immediately another one to the command's process group.
const ONE_REQUEST: Duration = Duration::from_secs(1);

/// Makes SIGINT and SIGTERM set the returned flag. After [`ONE_REQUEST`], another one ends the
/// process.
///
/// SIGHUP is left alone: `nohup` ignores it, and a handler would undo that.
///
/// # Errors
/// When the handlers cannot be installed.
pub(super) fn install() -> Result<StopFlag> {
    // SIGKILL cannot be handled, but it must not leave tests running either.
    guardian::start();
    let stop = StopFlag::new();
    let is_second = Arc::new(AtomicBool::new(false));
    let (mut first, sender) = UnixStream::pair().or_setup("failed to handle signals")?;
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, SIGNAL_BASE + signal, Arc::clone(&is_second))
            .and_then(|_| flag::register(signal, stop.handle()))
            .and_then(|_| flag::register(signal, interruption::flag()))
            .and_then(|_| pipe::register(signal, sender.try_clone()?))
            .or_setup(format_args!("failed to handle signal {signal}"))?;
    }
    // The time is measured in a thread, because a signal handler cannot wait.
    thread::spawn(move || {
        if first.read_exact(&mut [0]).is_ok() {
            thread::sleep(ONE_REQUEST);
            is_second.store(true, Ordering::SeqCst);
        }
    });
    Ok(stop)
}

/// Makes SIGINT do nothing in this process, because it is meant for the debugger that this process
/// started.
pub(super) fn leave_to_debugger() -> Result<()> {
    flag::register(SIGINT, Arc::new(AtomicBool::new(false)))
        .map(drop)
        .or_setup(format_args!("failed to handle signal {SIGINT}"))
}
