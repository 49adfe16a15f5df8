//! Filters of system calls (seccomp), with which a test forbids its process what it does not need.
//!
//! A filter may end the process at any call that a plain build does not make. From the first filter
//! on, the scheduler makes only calls that threads need anyway (`futex`). The C library reads the
//! time, from the system's code in the process (the vDSO). The scheduler no longer reads `/proc`,
//! so it takes longer to notice that no thread can continue.

use ::std::ffi::c_long;
use ::std::sync::atomic::{AtomicBool, Ordering};

use crate::libc;

static IS_THERE: AtomicBool = AtomicBool::new(false);

/// Returns whether a thread of this process may have a filter.
pub(super) fn is_there() -> bool {
    IS_THERE.load(Ordering::Relaxed)
}

/// Records that a filter is about to be installed.
pub(super) fn note() {
    IS_THERE.store(true, Ordering::Relaxed);
}

/// Returns whether a system call with this first argument installs a filter.
pub(super) fn installs(number: c_long, operation: c_long) -> bool {
    /// Operations that install strict mode, and a filter. Larger numbers are queries.
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
