//! `Bencher`: what a `#[bench]` function is given.

use std::fmt;
use std::hint;
use std::time::{Duration, Instant};

use super::summary::{Summary, winsorize};

/// The time a batch of iterations is aimed at, in nanoseconds.
const BATCH_NANOSECONDS: u64 = 1_000_000;
/// How many batches make a sample set.
const SAMPLES: usize = 50;
/// A benchmark is measured for at least this long.
const AT_LEAST: Duration = Duration::from_millis(100);
/// A benchmark is not measured again after this long.
const AT_MOST: Duration = Duration::from_secs(3);

/// Keeps the optimiser from knowing a value; as [`std::hint::black_box`].
#[inline(always)]
pub fn black_box<T>(dummy: T) -> T {
    hint::black_box(dummy)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Measure,
    Once,
}

/// Measures the closure a benchmark passes to [`iter`](Self::iter), or runs it once.
#[derive(Clone, Debug)]
pub struct Bencher {
    mode: Mode,
    summary: Option<Summary>,
    /// How many bytes one iteration handles; 0 leaves the rate out.
    pub bytes: u64,
}

impl Bencher {
    /// One that measures.
    pub(crate) const fn measuring() -> Self {
        Bencher::new(Mode::Measure)
    }

    /// One that runs the closure once.
    pub(crate) const fn once() -> Self {
        Bencher::new(Mode::Once)
    }

    const fn new(mode: Mode) -> Self {
        Bencher {
            mode,
            summary: None,
            bytes: 0,
        }
    }

    /// Runs `inner` often enough to say how long it takes, or once when benchmarks are run as tests.
    pub fn iter<T, F: FnMut() -> T>(&mut self, mut inner: F) {
        match self.mode {
            Mode::Once => {
                nanoseconds(&mut inner, 1);
            }
            Mode::Measure => self.summary = Some(measure(&mut inner)),
        }
    }

    /// Runs a benchmark function; `None` when it never called [`iter`](Self::iter).
    ///
    /// # Errors
    /// The error of `f`.
    pub fn bench<F>(&mut self, mut f: F) -> Result<Option<Summary>, String>
    where
        F: FnMut(&mut Bencher) -> Result<(), String>,
    {
        f(self)?;
        Ok(self.summary)
    }

    /// What was measured; nothing at all when `iter` was not called.
    pub(crate) fn samples(&self) -> BenchSamples {
        let summary = self.summary.unwrap_or_else(|| Summary::new(&[0.0]));
        BenchSamples {
            megabytes_per_second: self.bytes * 1000 / (summary.median as u64).max(1),
            summary,
        }
    }
}

fn nanoseconds<T>(inner: &mut impl FnMut() -> T, iterations: u64) -> u64 {
    let start = Instant::now();
    for _ in 0..iterations {
        black_box(inner());
    }
    start.elapsed().as_nanos() as u64
}

/// Doubles the batch size until two sample sets agree on a median.
fn measure<T>(inner: &mut impl FnMut() -> T) -> Summary {
    let mut iterations = (BATCH_NANOSECONDS / nanoseconds(inner, 1).max(1)).max(1);
    let begin = Instant::now();
    loop {
        let round = Instant::now();
        let first = sample(inner, iterations);
        let second = sample(inner, 5 * iterations);
        let converged = round.elapsed() > AT_LEAST
            && first.median_abs_dev_pct < 1.0
            && first.median - second.median < second.median_abs_dev;
        if converged || begin.elapsed() > AT_MOST || iterations.checked_mul(10).is_none() {
            return second;
        }
        iterations *= 2;
    }
}

fn sample<T>(inner: &mut impl FnMut() -> T, iterations: u64) -> Summary {
    let mut samples = [0.0; SAMPLES];
    for sample in &mut samples {
        *sample = nanoseconds(inner, iterations) as f64 / iterations as f64;
    }
    winsorize(&mut samples, 5.0);
    Summary::new(&samples)
}

/// The result of a benchmark. Displayed as libtest prints it.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchSamples {
    /// Nanoseconds per iteration.
    pub summary: Summary,
    /// 0 when the benchmark does not say how many bytes it handles.
    pub megabytes_per_second: u64,
}

impl BenchSamples {
    /// The distance between the slowest and the fastest sample.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        self.summary.max - self.summary.min
    }
}

impl fmt::Display for BenchSamples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:>14} ns/iter (+/- {})",
            with_thousands(self.summary.median),
            with_thousands(self.deviation())
        )?;
        if self.megabytes_per_second != 0 {
            write!(f, " = {} MB/s", self.megabytes_per_second)?;
        }
        Ok(())
    }
}

/// A number with two decimals and a comma between thousands.
fn with_thousands(number: f64) -> String {
    let text = format!("{number:.2}");
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, "00"));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped}.{decimals}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_benchmark_run_as_a_test_runs_its_closure_once() {
        let mut calls = 0;
        let mut bencher = Bencher::once();
        let result = bencher.bench(|b| {
            b.iter(|| calls += 1);
            Ok(())
        });
        assert_eq!((result, calls), (Ok(None), 1));
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (number, expected) in [
            (0.0, "0.00"),
            (12.345, "12.35"),
            (999.0, "999.00"),
            (1234.5, "1,234.50"),
            (12_345_678.0, "12,345,678.00"),
        ] {
            assert_eq!(with_thousands(number), expected);
        }
    }
}
