//! State that a process has once, its numbers and its end, and system calls by number.

use ::std::ffi::{c_char, c_int, c_long, c_uint, c_ulong};
use ::std::ptr;

use nondex_core::StateKind::{Env, Limit, Signal, Umask};
use nondex_core::hidden::Text;

use crate::process::{number, tracer};
use crate::{covered, libc, surroundings, syscall};

c_functions! {
    fn getenv(name: *const c_char) -> *mut c_char, missing ptr::null_mut(),
        layers [surroundings::named(Env, false, name)];
    fn secure_getenv(name: *const c_char) -> *mut c_char, missing ptr::null_mut(),
        layers [surroundings::named(Env, false, name)];
    fn setenv(name: *const c_char, value: *const c_char, overwrite: c_int) -> c_int, missing -1,
        layers [surroundings::named(Env, true, name)];
    fn unsetenv(name: *const c_char) -> c_int, missing -1,
        layers [surroundings::named(Env, true, name)];

    fn chdir(path: *const c_char) -> c_int, missing -1, layers [surroundings::directory(true)];
    fn fchdir(file: c_int) -> c_int, missing -1, layers [surroundings::directory(true)];
    fn getcwd(buffer: *mut c_char, len: usize) -> *mut c_char, missing ptr::null_mut(),
        layers [surroundings::directory(false)];

    fn umask(mask: libc::mode_t) -> libc::mode_t, missing 0,
        layers [surroundings::of(Umask, true, Text::new)];
    fn sigaction(number: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int,
        missing -1, layers [surroundings::numbered(Signal, !new.is_null(), number)];
    fn signal(number: c_int, handler: libc::size_t) -> libc::size_t, missing usize::MAX,
        layers [surroundings::numbered(Signal, true, number)];
    fn pthread_sigmask(how: c_int, new: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int,
        missing -1, layers [surroundings::mask(!new.is_null())];
    fn sigprocmask(how: c_int, new: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int,
        missing -1, layers [surroundings::mask(!new.is_null())];
    fn getrlimit(limit: c_uint, value: *mut libc::rlimit) -> c_int, missing -1,
        layers [surroundings::numbered(Limit, false, limit)];
    fn setrlimit(limit: c_uint, value: *const libc::rlimit) -> c_int, missing -1,
        layers [surroundings::numbered(Limit, true, limit)];

    fn getpid() -> libc::pid_t, missing -1,
        layers [number::by_call(libc::SYS_getpid as c_long)];
    fn getppid() -> libc::pid_t, missing -1,
        layers [number::by_call(libc::SYS_getppid as c_long)];
    fn gettid() -> libc::pid_t, missing -1, layers [number::of_thread()];
    // On every 64-bit Linux, variable arguments are where these are.
    fn prctl(option: c_int, a: c_ulong, b: c_ulong, c: c_ulong, d: c_ulong) -> c_int, missing -1,
        layers [tracer::requested(option, a)];
    fn abort() -> !, missing libc::_exit(134), layers [covered::ending()];
    // As for `prctl`.
    fn syscall(number: c_long, a: c_long, b: c_long, c: c_long, d: c_long, e: c_long, f: c_long)
        -> c_long, missing -1,
        layers [syscall::by_number(number, [a, b, c, d, e, f]) => (a, b, c, d, e, f)];
}
