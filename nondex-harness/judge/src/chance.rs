//! Tests whether two groups of runs differ by more than chance explains.

/// Probability of taking groups for different ones that only differ by chance (significance level).
const ERROR: f64 = 0.05;

/// Tolerance for equal probabilities that were rounded differently.
const ROUNDING: f64 = 1.0 + 1e-9;

/// Failures and runs of each of two groups.
pub type Pair = [[usize; 2]; 2];

/// Returns whether chance may explain all differences between the first and the second runs of
/// these pairs.
///
/// This is Fisher's exact test, two-sided, for several tables at once. Given the total number of
/// failures in a pair, each choice of failing runs is equally likely, and the pairs are
/// independent. The test statistic is the number of failures in all first groups.
pub fn explains(pairs: impl IntoIterator<Item = Pair>) -> bool {
    let mut observed = 0;
    let mut probabilities = vec![1.0];
    for [[failed, runs], [other_failed, other_runs]] in pairs {
        observed += failed;
        let one = hypergeometric(runs, other_runs, failed + other_failed);
        let mut sums = vec![0.0; probabilities.len() + one.len() - 1];
        for (known, first) in probabilities.iter().enumerate() {
            for (new, second) in one.iter().enumerate() {
                sums[known + new] += first * second;
            }
        }
        probabilities = sums;
    }
    let limit = probabilities[observed] * ROUNDING;
    let is_as_unlikely = |probability: &&f64| **probability <= limit;
    probabilities.iter().filter(is_as_unlikely).sum::<f64>() > ERROR * ROUNDING
}

/// Returns the probabilities of 0 to `runs` failures in the first of two groups, given that
/// `failed` of all their runs fail.
fn hypergeometric(runs: usize, other_runs: usize, failed: usize) -> Vec<f64> {
    let weight = |first: usize| match failed.checked_sub(first) {
        Some(second) => ln_choose(runs, first) + ln_choose(other_runs, second),
        None => f64::NEG_INFINITY,
    };
    let all = ln_choose(runs + other_runs, failed);
    (0..=runs).map(|first| (weight(first) - all).exp()).collect()
}

/// Returns the logarithm of the binomial coefficient `n` over `k`.
fn ln_choose(n: usize, k: usize) -> f64 {
    if k > n {
        return f64::NEG_INFINITY;
    }
    (0..k).map(|i| ((n - i) as f64 / (i + 1) as f64).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probabilities_are_those_of_fishers_test() {
        // The original example: a lady tastes four cups of eight.
        for (found, expected) in
            hypergeometric(4, 4, 4).into_iter().zip([1.0, 16.0, 36.0, 16.0, 1.0])
        {
            assert!((found - expected / 70.0).abs() < 1e-12);
        }
    }

    #[test]
    fn groups_differ_where_one_fails_more_often_than_chance_lets_it() {
        for (pairs, expected) in [
            (&[][..], true),
            (&[[[0, 2], [0, 20]]], true),
            (&[[[2, 2], [5, 5]]], true),
            (&[[[71, 158], [75, 158]]], true),
            (&[[[1, 2], [0, 20]]], true),
            (&[[[1, 2], [0, 38]]], false),
            (&[[[2, 2], [0, 5]]], false),
            (&[[[0, 5], [2, 2]]], false),
            (&[[[55, 60], [0, 60]]], false),
            (&[[[1, 1], [0, 1]]; 5], true),
            (&[[[1, 1], [0, 1]]; 6], false),
            (&[[[1, 1], [0, 1]], [[0, 1], [1, 1]]], true),
        ] {
            assert_eq!(explains(pairs.iter().copied()), expected, "{pairs:?}");
        }
    }
}
