//! Functions that are not interposed, and that the layers call.

use ::std::ffi::{c_int, c_void};

use crate::libc;

originals! {
    fn _Fork() -> libc::pid_t;
    fn vfork() -> libc::pid_t;
    // On every 64-bit Linux, a variable argument is where this one is.
    fn fcntl(c_int, c_int, c_int) -> c_int;
    fn fileno(*mut c_void) -> c_int;
    fn pthread_mutex_trylock(*mut c_void) -> c_int;
    fn pthread_rwlock_tryrdlock(*mut c_void) -> c_int;
    fn pthread_rwlock_trywrlock(*mut c_void) -> c_int;
    fn sem_trywait(*mut c_void) -> c_int;
    #[cfg(feature = "network")]
    fn pidfd_getpid(c_int) -> libc::pid_t;
    #[cfg(not(feature = "network"))]
    fn getsockopt(c_int, c_int, c_int, *mut c_void, *mut libc::socklen_t) -> c_int;
    #[cfg(not(feature = "network"))]
    fn send(c_int, *const c_void, usize, c_int) -> isize;
}
