//! Children: `posix_spawn` and its variants.

use ::std::ffi::{c_char, c_int, c_void};

use super::{Strings, found, observed, program, unobserved};
use crate::libc;
use crate::{errno, operations, original, schedule};

type Spawn = unsafe extern "C" fn(
    *mut c_int,
    *const c_char,
    *const c_void,
    *const c_void,
    Strings,
    Strings,
) -> c_int;

/// Returns the child of a process descriptor.
fn child_of(descriptor: c_int) -> libc::pid_t {
    match original!(pidfd_getpid: unsafe extern "C" fn(c_int) -> libc::pid_t) {
        // SAFETY: the function accepts any number.
        Some(original) => unsafe { original(descriptor) },
        None => -1,
    }
}

/// Starts a child by `spawn`, which stores its number, and opens a descriptor for it.
///
/// # Safety
/// The arguments must be those of `posix_spawn`, except for the place for the descriptor.
unsafe fn spawn_and_open(
    spawn: Spawn,
    descriptor: *mut c_int,
    name: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    let mut pid = 0;
    // SAFETY: the caller's arguments, with a place for the number. The system call and the others
    // take any number.
    unsafe {
        let error = spawn(&raw mut pid, name, actions, attributes, arguments, environment);
        if error != 0 {
            return error;
        }
        let opened = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        if opened < 0 {
            let error = errno();
            libc::kill(pid, libc::SIGKILL);
            libc::waitpid(pid, ::std::ptr::null_mut(), 0);
            return error;
        }
        descriptor.write(opened as c_int);
        0
    }
}

/// Declares a function that starts a child, and a substitute for libc's if that does not exist. The
/// function stores the child's number, or a descriptor that `$pid` maps to the number.
macro_rules! spawn {
    ($name:ident, $find:path, $pid:expr, $missing:expr) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            child: *mut c_int,
            name: *const c_char,
            actions: *const c_void,
            attributes: *const c_void,
            arguments: Strings,
            environment: Strings,
        ) -> c_int {
            let mut own = 0;
            let child = if child.is_null() { &raw mut own } else { child };
            // SAFETY: the caller's arguments, with a place for the child.
            unsafe {
                let Some(original) = original!($name(_, _, _, _, _, _)) else {
                    let missing: Option<Spawn> = $missing;
                    return missing.map_or(libc::ENOSYS, |spawn| {
                        spawn_and_open(
                            spawn,
                            child,
                            name,
                            actions,
                            attributes,
                            arguments,
                            environment,
                        )
                    });
                };
                let program = found(name, $find);
                let error = observed(program, environment, |environment| {
                    let call =
                        || original(child, name, actions, attributes, arguments, environment);
                    schedule::child::start(call, |error| error == 0)
                });
                if error != 0 {
                    operations::not_started(name, error, false);
                } else if program.is_opaque {
                    let pid: fn(c_int) -> libc::pid_t = $pid;
                    unobserved::started(pid(child.read()), name, arguments);
                }
                error
            }
        }
    };
}

spawn!(posix_spawn, program::by_path, |pid| pid, None);
spawn!(posix_spawnp, program::by_name, |pid| pid, None);
// These functions exist since glibc 2.39. std assumes that they work if they exist.
spawn!(pidfd_spawn, program::by_path, child_of, Some(posix_spawn));
spawn!(pidfd_spawnp, program::by_name, child_of, Some(posix_spawnp));

#[cfg(test)]
mod tests {
    use ::std::ffi::CStr;

    use super::*;

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
