//! Signal handlers on the main thread, while it waits for the only test.
//!
//! For a signal to the process, the system prefers the main thread. So the main thread acts for the
//! test while it waits. The test begins only when the main thread is ready for that. Otherwise the
//! load of the machine would decide whether the choices of a handler are recorded.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use nondex_core::context::{self, Attending};

/// Whether the main thread acts for the test that it has started.
static IS_READY: AtomicBool = AtomicBool::new(false);

/// Returns whether the main thread must act for the test of this name: whether it is the test that
/// the spec names.
pub(crate) fn is_due(name: &str) -> bool {
    context::global().is_some_and(|context| context.spec().test == name)
}

/// Guard of the main thread that acts for the only test.
pub(crate) struct Attendance {
    _attending: Attending,
}

impl Attendance {
    /// Lets the main thread, which calls this, act for the test until the guard is dropped.
    pub(crate) fn begin() -> Self {
        let attending = context::attend();
        IS_READY.store(true, Ordering::Release);
        Attendance { _attending: attending }
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        IS_READY.store(false, Ordering::Relaxed);
    }
}

/// Waits on the test's thread until the main thread acts for the test. Allocates nothing. It spins,
/// because `unpark` could leave a token for the first `park` of the test.
pub(crate) fn wait() {
    while !IS_READY.load(Ordering::Acquire) {
        thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_begins_once_the_main_thread_acts_for_it() {
        let test = thread::spawn(|| {
            wait();
            IS_READY.load(Ordering::Acquire)
        });
        let attendance = Attendance::begin();
        assert!(test.join().unwrap());
        drop(attendance);
        assert!(!IS_READY.load(Ordering::Acquire));
    }
}
