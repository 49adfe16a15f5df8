//! Filters of system calls (seccomp), by which a test forbids its process what it does not need.
//!
//! A filter may end the process at any call that a plain build does not make. From the first one
//! on, the scheduler makes only those that threads need anyway (`futex`). The C library reads the
//! time, from the system's code in the process (the vDSO). It does not look into `/proc`, so that
//! it takes time to see that no thread can go on.

use ::std::ffi::c_long;
use ::std::sync::atomic::{AtomicBool, Ordering};

use crate::libc;

static IS_THERE: AtomicBool = AtomicBool::new(false);

/// Whether a thread of this process may have a filter.
pub(super) fn is_there() -> bool {
    IS_THERE.load(Ordering::Relaxed)
}

/// Notes that there will be one.
pub(super) fn note() {
    IS_THERE.store(true, Ordering::Relaxed);
}

/// Whether a system call with this first argument installs a filter.
pub(super) fn installs(number: c_long, operation: c_long) -> bool {
    /// Strict mode, and a filter. What is above only asks.
    const STRICT: c_long = 0;
    const FILTER: c_long = 1;
    match number {
        libc::SYS_prctl => operation == c_long::from(libc::PR_SET_SECCOMP),
        libc::SYS_seccomp => matches!(operation, STRICT | FILTER),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_install_a_filter_are_told_from_others() {
        assert!(installs(libc::SYS_seccomp, 0));
        assert!(installs(libc::SYS_seccomp, 1));
        assert!(!installs(libc::SYS_seccomp, 2));
        assert!(installs(libc::SYS_prctl, libc::PR_SET_SECCOMP.into()));
        assert!(!installs(libc::SYS_prctl, libc::PR_SET_PTRACER.into()));
        assert!(!installs(libc::SYS_futex, 1));
    }
}
