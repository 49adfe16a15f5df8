//! Detection of forked children, which may have this process's descriptors.

use ::std::sync::Once;
use ::std::sync::atomic::{AtomicBool, Ordering};

use crate::libc;

static HAS_FORKED: AtomicBool = AtomicBool::new(false);

/// Starts to detect forks.
pub(super) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        unsafe extern "C" fn forked() {
            HAS_FORKED.store(true, Ordering::Relaxed);
        }
        // SAFETY: the function has the expected signature and does next to nothing.
        unsafe { libc::pthread_atfork(None, Some(forked), Some(forked)) };
    });
}

/// Returns whether there was a fork, so another process may have this one's descriptors.
pub(super) fn has_forked() -> bool {
    HAS_FORKED.load(Ordering::Relaxed)
}
