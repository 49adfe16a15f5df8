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

pub use addresses::{enable_address_randomisation, without_randomisation};
pub(super) use confined::confine;

use std::io::{self, PipeReader};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use self::guardian::Guarded;
use super::output::Output;
use super::stop::StopFlag;
use super::system;

/// How often a process whose output is still open is looked at.
const TICK: Duration = Duration::from_millis(50);

/// How long the processes that a test leaves may take to end by themselves.
const LEFTOVER_GRACE: Duration = Duration::from_millis(100);

/// How long the children that other threads have forked may take to become programs.
const START_GRACE: Duration = Duration::from_secs(1);

/// How many reads may get what was written before that time was over: more than the largest pipe
/// holds.
const MAX_LATE_READS: u32 = 32;

/// How long a process group may take to end after SIGTERM before it gets SIGKILL.
const TERM_GRACE: Duration = Duration::from_millis(100);

/// How often the processor is given away to a process that is about to end, before the wait for it
/// becomes a sleep.
const MAX_YIELDS: u32 = 32;

/// How much is read at once: what a pipe holds.
const BUFFER: usize = 64 << 10;

/// Number of reads in a row that got little, after which, the next one waits until there is more: a
/// test that writes a line in ten pieces would wake us, and wait for us, ten times.
const MAX_SMALL_READS: u32 = 8;

/// How long it waits. In this time no test writes as much as a pipe holds, in small pieces.
const GATHERING: Duration = Duration::from_millis(1);

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

/// What is known of a process that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// What it wrote.
    pub output: Output,
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
    watch(command, Some(reader), timeout, &|| None, stop)
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
    watch(command, Some(reader), timeout, more, stop)
}

/// As [`run`], but what the process writes goes where ours goes, as it comes, and is not kept.
///
/// # Errors
/// As [`run`].
pub fn run_shown(command: Command, timeout: Duration, stop: &StopFlag) -> io::Result<Finished> {
    watch(command, None, timeout, &|| None, stop)
}

/// Starts a process whose output, if it is kept, comes from `reader`, and waits for its end.
fn watch(
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
    let mut watch = Watch {
        group,
        child,
        reader,
        small_reads: 0,
        buffer: vec![0; BUFFER],
        output: Output::default(),
    };
    let ended = watch.wait(Instant::now().checked_add(timeout), more, stop);
    let ended = ended.and_then(|end| Ok((end, watch.end_group(end)?)));
    match ended {
        Ok((end, left_child)) => {
            let is_by_itself = is_by_itself(end);
            let grace = if is_by_itself && !left_child {
                LEFTOVER_GRACE
            } else {
                Duration::ZERO
            };
            let left_daemon = run.sweep(grace) && is_by_itself;
            Ok(Finished {
                end,
                output: watch.output,
                left_child: left_child || left_daemon,
            })
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

/// A process while it is watched.
#[derive(Debug)]
struct Watch {
    child: Child,
    group: Pid,
    /// Closed at the end of the output.
    reader: Option<PipeReader>,
    buffer: Vec<u8>,
    output: Output,
    /// How many reads in a row got little.
    small_reads: u32,
}

impl Watch {
    /// Waits for the end of the process and reaps it; kills it at the deadline, unless it is given
    /// more time then, and when stopped.
    fn wait(
        &mut self,
        mut deadline: Option<Instant>,
        more: &dyn Fn() -> Option<Duration>,
        stop: &StopFlag,
    ) -> io::Result<End> {
        let mut pause = Duration::from_micros(50);
        let mut yields = 0;
        let mut looked = Instant::now();
        loop {
            let now = Instant::now();
            let left = deadline.map_or(TICK, |deadline| deadline.saturating_duration_since(now));
            if stop.is_set() {
                self.kill()?;
                return Ok(End::Stopped);
            }
            if left.is_zero() {
                // It may have ended just now.
                if let Some(status) = self.child.try_wait()? {
                    return Ok(end(status));
                }
                if let Some(more) = more() {
                    deadline = now.checked_add(more);
                    continue;
                }
                self.kill()?;
                return Ok(End::TimedOut);
            }
            if self.reader.is_none() {
                // Its output is closed: nearly always because it is about to end.
                if yields < MAX_YIELDS {
                    yields += 1;
                    thread::yield_now();
                } else {
                    thread::sleep(pause.min(left));
                    pause = (pause * 2).min(TICK);
                }
            } else if self.read(left.min(TICK))? && looked + TICK > now {
                if self.small_reads >= MAX_SMALL_READS {
                    thread::sleep(GATHERING.min(left));
                }
                continue;
            }
            looked = now;
            if let Some(status) = self.child.try_wait()? {
                return Ok(end(status));
            }
        }
    }

    /// Waits for output, at most this long, and reads what there is. Whether there was any; the end
    /// of it closes the reader.
    fn read(&mut self, wait: Duration) -> io::Result<bool> {
        let Some(reader) = &self.reader else {
            return Ok(false);
        };
        // Rounded up, so that the last millisecond before a deadline is not polled in a busy loop.
        let wait = i32::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
        let wait = PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(reader.as_fd(), PollFlags::POLLIN)], wait) {
            Ok(0) | Err(Errno::EINTR) => Ok(false),
            Ok(_) => match self.output.fill(reader, &mut self.buffer) {
                Ok(0) => {
                    self.reader = None;
                    Ok(false)
                }
                Ok(read) => {
                    let is_small = read < BUFFER / 4;
                    self.small_reads = if is_small { self.small_reads + 1 } else { 0 };
                    Ok(true)
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(false),
                Err(e) => Err(e),
            },
            Err(e) => Err(e.into()),
        }
    }

    /// Ends the group and reaps the process: with SIGTERM, so that a wrapper can clean up, and
    /// after a pause, or when the process has ended, with SIGKILL.
    fn kill(&mut self) -> io::Result<()> {
        // The process is not reaped yet, so the group's id is still its own.
        let _ = killpg(self.group, Signal::SIGTERM);
        let deadline = Instant::now() + TERM_GRACE;
        let mut pause = Duration::from_micros(100);
        while self.child.try_wait()?.is_none() && Instant::now() < deadline {
            // What a dying process writes is worth reading, and a full pipe would keep it from
            // dying.
            if self.reader.is_some() {
                self.read(pause)?;
            } else {
                thread::sleep(pause);
            }
            pause *= 2;
        }
        let _ = killpg(self.group, Signal::SIGKILL);
        self.child.wait()?;
        Ok(())
    }

    /// Reads the rest of the output of a process that was reaped, and kills what is left of its
    /// group. Whether a process that ended by itself left others.
    fn end_group(&mut self, end: End) -> io::Result<bool> {
        let by_itself = is_by_itself(end);
        if by_itself && self.drain(LEFTOVER_GRACE)? {
            return Ok(false);
        }
        // A process that another thread has just forked holds our pipes until it is a program.
        if by_itself && !is_alive(self.group) && self.reader.is_some() {
            await_starts(START_GRACE);
            if self.drain(LEFTOVER_GRACE / 4)? {
                return Ok(false);
            }
        }
        let _ = killpg(self.group, Signal::SIGKILL);
        // Killed writers leave what they wrote; a writer in another session is not waited for.
        self.drain(LEFTOVER_GRACE / 4)?;
        Ok(by_itself)
    }

    /// Reads until the output has ended and nobody is left in the group, at most for `grace`.
    /// Whether that came to be.
    fn drain(&mut self, grace: Duration) -> io::Result<bool> {
        let deadline = Instant::now() + grace;
        let mut pause = Duration::from_micros(100);
        let mut late_reads = 0;
        loop {
            // The last look is one after the deadline, and what was written before it is no sign of
            // a writer: this process may have been held up for as long.
            let is_late = Instant::now() >= deadline;
            let wait = if is_late { Duration::ZERO } else { pause };
            let has_read = self.reader.is_some() && self.read(wait)?;
            if self.reader.is_none() && !is_alive(self.group) {
                return Ok(true);
            }
            if is_late {
                if !has_read || late_reads == MAX_LATE_READS {
                    return Ok(false);
                }
                late_reads += 1;
                continue;
            }
            if self.reader.is_none() {
                thread::sleep(pause);
            }
            pause = (pause * 2).min(grace / 4);
        }
    }
}

/// Whether nobody ended the process.
const fn is_by_itself(end: End) -> bool {
    matches!(end, End::Exited(_) | End::Signalled(_))
}

/// Whether a process of the group lives whose leader was reaped.
fn is_alive(group: Pid) -> bool {
    // Orphans of the group are ours to reap (see `adopt_orphans`): in a container, often nobody
    // else does, and a dead process that is not reaped looks alive to kill(2).
    loop {
        match waitpid(Pid::from_raw(-group.as_raw()), Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => return true,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => break,
        }
    }
    // The group's id is in use while a member lives; once free, it is not given out again before
    // the kernel's counter has gone round, which takes far longer than this.
    killpg(group, None).is_ok()
}

/// Waits, at most for `grace`, until every child that still is a copy of this process has become a
/// program.
fn await_starts(grace: Duration) {
    let us = Pid::this().as_raw();
    let own_program = std::fs::read_link("/proc/self/exe").ok();
    let is_starting = |id: i32| {
        !guardian::is_guardian(id)
            && std::fs::read_link(format!("/proc/{id}/exe")).ok() == own_program
    };
    let deadline = Instant::now() + grace;
    while Instant::now() < deadline
        && system::processes()
            .any(|(id, process)| process.parent == us && !process.is_dead && is_starting(id))
    {
        thread::sleep(Duration::from_millis(1));
    }
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

fn end(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, Some(signal)) => End::Signalled(signal),
        (None, None) => unreachable!("a process that was waited for has exited or was signalled"),
    }
}

#[cfg(test)]
mod tests;
