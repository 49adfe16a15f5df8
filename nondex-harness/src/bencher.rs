//! `Bencher`: what a `#[bench]` function is given. Benchmarks are run once, as tests: nothing here
//! measures.

use std::hint;

/// Keeps the optimiser from knowing a value; as [`std::hint::black_box`].
#[inline(always)]
pub fn black_box<T>(dummy: T) -> T {
    hint::black_box(dummy)
}

/// Runs the closure that a benchmark passes to [`iter`](Self::iter), once.
#[derive(Clone, Debug, Default)]
pub struct Bencher {
    /// How many bytes one iteration handles; not used.
    pub bytes: u64,
}

impl Bencher {
    /// Runs `inner` once.
    pub fn iter<T, F: FnMut() -> T>(&mut self, mut inner: F) {
        black_box(inner());
    }
}
