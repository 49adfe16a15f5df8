//! Defines `Bencher`, the argument of a `#[bench]` function. Benchmarks are run once, as tests, and
//! nothing is measured.

use std::hint;

/// Hides a value from the optimiser, like [`std::hint::black_box`].
#[inline(always)]
pub fn black_box<T>(dummy: T) -> T {
    hint::black_box(dummy)
}

/// Runner of the closure that a benchmark passes to [`iter`](Self::iter).
#[derive(Clone, Debug, Default)]
pub struct Bencher {
    /// Number of bytes that one iteration handles; not used.
    pub bytes: u64,
}

impl Bencher {
    /// Runs `inner` once.
    pub fn iter<T, F: FnMut() -> T>(&mut self, mut inner: F) {
        black_box(inner());
    }
}
