//! Whether this process has children that were forked and may have its descriptors.

use ::std::sync::Once;
use ::std::sync::atomic::{AtomicBool, Ordering};

use crate::libc;

static HAS_FORKED: AtomicBool = AtomicBool::new(false);

/// Looks at forks from now on.
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

/// Whether there was a fork, so that others may have what this process has open.
pub(super) fn has_forked() -> bool {
    HAS_FORKED.load(Ordering::Relaxed)
}
