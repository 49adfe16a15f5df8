//! Whether a harness of ours runs the tests of this process.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a harness of ours reports when a test begins and ends.
static HAS_HARNESS: AtomicBool = AtomicBool::new(false);

/// Says that a harness of ours runs the tests of this process.
pub fn begin_harness() {
    HAS_HARNESS.store(true, Ordering::Relaxed);
}

/// Whether a harness of ours runs the tests of this process; else a test is what the process does.
pub fn has_harness() -> bool {
    HAS_HARNESS.load(Ordering::Relaxed)
}
