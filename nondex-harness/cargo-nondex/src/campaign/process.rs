//! One test process: started, watched, and ended whatever it does.
//!
//! Only the pipe of its output is waited for: it ends when the process ends, unless the test closed
//! its output, or left a child that holds it. Both are noticed by looking at the process itself,
//! every `TICK` at the latest, so that nothing a test does can make the driver hang.

mod addresses;
mod confined;
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
    /// Nothing is known of the threads of a process here.
    pub(super) const fn of(_process: super::Pid) -> Vec<Vec<u64>> {
        Vec::new()
    }
}
mod watch;

pub use addresses::{at_random_addresses, without_randomisation};
pub(super) use confined::confine;

use std::io::{self, PipeReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::unistd::Pid;

use self::guardian::Guarded;
use self::watch::Watch;
use super::output::Output;
use super::stop::StopFlag;

/// How long the processes that a test leaves may take to end by themselves.
const LEFTOVER_GRACE: Duration = Duration::from_millis(100);

/// How many times the start of a process is tried while a resource is exhausted.
const START_ATTEMPTS: u32 = 5;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited with this code.
    Exited(i32),
    /// This signal ended it.
    Signalled(i32),
    /// It took too long and was killed.
    TimedOut,
    /// The campaign was stopped, and it was killed.
    Stopped,
}

impl End {
    /// Whether nobody ended the process.
    const fn is_by_itself(self) -> bool {
        matches!(self, End::Exited(_) | End::Signalled(_))
    }
}

/// What is known of a process that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// What it wrote.
    pub output: Output,
    /// Where its threads were when it took too long: return addresses in the program, relative to
    /// where it is loaded, the innermost first; those that ran before those that waited.
    pub stacks: Vec<Vec<u64>>,
    /// Whether it left a process that had to be killed, whatever session that is in, or that holds
    /// its output.
    pub left_child: bool,
}

/// Starts `command` in a separate process group, without input, and waits for its end or for
/// `timeout`. When this returns, the whole group has ended, and so has what left it (a daemon),
/// unless that may be of another run that is under way: then it ends with that.
///
/// Costs no thread, and one pipe, above starting and waiting for the process. On Linux this makes
/// the calling process a child subreaper (prctl(2)).
///
/// # Errors
/// When the process cannot be started.
pub fn run(mut command: Command, timeout: Duration, stop: &StopFlag) -> io::Result<Finished> {
    let (reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    watched(command, Some(reader), timeout, &|| None, stop)
}

/// As [`run`], but when the time is over, it may be given `more`.
///
/// # Errors
/// As [`run`].
pub fn run_longer(
    mut command: Command,
    timeout: Duration,
    more: &dyn Fn() -> Option<Duration>,
    stop: &StopFlag,
) -> io::Result<Finished> {
    let (reader, writer) = io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    watched(command, Some(reader), timeout, more, stop)
}

/// As [`run`], but what the process writes goes where ours goes, as it comes, and is not kept.
///
/// # Errors
/// As [`run`].
pub fn run_shown(command: Command, timeout: Duration, stop: &StopFlag) -> io::Result<Finished> {
    watched(command, None, timeout, &|| None, stop)
}

/// Starts a process whose output, if it is kept, comes from `reader`, and waits for its end.
fn watched(
    mut command: Command,
    reader: Option<PipeReader>,
    timeout: Duration,
    more: &dyn Fn() -> Option<Duration>,
    stop: &StopFlag,
) -> io::Result<Finished> {
    adopt_orphans();
    command.stdin(Stdio::null()).process_group(0);
    let mark = mark::given(&command);
    let mut guarded = Guarded::announced(mark.as_deref());
    let (child, run) = leftover::start(&mut command, mark, start)?;
    // It holds the writing end of the pipe.
    drop(command);
    let group =
        Pid::from_raw(i32::try_from(child.id()).expect("a process id is positive and fits"));
    guarded.started(group);
    let mut watch = Watch::new(child, group, reader);
    let ended = watch.wait(Instant::now().checked_add(timeout), more, stop);
    let ended = ended.and_then(|end| Ok((end, watch.end_group(end)?)));
    match ended {
        Ok((end, left_child)) => {
            let is_by_itself = end.is_by_itself();
            let grace = if is_by_itself && !left_child { LEFTOVER_GRACE } else { Duration::ZERO };
            let left_daemon = run.sweep(grace) && is_by_itself;
            let Watch { output, stacks, .. } = watch;
            Ok(Finished { end, output, stacks, left_child: left_child || left_daemon })
        }
        Err(e) => {
            let _ = watch.kill();
            Err(e)
        }
    }
}

/// Starts a process. Retries after a pause if resources are short, as they may be while many tests
/// run. Also retries if the executable is opened for writing, as it may be in a child that another
/// thread has just forked.
fn start(command: &mut Command) -> io::Result<Child> {
    static STARTED: AtomicU32 = AtomicU32::new(0);
    skip_numbers(skipped(STARTED.fetch_add(1, Ordering::Relaxed)));
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
            result => return result,
        }
    }
    command.spawn()
}

/// Takes the next process numbers, so that the process that is started then has another one. A
/// thread takes one too, and is cheaper.
fn skip_numbers(skipped: u32) {
    for _ in 0..skipped {
        // Where no thread can be had, the number is only less varied.
        if let Ok(thread) = thread::Builder::new().spawn(|| {}) {
            let _ = thread.join();
        }
    }
}

/// How many process numbers are taken before the `started`th process is started. Each run of a test
/// alone uses up equally many, so that without this all would have, for example, an even one.
const fn skipped(started: u32) -> u32 {
    let mixed = started.wrapping_mul(0x9e37_79b9);
    (mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca6b) >> 30
}

/// Makes this process the parent of orphans among its descendants, where the platform can.
fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        // Known to every Linux since 3.4; without it, orphans are left to init as on other
        // platforms.
        ONCE.call_once(|| {
            let _ = nix::sys::prctl::set_child_subreaper(true);
        });
    }
}

#[cfg(test)]
mod tests;
