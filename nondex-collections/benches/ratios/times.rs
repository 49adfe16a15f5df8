//! Minimum times, which other work on the machine changes least.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::operations::Meter;

/// How long one operation is measured.
const PATIENCE: Duration = Duration::from_millis(300);

/// Minimum time of an act, in nanoseconds.
pub(super) struct Timed(f64);

impl Timed {
    pub(super) const fn new() -> Self {
        Timed(f64::INFINITY)
    }

    pub(super) const fn least(self) -> f64 {
        self.0
    }
}

impl Meter for Timed {
    fn each_on<T, R>(
        &mut self,
        at_a_time: u64,
        mut make: impl FnMut() -> T,
        mut act: impl FnMut(&mut T) -> R,
    ) {
        let start = Instant::now();
        while self.0.is_infinite() || start.elapsed() < PATIENCE {
            let mut all: Vec<T> = (0..at_a_time).map(|_| make()).collect();
            let start = Instant::now();
            for one in &mut all {
                black_box(act(one));
            }
            let time = start.elapsed().as_secs_f64() * 1e9 / at_a_time as f64;
            self.0 = self.0.min(time);
        }
    }
}
