//! Whether this tool's harness runs the tests of this process.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this tool's harness reports the start and the end of each test.
static HAS_HARNESS: AtomicBool = AtomicBool::new(false);

/// Records that this tool's harness runs the tests of this process.
pub fn begin_harness() {
    HAS_HARNESS.store(true, Ordering::Relaxed);
}

/// Returns whether this tool's harness runs the tests of this process. If not, everything the
/// process does belongs to the test.
pub fn has_harness() -> bool {
    HAS_HARNESS.load(Ordering::Relaxed)
}
