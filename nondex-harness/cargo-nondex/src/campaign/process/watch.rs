//! A watched process: reads its output, waits for its end, and kills it if necessary.

use std::io::{self, PipeReader};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
#[cfg(target_os = "linux")]
use nix::sys::wait::{Id, waitid};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::{End, LEFTOVER_GRACE, Limits, guardian, stacks};
use crate::campaign::output::Output;
use crate::campaign::stop::StopFlag;
use crate::campaign::system::{self, Process};

/// Interval at which a process with open output is checked.
const TICK: Duration = Duration::from_millis(50);

/// Time for children that other threads have forked to execute their programs.
const START_GRACE: Duration = Duration::from_secs(1);

/// Maximum number of reads of output that was written before the deadline. It exceeds the capacity
/// of the largest pipe.
const MAX_LATE_READS: u32 = 32;

/// Time for a process group to end after SIGTERM before it gets SIGKILL.
const TERM_GRACE: Duration = Duration::from_millis(100);

/// Number of times that this thread yields to a process that is about to end, before it sleeps.
const MAX_YIELDS: u32 = 32;

/// Number of bytes read at a time: the capacity of a pipe.
const BUFFER: usize = 64 << 10;

/// Number of small reads in a row after which reading pauses to let output accumulate. Otherwise a
/// test that writes a line in ten pieces would wake the driver ten times, and wait for it.
const MAX_SMALL_READS: u32 = 8;

/// Duration of the pause. No test fills a pipe with small writes in this time.
const GATHERING: Duration = Duration::from_millis(1);

/// A process that is being watched.
#[derive(Debug)]
pub(super) struct WatchedProcess {
    /// First process, which leads a group.
    group: Pid,
    /// How the process ended, once it was waited for.
    end: Option<End>,
    /// Reading end of the output; closed at the end of the output.
    reader: Option<PipeReader>,
    buffer: Vec<u8>,
    pub(super) output: Output,
    /// Stacks of its threads at the time limit.
    pub(super) stacks: Vec<Vec<u64>>,
    /// Processor time that it took.
    pub(super) busy: Duration,
    /// Number of small reads in a row.
    small_reads: u32,
}

impl WatchedProcess {
    /// Watches a child that leads `group`. Its output comes from `reader`, if it is captured.
    pub(super) fn new(group: Pid, reader: Option<PipeReader>) -> Self {
        WatchedProcess {
            group,
            end: None,
            reader,
            buffer: vec![0; BUFFER],
            output: Output::default(),
            stacks: Vec::new(),
            busy: Duration::ZERO,
            small_reads: 0,
        }
    }

    /// Waits for the end of the process and reaps it. Kills it when stopped, and when it exceeds a
    /// limit.
    pub(super) fn wait(&mut self, limits: &Limits<'_>, stop: &StopFlag) -> io::Result<End> {
        let mut deadline = Instant::now().checked_add(limits.elapsed);
        let mut pause = Duration::from_micros(50);
        let mut yields = 0;
        let mut checked = Instant::now();
        loop {
            let now = Instant::now();
            let left = deadline.map_or(TICK, |deadline| deadline.saturating_duration_since(now));
            if stop.is_set() {
                self.kill()?;
                return Ok(End::Stopped);
            }
            if left.is_zero() {
                // The process may have ended just now.
                if let Some(end) = self.ended()? {
                    return Ok(end);
                }
                if let Some(more) = (limits.more)() {
                    deadline = now.checked_add(more);
                    continue;
                }
                return self.end_at_limit();
            }
            if self.reader.is_none() {
                // Its output is closed, nearly always because it is about to end.
                if yields < MAX_YIELDS {
                    yields += 1;
                    thread::yield_now();
                } else {
                    thread::sleep(pause.min(left));
                    pause = (pause * 2).min(TICK);
                }
            } else if self.read(left.min(TICK))? && checked + TICK > now {
                if self.small_reads >= MAX_SMALL_READS {
                    thread::sleep(GATHERING.min(left));
                }
                continue;
            }
            let is_new = checked + TICK <= now;
            checked = now;
            if let Some(end) = self.ended()? {
                return Ok(end);
            }
            if is_new && limits.busy.is_some_and(|limit| self.taken() >= limit) {
                return self.end_at_limit();
            }
        }
    }

    /// Returns how the process ended, if it did, and reaps it.
    fn ended(&mut self) -> io::Result<Option<End>> {
        // The system forgets the processor time when the process is reaped.
        #[cfg(target_os = "linux")]
        {
            let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
            if waitid(Id::Pid(self.group), flags) == Ok(WaitStatus::StillAlive) {
                return Ok(None);
            }
            self.busy = self.taken();
        }
        self.reap(WaitPidFlag::WNOHANG)
    }

    /// Waits for the process, or only asks. Returns how it ended, if it did.
    fn reap(&mut self, flags: WaitPidFlag) -> io::Result<Option<End>> {
        if self.end.is_none() {
            self.end = status_of(self.group, flags)?.map(end);
        }
        Ok(self.end)
    }

    /// Kills the process, which exceeds a limit, and notes what it was doing.
    fn end_at_limit(&mut self) -> io::Result<End> {
        self.busy = self.taken();
        self.stacks = stacks::of(self.group);
        self.kill()?;
        Ok(End::TimedOut)
    }

    /// Returns the processor time that the process has taken; zero if the system does not say.
    fn taken(&self) -> Duration {
        Process::of(self.group.as_raw()).map_or(Duration::ZERO, |process| process.busy())
    }

    /// Waits for output, at most for `wait`, and reads what is available. Returns whether there was
    /// any. Closes the reader at the end of the output.
    fn read(&mut self, wait: Duration) -> io::Result<bool> {
        let Some(reader) = &self.reader else { return Ok(false) };
        // Rounded up, so that the last millisecond before a deadline is not polled in a busy loop.
        let milliseconds = i32::try_from(wait.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
        let timeout = PollTimeout::try_from(milliseconds).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(reader.as_fd(), PollFlags::POLLIN)], timeout) {
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

    /// Ends the group and reaps the process. Sends SIGTERM first, so that a wrapper can clean up.
    /// Sends SIGKILL after a pause, or when the process has ended.
    pub(super) fn kill(&mut self) -> io::Result<()> {
        // The process is not reaped yet, so the group id cannot have been reused.
        let _ = killpg(self.group, Signal::SIGTERM);
        let deadline = Instant::now() + TERM_GRACE;
        let mut pause = Duration::from_micros(100);
        while self.reap(WaitPidFlag::WNOHANG)?.is_none() && Instant::now() < deadline {
            // The last output of a dying process is useful, and a full pipe would keep it from
            // ending.
            if self.reader.is_some() {
                self.read(pause)?;
            } else {
                thread::sleep(pause);
            }
            pause *= 2;
        }
        let _ = killpg(self.group, Signal::SIGKILL);
        self.reap(WaitPidFlag::empty())?;
        Ok(())
    }

    /// Reads the rest of the output of a reaped process, and kills what is left of its group.
    /// Returns whether a process that ended by itself left others.
    pub(super) fn end_group(&mut self, end: End) -> io::Result<bool> {
        let by_itself = end.is_by_itself();
        if by_itself && self.drain(LEFTOVER_GRACE)? {
            return Ok(false);
        }
        // A child just forked by another thread holds our pipes until it executes its program.
        if by_itself && !is_alive(self.group) && self.reader.is_some() {
            await_starts(START_GRACE);
            if self.drain(LEFTOVER_GRACE / 4)? {
                return Ok(false);
            }
        }
        let _ = killpg(self.group, Signal::SIGKILL);
        // Output of killed writers is still in the pipe. A writer in another session is not waited
        // for.
        self.drain(LEFTOVER_GRACE / 4)?;
        Ok(by_itself)
    }

    /// Reads until the output has ended and the group is empty, at most for `grace`. Returns
    /// whether both happened.
    fn drain(&mut self, grace: Duration) -> io::Result<bool> {
        let deadline = Instant::now() + grace;
        let mut pause = Duration::from_micros(100);
        let mut late_reads = 0;
        loop {
            // The last check is after the deadline. Output from before the deadline does not prove
            // that there is a writer, because this process may itself have been delayed.
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

/// Returns whether a process of the group is alive. The leader was reaped.
fn is_alive(group: Pid) -> bool {
    // This process reaps orphans of the group (see `adopt_orphans`). In a container, often no other
    // process does, and an unreaped dead process looks alive to kill(2).
    loop {
        match waitpid(Pid::from_raw(-group.as_raw()), Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => return true,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => break,
        }
    }
    // The group id stays in use while a member lives. A free id is reused only when the kernel's
    // counter wraps around, which takes far longer than this check.
    killpg(group, None).is_ok()
}

/// Waits, at most for `grace`, until every forked copy of this process has executed its program.
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

/// Waits for a child, or only asks. Returns its status if it has ended. nix has no status for
/// real-time signals.
#[expect(unsafe_code, reason = "std waits only for what it started itself")]
fn status_of(child: Pid, flags: WaitPidFlag) -> io::Result<Option<ExitStatus>> {
    let mut status = 0;
    loop {
        // SAFETY: the system writes to a local variable.
        match unsafe { libc::waitpid(child.as_raw(), &raw mut status, flags.bits()) } {
            0 => return Ok(None),
            -1 => match io::Error::last_os_error() {
                e if e.kind() == io::ErrorKind::Interrupted => {}
                e => return Err(e),
            },
            _ => return Ok(Some(ExitStatus::from_raw(status))),
        }
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
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;
    use crate::campaign::process::leftover;

    #[test]
    fn what_was_written_before_the_end_is_no_child_that_is_left_however_late_it_is_read() {
        // A process that another test starts would hold the pipe for a moment.
        let _alone = leftover::alone();
        let (reader, writer) = io::pipe().unwrap();
        let mut command = Command::new("head");
        command.args(["-c", "30000", "/dev/zero"]);
        command.stdout(writer).process_group(0);
        let mut child = command.spawn().unwrap();
        drop(command);
        child.wait().unwrap();
        let group = Pid::from_raw(i32::try_from(child.id()).unwrap());
        let mut watch = WatchedProcess::new(group, Some(reader));
        assert!(watch.drain(Duration::ZERO).unwrap());
        assert_eq!(watch.output.to_text().len(), 30000);
    }
}
