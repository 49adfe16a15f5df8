//! Runs a command and passes on the signals that request the end of this process.
//!
//! The command itself gets signals of the terminal, after Ctrl-C or when the terminal is closed,
//! and decides how to end. A signal of another process, such as `kill` or a CI system, may be sent
//! to this process alone.

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

/// Runs a command to its end. Passes on to it the signals that other processes send to this one.
///
/// # Errors
/// When the command cannot be started, or signals cannot be read.
pub(super) fn run(command: &mut Command) -> io::Result<ExitStatus> {
    let mut awaited = SigSet::empty();
    awaited.add(Signal::SIGCHLD);
    // `nohup` ignores SIGHUP. An ignored signal is left alone, so that it is not passed on.
    for signal in ENDING.into_iter().filter(|signal| !is_ignored(*signal)) {
        awaited.add(signal);
    }
    let before = awaited.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let signals = SignalFd::with_flags(&awaited, SfdFlags::SFD_CLOEXEC)?;
    // A new process inherits the signal mask, so the command would start with blocked signals.
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
            // The process was stopped and continues (`EINTR`).
            Err(Errno::EINTR) | Ok(None) => continue,
            received => received?,
        };
        // `si_code` is positive for signals from the kernel, such as those of the terminal. The
        // command has received these itself.
        let of_process = received.filter(|received| received.ssi_code <= 0);
        let signal = of_process
            .and_then(|received| i32::try_from(received.ssi_signo).ok())
            .and_then(|number| Signal::try_from(number).ok());
        if let Some(signal) = signal.filter(|signal| *signal != Signal::SIGCHLD) {
            pass_on(signal, &child);
        }
    }
}

/// Sends a signal to a command that was not waited for, so its process id is still valid.
fn pass_on(signal: Signal, child: &Child) {
    if let Ok(id) = i32::try_from(child.id()) {
        // A command that has just ended ignores the signal.
        let _ = kill(Pid::from_raw(id), signal);
    }
}

/// Returns whether this process was started with a signal ignored.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal as i32 - 1) & 1 == 1)
}
