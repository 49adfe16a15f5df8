//! A process while it is watched: its output is read, its end is waited for, and it is ended.

use std::io::{self, PipeReader};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::{End, LEFTOVER_GRACE, guardian, stacks};
use crate::campaign::output::Output;
use crate::campaign::stop::StopFlag;
use crate::campaign::system;

/// How often a process whose output is still open is looked at.
const TICK: Duration = Duration::from_millis(50);

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

/// A process while it is watched.
#[derive(Debug)]
pub(super) struct Watch {
    child: Child,
    group: Pid,
    /// Closed at the end of the output.
    reader: Option<PipeReader>,
    buffer: Vec<u8>,
    pub(super) output: Output,
    /// Where its threads were when its time was over.
    pub(super) stacks: Vec<Vec<u64>>,
    /// How many reads in a row got little.
    small_reads: u32,
}

impl Watch {
    /// A process that leads this group, and whose output is read from there, if it is kept.
    pub(super) fn new(child: Child, group: Pid, reader: Option<PipeReader>) -> Self {
        Watch {
            child,
            group,
            reader,
            buffer: vec![0; BUFFER],
            output: Output::default(),
            stacks: Vec::new(),
            small_reads: 0,
        }
    }

    /// Waits for the end of the process and reaps it; kills it at the deadline, unless it is given
    /// more time then, and when stopped.
    pub(super) fn wait(
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
                self.stacks = stacks::of(self.group);
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
        let Some(reader) = &self.reader else { return Ok(false) };
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
    pub(super) fn kill(&mut self) -> io::Result<()> {
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
    pub(super) fn end_group(&mut self, end: End) -> io::Result<bool> {
        let by_itself = end.is_by_itself();
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
        // A process that another test starts would have the pipe for a moment.
        let _alone = leftover::alone();
        let (reader, writer) = io::pipe().unwrap();
        let mut command = Command::new("head");
        command.args(["-c", "30000", "/dev/zero"]);
        command.stdout(writer).process_group(0);
        let mut child = command.spawn().unwrap();
        drop(command);
        child.wait().unwrap();
        let group = Pid::from_raw(i32::try_from(child.id()).unwrap());
        let mut watch = Watch::new(child, group, Some(reader));
        assert!(watch.drain(Duration::ZERO).unwrap());
        assert_eq!(watch.output.to_text().len(), 30000);
    }
}
