//! Orphans: processes that children of a test have left running, such as a daemon or a background
//! job of a shell.
//!
//! The driver adopts orphans, so they are its children, as this process is. None are found if
//! another program stands between the driver and this process, or if the system does not list
//! children. Virtual time then advances as if there were none.

use ::std::ffi::c_long;

use nondex_core::process_number;

use super::kernel::{self, Path};
use crate::libc;

/// Returns whether an orphan lives. Reads a few small files and allocates no memory.
pub(super) fn are_there() -> bool {
    let parent = call(libc::SYS_getppid, 0);
    let Some(tasks) = Path::of(format_args!("/proc/{parent}/task")) else { return false };
    let mut is_found = false;
    // Each thread of the parent has its own list of children.
    kernel::each_number(tasks.text(), |task| {
        let mut room = [0; 4096];
        let list = kernel::shown(format_args!("/proc/{parent}/task/{task}/children"), &mut room);
        let mut children = list.unwrap_or_default().split(|byte| *byte == b' ');
        is_found = children.any(|child| kernel::number(child).is_some_and(is_orphan));
        !is_found
    });
    is_found
}

/// Returns whether a child of this process's parent is a living orphan of this process. It is one
/// if it has the same group, or another session. The parent starts tests in its own session, each
/// in a group.
fn is_orphan(process: i32) -> bool {
    let number = c_long::from(process);
    let is_of_group = || call(libc::SYS_getpgid, number) == call(libc::SYS_getpgid, 0);
    let is_of_other_session = || call(libc::SYS_getsid, number) != call(libc::SYS_getsid, 0);
    number != c_long::from(process_number::of_system())
        && (is_of_group() || is_of_other_session())
        && is_alive(process)
}

fn is_alive(process: i32) -> bool {
    let mut room = [0; 512];
    let stat = kernel::shown(format_args!("/proc/{process}/stat"), &mut room);
    !matches!(stat.and_then(kernel::state), None | Some(b'Z' | b'X'))
}

/// Makes a system call that takes at most one number.
fn call(call: c_long, argument: c_long) -> c_long {
    // SAFETY: these calls involve no memory.
    unsafe { kernel::syscall(call, [argument, 0, 0, 0, 0, 0]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_the_system_writes_them() {
        let own = call(libc::SYS_gettid, 0);
        // The list is truncated if another test's thread ends while it is read.
        let is_listed = || {
            let mut is_listed = false;
            kernel::each_number(c"/proc/self/task", |thread| {
                is_listed |= c_long::from(thread) == own;
                true
            });
            is_listed
        };
        assert!((0..64).any(|_| is_listed()));
    }

    #[test]
    fn a_process_that_has_ended_is_not_alive() {
        let mut child = ::std::process::Command::new("true").spawn().unwrap();
        let number = child.id() as i32;
        child.wait().unwrap();
        assert!(!is_alive(number));
        assert!(is_alive(::std::process::id() as i32));
    }
}
