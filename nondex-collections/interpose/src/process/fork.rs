//! Forks of a process with one thread, and their ends.

use ::std::ffi::{c_int, c_long};
use ::std::mem::MaybeUninit;
use ::std::ptr;
use ::std::time::{Duration, Instant};

use nondex_core::Outcome;
use nondex_core::context::system::{ForkEnd, Others};

use super::children;
use crate::libc;
use crate::originals;

/// Time limit for a joined thread to disappear.
const JOINED: Duration = Duration::from_millis(30);

/// Time limit for processes that a fork leaves running to end voluntarily.
const LEFTOVER_GRACE: Duration = Duration::from_millis(100);

/// Longest pause between two checks of a process that cannot be waited for with a time limit.
const MAX_PAUSE: Duration = Duration::from_millis(5);

/// Implements [`System::others`](nondex_core::context::system::System::others).
pub(super) fn others() -> Others {
    let deadline = Instant::now() + JOINED;
    loop {
        let threads = threads().unwrap_or(u64::MAX);
        if threads == 1 || Instant::now() > deadline {
            return Others { threads, has_children: children::are_there() };
        }
        ::std::thread::sleep(Duration::from_micros(100));
    }
}

/// Returns the number of threads of the process: the twentieth field of its `stat` file, the
/// eighteenth after the name.
fn threads() -> Option<u64> {
    let stat = ::std::fs::read("/proc/self/stat").ok()?;
    let text = String::from_utf8_lossy(&stat);
    let (_, fields) = text.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(17)?.parse().ok()
}

/// Forks and runs `work` in the child, which then exits. The parent waits for the child's end.
pub(super) fn fork(limit: Duration, work: &mut dyn FnMut() -> i32) -> Option<ForkEnd> {
    let _orphans = children::Orphans::adopt();
    let reaping = Reaping::keep();
    let started = Instant::now();
    let parent = ::std::process::id();
    // SAFETY: the process has one thread, so no lock is held that the child may need.
    match unsafe { bare_fork() } {
        -1 => None,
        0 => {
            begin(parent);
            drop(reaping);
            ::std::process::exit(work());
        }
        child => {
            // Both processes do this, because either may run first.
            // SAFETY: no memory is involved.
            unsafe { libc::setpgid(child, child) };
            let end = wait(child, started + limit);
            let took = started.elapsed();
            let is_hung = end == Some(Outcome::TimedOut);
            let grace = if is_hung { Duration::ZERO } else { LEFTOVER_GRACE };
            let left_child = children::end_group(child, grace) && !is_hung;
            Some(ForkEnd { end: end?, took, left_child })
        }
    }
}

/// Forks without the handlers of `pthread_atfork`, if libc can. The test in the child should find
/// what it would find in this very process, where no handler has run.
///
/// # Safety
/// The process must have one thread, or the child only make system calls.
pub(super) unsafe fn bare_fork() -> libc::pid_t {
    let fork = originals::_Fork.get().unwrap_or(libc::fork);
    // SAFETY: as the caller promises.
    unsafe { fork() }
}

/// Prepares a child: it becomes the leader of a group, discards its output, and dies with its
/// parent.
fn begin(parent: u32) {
    // SAFETY: the calls involve no memory but the name, which ends in NUL.
    unsafe {
        libc::setpgid(0, 0);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if u32::try_from(libc::getppid()) != Ok(parent) {
            libc::_exit(1);
        }
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        if null >= 0 {
            libc::dup2(null, 1);
            libc::dup2(null, 2);
            libc::close(null);
        }
    }
}

/// Waits for a child, and kills it at the deadline. Returns `None` if its end cannot be determined.
fn wait(child: libc::pid_t, deadline: Instant) -> Option<Outcome> {
    // SAFETY: the call involves no memory.
    let result = unsafe { libc::syscall(libc::SYS_pidfd_open, child as c_long, 0) };
    let pidfd = c_int::try_from(result).ok().filter(|pidfd| *pidfd >= 0);
    let mut pause = Duration::from_micros(50);
    let status = loop {
        if let Some(status) = children::reap(child, libc::WNOHANG) {
            break status.map(outcome);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            // SAFETY: the child was not waited for, so the number is still its own.
            unsafe {
                libc::kill(-child, libc::SIGKILL);
                libc::kill(child, libc::SIGKILL);
            }
            let _ = children::reap(child, 0);
            break Ok(Outcome::TimedOut);
        }
        match pidfd {
            Some(pidfd) => {
                let mut poll = libc::pollfd { fd: pidfd, events: libc::POLLIN, revents: 0 };
                let millis = left.as_micros().div_ceil(1000);
                let timeout = c_int::try_from(millis).unwrap_or(c_int::MAX);
                // SAFETY: it is given one entry.
                unsafe { libc::poll(&raw mut poll, 1, timeout) };
            }
            None => {
                ::std::thread::sleep(pause.min(left));
                pause = (pause * 2).min(MAX_PAUSE);
            }
        }
    };
    if let Some(pidfd) = pidfd {
        // SAFETY: this function opened the descriptor.
        unsafe { libc::close(pidfd) };
    }
    status.ok()
}

fn outcome(status: c_int) -> Outcome {
    if libc::WIFSIGNALED(status) {
        Outcome::Signalled(libc::WTERMSIG(status))
    } else {
        Outcome::Exited(libc::WEXITSTATUS(status))
    }
}

/// Guard that keeps ended children until they are waited for, whatever action the tests have set
/// for `SIGCHLD`. When it is dropped, also in the child, their action is restored.
struct Reaping(Option<libc::sigaction>);

impl Reaping {
    fn keep() -> Self {
        let mut before = MaybeUninit::uninit();
        // SAFETY: zeros are the default action with an empty mask, and the previous action is
        // written to a local variable.
        unsafe {
            let default: libc::sigaction = MaybeUninit::zeroed().assume_init();
            let result = libc::sigaction(libc::SIGCHLD, &raw const default, before.as_mut_ptr());
            Reaping((result == 0).then(|| before.assume_init()))
        }
    }
}

impl Drop for Reaping {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // SAFETY: the action is one that was in place.
            unsafe { libc::sigaction(libc::SIGCHLD, before, ptr::null_mut()) };
        }
    }
}
