//! One test process: started, watched, and ended whatever it does.
//!
//! The driver waits only for the pipe of the process's output. The pipe closes when the process
//! ends, unless the test closed its output, or left a child that holds it. To notice both, the
//! driver also checks the process itself, at least once every `TICK`. So no test can make the
//! driver hang.

mod addresses;
mod confined;
#[cfg(target_os = "linux")]
mod fork_server;
#[cfg(not(target_os = "linux"))]
#[path = "process/fork_server/none.rs"]
mod fork_server;
pub mod guardian;
mod leftover;
mod mark;
#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod stacks;
#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod stacks {
    /// Returns no stacks: they cannot be read on this platform.
    pub(super) const fn of(_process: super::Pid) -> Vec<Vec<u64>> {
        Vec::new()
    }
}
mod watch;

pub(super) use addresses::are_addresses_random;
pub use addresses::{at_random_addresses, without_randomisation};
pub(super) use confined::confine;
pub(super) use fork_server::{ForkServer, StartId};

use std::io::{self, PipeReader};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::unistd::Pid;

use self::guardian::Guarded;
use self::watch::WatchedProcess;
use super::output::Output;
use super::stop::StopFlag;

/// Time for processes that a test left to end by themselves.
const LEFTOVER_GRACE: Duration = Duration::from_millis(100);

/// Number of attempts to start a process while a resource is exhausted.
const START_ATTEMPTS: u32 = 5;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The process exited with this code.
    Exited(i32),
    /// This signal ended the process.
    Signalled(i32),
    /// The process reached its time limit and was killed.
    TimedOut,
    /// The campaign was stopped, and the process was killed.
    Stopped,
}

impl End {
    /// Returns whether the process ended without being killed by this program.
    const fn is_by_itself(self) -> bool {
        matches!(self, End::Exited(_) | End::Signalled(_))
    }
}

/// Result of a process that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How the process ended.
    pub end: End,
    /// Output of the process.
    pub output: Output,
    /// Stacks of its threads at the time limit: return addresses in the program, relative to where
    /// it is loaded, the innermost first. Running threads come before waiting threads.
    pub stacks: Vec<Vec<u64>>,
    /// Processor time that it took itself, without its children.
    pub busy: Duration,
    /// Whether it left a process that had to be killed, in any session, or that holds its output.
    pub left_child: bool,
}

/// Limits of a process.
pub(super) struct Limits<'l> {
    /// Time limit.
    pub(super) elapsed: Duration,
    /// Limit on the processor time that it takes itself, without its children.
    pub(super) busy: Option<Duration>,
    /// Returns the additional time when the time limit is reached, if any.
    pub(super) more: &'l dyn Fn() -> Option<Duration>,
}

impl Limits<'_> {
    /// Returns a time limit that nothing extends.
    pub(super) const fn fixed(elapsed: Duration) -> Self {
        Limits { elapsed, busy: None, more: &|| None }
    }
}

/// Starts `command` in a separate process group, without input, and waits for its end or for
/// `timeout`. When this returns, the whole group has ended. Processes that left the group (daemons)
/// have ended too, unless one may belong to another run in progress: that run then ends it.
///
/// Costs no thread, and one pipe, in addition to starting and waiting for the process. On Linux
/// this makes the calling process a child subreaper (prctl(2)).
///
/// # Errors
/// Returns an error if the process cannot be started.
pub fn run(command: Command, timeout: Duration, stop: &StopFlag) -> io::Result<Finished> {
    run_limited(command, None, &Limits::fixed(timeout), stop)
}

/// Like [`run`], with further limits. If possible, the process is a fork of `server`, which has the
/// same program and environment.
///
/// # Errors
/// As [`run`].
pub(super) fn run_limited(
    mut command: Command,
    server: Option<&ForkServer>,
    limits: &Limits<'_>,
    stop: &StopFlag,
) -> io::Result<Finished> {
    let (reader, writer) = io::pipe()?;
    let output = OwnedFd::from(writer.try_clone()?);
    command.stdout(writer.try_clone()?).stderr(writer);
    let mark = mark::given(&command);
    // The command and the descriptor are dropped when the process has started. Otherwise the pipe
    // would never close.
    let start = || {
        let forked = server.and_then(|server| server.fork(&command, &output).ok());
        drop(output);
        forked.map_or_else(|| start(command), Ok)
    };
    watched(mark, start, Some(reader), limits, stop)
}

/// Like [`run`], but the process writes to our own output, and nothing is captured.
///
/// # Errors
/// As [`run`].
pub fn run_shown(command: Command, timeout: Duration, stop: &StopFlag) -> io::Result<Finished> {
    watched(mark::given(&command), || start(command), None, &Limits::fixed(timeout), stop)
}

/// Starts a process with this mark by calling `start`, and waits for its end. Its output, if
/// captured, comes from `reader`.
fn watched(
    mark: Option<Vec<u8>>,
    start: impl FnOnce() -> io::Result<Pid>,
    reader: Option<PipeReader>,
    limits: &Limits<'_>,
    stop: &StopFlag,
) -> io::Result<Finished> {
    static STARTED: AtomicU32 = AtomicU32::new(0);
    adopt_orphans();
    let mut guarded = Guarded::announced(mark.as_deref());
    skip_numbers(skipped(STARTED.fetch_add(1, Ordering::Relaxed)));
    let run = leftover::start(mark, start)?;
    let leader = run.leader();
    guarded.started(leader);
    let mut watch = WatchedProcess::new(leader, reader);
    let ended = watch.wait(limits, stop).and_then(|end| Ok((end, watch.end_group(end)?)));
    match ended {
        Ok((end, left_child)) => {
            let is_by_itself = end.is_by_itself();
            let grace = if is_by_itself && !left_child { LEFTOVER_GRACE } else { Duration::ZERO };
            let left_daemon = run.sweep(grace) && is_by_itself;
            let WatchedProcess { output, stacks, busy, .. } = watch;
            Ok(Finished { end, output, stacks, busy, left_child: left_child || left_daemon })
        }
        Err(e) => {
            let _ = watch.kill();
            Err(e)
        }
    }
}

/// Starts a process. Retries after a pause if resources are short, as they may be while many tests
/// run. Also retries if the executable is open for writing, as it may be in a child that another
/// thread has just forked.
fn start(mut command: Command) -> io::Result<Pid> {
    command.stdin(Stdio::null()).process_group(0);
    let mut pause = Duration::from_millis(10);
    for _ in 1..START_ATTEMPTS {
        match command.spawn() {
            Err(e)
                if e.raw_os_error().is_some_and(|code| {
                    matches!(
                        Errno::from_raw(code),
                        Errno::EAGAIN
                            | Errno::ENOMEM
                            | Errno::EMFILE
                            | Errno::ENFILE
                            | Errno::ETXTBSY
                    )
                }) =>
            {
                thread::sleep(pause);
                pause *= 4;
            }
            result => return result.map(|child| id(&child)),
        }
    }
    command.spawn().map(|child| id(&child))
}

/// Returns the id of a child that this program waits for by its id.
fn id(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("a process id is positive and fits"))
}

/// Uses up process ids, so that the next process does not always get the next one. A thread uses an
/// id too, and is cheaper than a process.
fn skip_numbers(skipped: u32) {
    for _ in 0..skipped {
        // If no thread can be started, ids vary less. That is acceptable.
        if let Ok(thread) = thread::Builder::new().spawn(|| {}) {
            let _ = thread.join();
        }
    }
}

/// Returns how many process ids to use up before the `started`th process. Each run of a lone test
/// uses the same number of ids, so that otherwise all could have an even id, for example.
const fn skipped(started: u32) -> u32 {
    let mixed = started.wrapping_mul(0x9e37_79b9);
    (mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca6b) >> 31
}

/// Makes this process the parent of orphans among its descendants, if the platform supports it.
fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        // Linux supports this since 3.4. Without it, init adopts orphans, as on other platforms.
        ONCE.call_once(|| {
            let _ = nix::sys::prctl::set_child_subreaper(true);
        });
    }
}

#[cfg(test)]
mod tests;
