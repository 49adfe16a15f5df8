//! Threads and their processors.

use ::std::ffi::{c_int, c_void};

use crate::libc::{self, CLOCK_REALTIME, clockid_t, pthread_attr_t, pthread_t};
use crate::schedule::join::{Limit, detach, join, limit};
use crate::schedule::life;
use crate::schedule::processor::{chosen, concealed};
use crate::schedule::pthread::translated;
use crate::schedule::signals;
use crate::thread::{self, Start};

type Result = *mut *mut c_void;
type Time = *const libc::timespec;

c_functions! {
    fn pthread_create(thread: *mut pthread_t, attributes: *const pthread_attr_t, start: Start,
        argument: *mut c_void) -> c_int, missing libc::EAGAIN,
        layers [thread::create(thread, start, argument) => (start, argument)];
    fn pthread_join(handle: pthread_t, result: Result) -> c_int, missing libc::EINVAL,
        layers [join(handle, result, Limit::Forever)];
    fn pthread_tryjoin_np(handle: pthread_t, result: Result) -> c_int, missing libc::EINVAL,
        layers [join(handle, result, Limit::Now)];
    fn pthread_timedjoin_np(handle: pthread_t, result: Result, time: Time) -> c_int,
        missing libc::EINVAL, layers [join(handle, result, limit(CLOCK_REALTIME, time))];
    fn pthread_clockjoin_np(handle: pthread_t, result: Result, clock: clockid_t, time: Time)
        -> c_int, missing libc::EINVAL,
        layers [join(handle, result, limit(clock, time)), translated(clock, time) => (time)];
    fn pthread_detach(handle: pthread_t) -> c_int, missing libc::EINVAL, layers [detach(handle)];
    // Older versions of the C library have another one, which is found where this one is missing.
    fn pthread_kill @ c"GLIBC_2.34" (handle: pthread_t, signal: c_int) -> c_int,
        missing libc::EINVAL, layers [signals::send(handle, signal)];
    fn sched_yield() -> c_int, missing -1, layers [life::yields()];

    fn sched_getaffinity @ c"GLIBC_2.3.4" (process: libc::pid_t, size: usize, set: *mut c_void)
        -> c_int, missing -1, layers [concealed(set, size)];
    fn pthread_getaffinity_np @ c"GLIBC_2.3.4" (thread: pthread_t, size: usize, set: *mut c_void)
        -> c_int, missing libc::ENOSYS, layers [concealed(set, size)];
    fn sched_setaffinity @ c"GLIBC_2.3.4" (process: libc::pid_t, size: usize, set: *mut c_void)
        -> c_int, missing -1, layers [chosen()];
    fn pthread_setaffinity_np @ c"GLIBC_2.3.4" (thread: pthread_t, size: usize, set: *mut c_void)
        -> c_int, missing libc::ENOSYS, layers [chosen()];
    fn pthread_attr_setaffinity_np @ c"GLIBC_2.3.4" (attributes: *mut pthread_attr_t, size: usize,
        set: *mut c_void) -> c_int, missing libc::ENOSYS, layers [chosen()];
}
