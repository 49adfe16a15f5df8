//! Children of this process, and what they leave running.

use ::std::ffi::c_int;
use ::std::io;
use ::std::mem::MaybeUninit;
use ::std::time::{Duration, Instant};

use crate::libc;

/// Interval of looking at what is left running.
const PAUSE: Duration = Duration::from_micros(200);

/// How long a process that was killed may take to end.
const KILLED: Duration = Duration::from_secs(5);

/// Whether this process has children, dead or alive.
pub(super) fn are_there() -> bool {
    let mut found = MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: what is found is written where there is room.
    unsafe { libc::waitid(libc::P_ALL, 0, found.as_mut_ptr(), flags) == 0 }
}

/// The status of a child that has ended, or why there is none; `None` when it has not ended, with
/// `WNOHANG`.
pub(super) fn reap(child: libc::pid_t, flags: c_int) -> Option<io::Result<c_int>> {
    loop {
        let mut status = 0;
        // SAFETY: the status is written where there is room.
        match unsafe { libc::waitpid(child, &raw mut status, flags) } {
            0 => return None,
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Some(Err(error));
                }
            }
            _ => return Some(Ok(status)),
        }
    }
}

/// Makes this process the parent of orphans among its descendants, while it lives.
pub(super) struct Orphans(c_int);

impl Orphans {
    pub(super) fn adopt() -> Self {
        let mut before: c_int = 0;
        // SAFETY: the answer is written where there is room.
        unsafe {
            libc::prctl(libc::PR_GET_CHILD_SUBREAPER, &raw mut before);
            libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
        }
        Orphans(before)
    }
}

impl Drop for Orphans {
    fn drop(&mut self) {
        // SAFETY: the call involves no memory.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, self.0) };
    }
}

/// Ends what is left of a child that was waited for: its group, and whoever left that, who are all
/// our children by now. Gives them `grace` to end by themselves; whether somebody did not.
pub(super) fn end_group(group: libc::pid_t, grace: Duration) -> bool {
    let mut deadline = Instant::now() + grace;
    let mut is_killing = false;
    loop {
        // Nearly always there is nobody.
        match reap(-1, libc::WNOHANG) {
            Some(Ok(_)) => continue,
            Some(Err(_)) => return is_killing,
            None => {}
        }
        if Instant::now() >= deadline {
            if is_killing {
                // What cannot be killed is left to the driver.
                return true;
            }
            is_killing = true;
            deadline = Instant::now() + KILLED;
        }
        if is_killing {
            // SAFETY: the calls involve no memory. The group's number stays in use while a member
            // lives.
            unsafe { libc::kill(-group, libc::SIGKILL) };
            for child in all() {
                // SAFETY: as above; a child that was not waited for keeps its number.
                unsafe { libc::kill(child, libc::SIGKILL) };
            }
        }
        ::std::thread::sleep(PAUSE);
    }
}

/// The children of this process's only thread.
fn all() -> Vec<libc::pid_t> {
    let own = ::std::process::id();
    let text = ::std::fs::read_to_string(format!("/proc/self/task/{own}/children"));
    let text = text.unwrap_or_default();
    let children = text.split_ascii_whitespace();
    children.filter_map(|child| child.parse().ok()).collect()
}
