//! A command that gets the signals by which somebody wants to end this process.
//!
//! What a terminal sends, by Ctrl-C or when it is closed, the command gets itself, and decides how
//! it ends. What a process sends may be for this process alone, as by `kill` or from a CI system.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};

use nix::errno::Errno;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;

/// Signals that request the end of a process.
const ENDING: [Signal; 3] = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM];

/// Runs a command to its end, and passes on to it what other processes send to this one.
///
/// # Errors
/// When it cannot be started, or signals cannot be read.
pub(super) fn run(command: &mut Command) -> io::Result<ExitStatus> {
    let mut awaited = SigSet::empty();
    awaited.add(Signal::SIGCHLD);
    // `nohup` has SIGHUP ignored.
    for signal in ENDING.into_iter().filter(|signal| !is_ignored(*signal)) {
        awaited.add(signal);
    }
    let before = awaited.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let signals = SignalFd::with_flags(&awaited, SfdFlags::SFD_CLOEXEC)?;
    // A new process has the signal mask of its parent.
    let unblock = move || Ok(before.thread_set_mask()?);
    #[expect(unsafe_code, reason = "only std's unsafe function does this")]
    // SAFETY: between fork and exec it makes a system call, and takes no memory.
    unsafe {
        command.pre_exec(unblock);
    };
    let mut child = command.spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let received = match signals.read_signal() {
            // It was stopped, and goes on.
            Err(Errno::EINTR) | Ok(None) => continue,
            received => received?,
        };
        // The kernel's codes are positive.
        let of_process = received.filter(|received| received.ssi_code <= 0);
        let signal = of_process.and_then(|received| i32::try_from(received.ssi_signo).ok());
        let signal = signal.and_then(|signal| Signal::try_from(signal).ok());
        if let Some(signal) = signal.filter(|signal| *signal != Signal::SIGCHLD) {
            pass_on(signal, &child);
        }
    }
}

/// Sends a signal to a command that was not waited for.
fn pass_on(signal: Signal, child: &Child) {
    if let Ok(id) = i32::try_from(child.id()) {
        // One that has just ended gets none.
        let _ = kill(Pid::from_raw(id), signal);
    }
}

/// Whether this process was started with a signal ignored.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal as i32 - 1) & 1 == 1)
}
