//! Children of this process, and the processes that they leave running.

use ::std::ffi::c_int;
use ::std::io;
use ::std::mem::MaybeUninit;
use ::std::time::{Duration, Instant};

use crate::libc;

/// Interval between checks of the processes that are left running.
const PAUSE: Duration = Duration::from_micros(200);

/// Time limit for a killed process to end.
const KILLED: Duration = Duration::from_secs(5);

/// Returns whether this process has children, dead or alive.
pub(super) fn are_there() -> bool {
    let mut found = MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the information is written to a local variable.
    unsafe { libc::waitid(libc::P_ALL, 0, found.as_mut_ptr(), flags) == 0 }
}

/// Waits for a child and returns its status or the error. With `WNOHANG`, returns `None` if it has
/// not ended.
pub(super) fn reap(child: libc::pid_t, flags: c_int) -> Option<io::Result<c_int>> {
    loop {
        let mut status = 0;
        // SAFETY: the status is written to a local variable.
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

/// Guard that makes this process the parent of its descendants' orphans.
pub(super) struct Orphans(c_int);

impl Orphans {
    pub(super) fn adopt() -> Self {
        let mut before: c_int = 0;
        // SAFETY: the answer is written to a local variable.
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

/// Ends what is left of a child that was waited for: its group, and orphans of its descendants,
/// which are all children of this process by now. They have `grace` to end voluntarily. Returns
/// whether any did not.
pub(super) fn end_group(group: libc::pid_t, grace: Duration) -> bool {
    let mut deadline = Instant::now() + grace;
    let mut is_killing = false;
    loop {
        // Nearly always there is none, so this comes first.
        match reap(-1, libc::WNOHANG) {
            Some(Ok(_)) => continue,
            Some(Err(_)) => return is_killing,
            None => {}
        }
        if Instant::now() >= deadline {
            if is_killing {
                // A process that cannot be killed is left to the driver.
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

/// Returns the children of this process's only thread.
fn all() -> Vec<libc::pid_t> {
    let own = ::std::process::id();
    let list = ::std::fs::read_to_string(format!("/proc/self/task/{own}/children"));
    let children = list.unwrap_or_default();
    children.split_ascii_whitespace().filter_map(|child| child.parse().ok()).collect()
}
