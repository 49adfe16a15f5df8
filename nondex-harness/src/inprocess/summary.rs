//! Statistics of a benchmark's samples.

/// What is said about a set of samples. All figures are in the unit of the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The sum.
    pub sum: f64,
    /// The least sample.
    pub min: f64,
    /// The greatest sample.
    pub max: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The 50th percentile.
    pub median: f64,
    /// The variance, corrected for the sample size.
    pub var: f64,
    /// The standard deviation.
    pub std_dev: f64,
    /// The standard deviation in percent of the mean.
    pub std_dev_pct: f64,
    /// The median absolute deviation, scaled to estimate the standard deviation of normal samples.
    pub median_abs_dev: f64,
    /// The same in percent of the median.
    pub median_abs_dev_pct: f64,
    /// The 25th, 50th and 75th percentile.
    pub quartiles: (f64, f64, f64),
    /// The distance between the outer quartiles.
    pub iqr: f64,
}

/// The factor that makes a median absolute deviation comparable with a standard deviation.
const NORMAL_CONSISTENCY: f64 = 1.4826;

impl Summary {
    /// Summarises `samples`.
    ///
    /// # Panics
    /// When there are none.
    #[must_use]
    pub fn new(samples: &[f64]) -> Self {
        assert!(!samples.is_empty(), "no samples to summarise");
        let sorted = sorted(samples);
        let count = samples.len() as f64;
        let sum: f64 = samples.iter().sum();
        let mean = sum / count;
        let var = if samples.len() < 2 {
            0.0
        } else {
            samples.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0)
        };
        let median = percentile(&sorted, 50.0);
        let deviations: Vec<f64> = samples.iter().map(|x| (median - x).abs()).collect();
        let median_abs_dev = percentile(&self::sorted(&deviations), 50.0) * NORMAL_CONSISTENCY;
        let quartiles = (percentile(&sorted, 25.0), median, percentile(&sorted, 75.0));
        Summary {
            sum,
            min: sorted[0],
            max: sorted[sorted.len() - 1],
            mean,
            median,
            var,
            std_dev: var.sqrt(),
            std_dev_pct: var.sqrt() / mean * 100.0,
            median_abs_dev,
            median_abs_dev_pct: median_abs_dev / median * 100.0,
            quartiles,
            iqr: quartiles.2 - quartiles.0,
        }
    }
}

fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The percentile of sorted samples, interpolated between the two nearest.
fn percentile(sorted: &[f64], percent: f64) -> f64 {
    let rank = percent / 100.0 * (sorted.len() - 1) as f64;
    let low = rank.floor() as usize;
    let high = rank.ceil() as usize;
    sorted[low] + (sorted[high] - sorted[low]) * (rank - rank.floor())
}

/// Pulls the samples outside the given percentiles in to them, so that outliers do not dominate.
pub(crate) fn winsorize(samples: &mut [f64], percent: f64) {
    let sorted = sorted(samples);
    let low = percentile(&sorted, percent);
    let high = percentile(&sorted, 100.0 - percent);
    for sample in samples {
        *sample = sample.clamp(low, high);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_of_known_samples_has_the_known_figures() {
        let summary = Summary::new(&[4.0, 1.0, 3.0, 2.0]);
        assert_eq!(summary.sum, 10.0);
        assert_eq!((summary.min, summary.max), (1.0, 4.0));
        assert_eq!(summary.median, 2.5);
        assert_eq!(summary.quartiles, (1.75, 2.5, 3.25));
        assert_eq!(summary.var, 5.0 / 3.0);
        assert_eq!(summary.median_abs_dev, NORMAL_CONSISTENCY);
    }

    #[test]
    fn outliers_are_pulled_in() {
        let mut samples: Vec<f64> = (0..=100).map(f64::from).collect();
        winsorize(&mut samples, 5.0);
        assert_eq!((samples[0], samples[50], samples[100]), (5.0, 50.0, 95.0));
    }
}
