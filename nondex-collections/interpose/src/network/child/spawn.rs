//! Children: `posix_spawn` and its variants.

use ::std::ffi::{c_char, c_int};

use super::{Find, Strings, found, observed, unobserved};
use crate::{Original, errno, libc, operations, originals, schedule};

/// Returns the child of a process descriptor.
pub(crate) fn child_of(descriptor: c_int) -> libc::pid_t {
    match originals::pidfd_getpid.get() {
        // SAFETY: the function accepts any number.
        Some(original) => unsafe { original(descriptor) },
        None => -1,
    }
}

/// Starts a child by `spawn`, which stores its number, and opens a descriptor for it, if libc's own
/// function for that does not exist. It does since glibc 2.39, and std assumes that it works if it
/// exists.
///
/// # Safety
/// `descriptor` must be null or valid for writes.
pub(crate) unsafe fn substituted<F: Copy>(
    original: &Original<F>,
    descriptor: *mut c_int,
    spawn: impl FnOnce(*mut c_int) -> c_int,
    next: impl FnOnce() -> c_int,
) -> c_int {
    if original.get().is_some() {
        return next();
    }
    let mut pid = 0;
    let error = spawn(&raw mut pid);
    if error != 0 {
        return error;
    }
    // SAFETY: the calls take any number, and the caller promises the place.
    unsafe {
        let opened = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        if opened < 0 {
            let error = errno();
            libc::kill(pid, libc::SIGKILL);
            libc::waitpid(pid, ::std::ptr::null_mut(), 0);
            return error;
        }
        if !descriptor.is_null() {
            descriptor.write(opened as c_int);
        }
    }
    0
}

/// Starts a child. The call stores the child's number, or a descriptor that `pid` maps to the
/// number.
///
/// # Safety
/// The arguments must be those of `posix_spawn`.
pub(crate) unsafe fn start(
    child: *mut c_int,
    pid: fn(c_int) -> libc::pid_t,
    (name, find): (*const c_char, Find),
    arguments: Strings,
    environment: Strings,
    next: impl FnOnce(*mut c_int, Strings) -> c_int,
) -> c_int {
    let mut own = 0;
    let child = if child.is_null() { &raw mut own } else { child };
    // SAFETY: as the caller promises, with a place for the child.
    unsafe {
        let program = found(name, find);
        let error = observed(program, environment, |environment| {
            schedule::child::start(|error| error == 0, || next(child, environment))
        });
        if error != 0 {
            operations::not_started(name, error, false);
        } else if program.is_opaque {
            unobserved::started(pid(child.read()), name, arguments);
        }
        error
    }
}

#[cfg(test)]
mod tests {
    use ::std::ffi::CStr;

    use super::*;
    use crate::table::programs::{pidfd_spawn, pidfd_spawnp};

    #[test]
    fn a_child_is_started_by_a_descriptor_whether_libc_can_or_not() {
        let arguments = [c"sh", c"-c", c"exit 3"].map(CStr::as_ptr);
        let arguments = [arguments[0], arguments[1], arguments[2], ::std::ptr::null()];
        let environment: [*const c_char; 1] = [::std::ptr::null()];
        for spawn in [pidfd_spawn, pidfd_spawnp] {
            let mut descriptor = -1;
            // SAFETY: the arguments are lists of strings, the places are valid for writes, and
            // zeros are valid information.
            unsafe {
                let error = spawn(
                    &raw mut descriptor,
                    c"/bin/sh".as_ptr(),
                    ::std::ptr::null(),
                    ::std::ptr::null(),
                    arguments.as_ptr(),
                    environment.as_ptr(),
                );
                assert_eq!(error, 0);
                let mut info = ::std::mem::zeroed::<libc::siginfo_t>();
                let id = libc::id_t::try_from(descriptor).unwrap();
                assert_eq!(libc::waitid(libc::P_PIDFD, id, &raw mut info, libc::WEXITED), 0);
                assert_eq!((info.si_code, info.si_status()), (libc::CLD_EXITED, 3));
                libc::close(descriptor);
            }
        }
    }
}
