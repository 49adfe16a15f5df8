//! Confidence intervals for a probability of failure.

use serde::Serialize;

/// Quantile of the standard normal distribution for a two-sided confidence of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// Returns the interval that contains the probability of a failure with a confidence of 95 %, if
/// `failures` of `runs` independent runs failed. Without runs, it is the whole range from 0 to 1.
///
/// This is the score interval of E. B. Wilson, "Probable inference, the law of succession, and
/// statistical inference", Journal of the American Statistical Association 22 (1927), pages
/// 209–212. Textbooks derive another interval from the normal distribution. Unlike that one, this
/// interval is right for few runs and near 0 and 1. See Brown, Cai and Das Gupta, "Interval
/// estimation for a binomial proportion", Statistical Science 16 (2001), pages 101–133.
pub fn wilson(failures: u64, runs: u64) -> [f64; 2] {
    if runs == 0 {
        return [0.0, 1.0];
    }
    let n = runs as f64;
    let p = failures as f64 / n;
    let z2 = Z * Z;
    let center = p + z2 / (2.0 * n);
    let spread = Z * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z2 / n;
    // The ends are exactly 0 and 1, where rounding would give a slightly different value.
    let low = if failures == 0 { 0.0 } else { (center - spread) / scale };
    let high = if failures == runs { 1.0 } else { (center + spread) / scale };
    [low, high]
}

/// Failure rate of a test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// Number of failed runs.
    pub failures: u64,
    /// Number of runs.
    pub runs: u64,
    /// Interval that contains the probability of a failure with a confidence of 95 %; see
    /// [`wilson`].
    pub interval: [f64; 2],
}

impl Rate {
    /// Returns the rate of `failures` in `runs`.
    pub fn new(failures: u64, runs: u64) -> Self {
        Rate { failures, runs, interval: wilson(failures, runs) }
    }

    /// Returns the rate for people: "7 of 10 runs failed: 39.7 % to 89.2 % with 95 % confidence".
    pub fn text(self) -> String {
        let Rate { failures, runs, interval: [low, high] } = self;
        format!(
            "{failures} of {runs} runs failed: {:.1} % to {:.1} % with 95 % confidence",
            low * 100.0,
            high * 100.0
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_published_tables() {
        for (failures, runs, low, high) in [
            (0, 0, 0.0, 1.0),
            (0, 1, 0.0, 0.7935),
            (1, 1, 0.2065, 1.0),
            (0, 10, 0.0, 0.2775),
            (1, 10, 0.0179, 0.4042),
            (5, 10, 0.2366, 0.7634),
            (10, 10, 0.7225, 1.0),
            (0, 100, 0.0, 0.0370),
            // Newcombe (1998), Statistics in Medicine 17, pages 857-872, table I, method 3.
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let [found_low, found_high] = wilson(failures, runs);
            let close = |a: f64, b: f64| (a - b).abs() < 5e-5;
            assert!(
                close(found_low, low) && close(found_high, high),
                "{failures}/{runs}: {found_low:.5} {found_high:.5}"
            );
        }
    }

    #[test]
    fn the_interval_holds_the_rate_and_never_leaves_0_to_1() {
        for runs in 1..60 {
            for failures in 0..=runs {
                let [low, high] = wilson(failures, runs);
                let rate = failures as f64 / runs as f64;
                assert!(
                    (0.0..=rate).contains(&low) && (rate..=1.0).contains(&high),
                    "{failures}/{runs}"
                );
                let [mirrored, _] = wilson(runs - failures, runs);
                assert!((1.0 - high - mirrored).abs() < 1e-12, "{failures}/{runs}");
            }
        }
    }

    #[test]
    fn a_rate_is_told_with_its_interval() {
        for (failures, runs, text) in [
            (0, 100, "0 of 100 runs failed: 0.0 % to 3.7 % with 95 % confidence"),
            (50, 100, "50 of 100 runs failed: 40.4 % to 59.6 % with 95 % confidence"),
            (3, 3, "3 of 3 runs failed: 43.9 % to 100.0 % with 95 % confidence"),
        ] {
            assert_eq!(Rate::new(failures, runs).text(), text);
        }
    }
}
