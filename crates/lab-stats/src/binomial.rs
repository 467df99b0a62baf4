// SPDX-License-Identifier: Apache-2.0
//! Binomial tail probabilities.

use crate::normal;
use lab_model::Interval;

/// Above this number of trials, the binomial distribution is approximated by the normal
/// distribution.
const MAX_EXACT: u64 = 1000;

/// Returns the probability that at least `at_least` of `all` independent trials succeed, each with
/// probability `chance`.
pub fn upper_tail(all: u64, chance: f64, at_least: u64) -> f64 {
    if at_least == 0 {
        return 1.0;
    }
    if !(chance > 0.0 && chance < 1.0) {
        return if chance >= 1.0 && at_least <= all {
            1.0
        } else {
            0.0
        };
    }
    if all > MAX_EXACT {
        let (n, threshold) = (all as f64, at_least as f64);
        let spread = (n * chance * (1.0 - chance)).sqrt();
        return normal::cdf((n * chance - (threshold - 0.5)) / spread);
    }
    // `log` is the logarithm of the probability of k, computed from the probability of k - 1.
    let odds = (chance / (1.0 - chance)).ln();
    let mut log = all as f64 * (-chance).ln_1p();
    let mut tail = 0.0;
    for k in 1..=all {
        log += ((all - k + 1) as f64 / k as f64).ln() + odds;
        if k >= at_least {
            tail += log.exp();
        }
    }
    tail.min(1.0)
}

/// Returns the confidence interval of the probability of success, from `successes` of `all`
/// independent trials.
///
/// If the probability differs between trials, the interval of the mean probability is only wider
/// than necessary (Hoeffding, *On the Distribution of the Number of Successes in Independent
/// Trials*, 1956).
///
/// Source: Clopper and Pearson, *The Use of Confidence or Fiducial Limits Illustrated in the Case
/// of the Binomial*, Biometrika 1934.
pub fn interval(successes: u64, all: u64, level: f64) -> Interval {
    let tail = (1.0 - level) / 2.0;
    let estimate = successes as f64 / all.max(1) as f64;
    // The chance of success for which at most `at_most` trials succeed with this probability.
    let chance_with = |at_most: u64, probability: f64| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if lower_tail(all, middle, at_most) > probability {
                low = middle;
            } else {
                high = middle;
            }
        }
        (low + high) / 2.0
    };
    Interval {
        estimate,
        low: match successes {
            0 => 0.0,
            some => chance_with(some - 1, 1.0 - tail),
        },
        high: if successes >= all {
            1.0
        } else {
            chance_with(successes, tail)
        },
        level,
    }
}

/// Returns the probability that at most `at_most` of `all` independent trials succeed, each with probability `chance`
/// between 0 and 1.
fn lower_tail(all: u64, chance: f64, at_most: u64) -> f64 {
    let odds = (chance / (1.0 - chance)).ln();
    let mut log = all as f64 * (-chance).ln_1p();
    let mut tail = log.exp();
    for k in 1..=at_most.min(all) {
        log += ((all - k + 1) as f64 / k as f64).ln() + odds;
        tail += log.exp();
    }
    tail.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomial_tails_of_small_counts() {
        assert_eq!(upper_tail(3, 0.5, 0), 1.0);
        assert!((upper_tail(3, 0.5, 3) - 0.125).abs() < 1e-12);
        assert!((upper_tail(10, 0.5, 8) - 56.0 / 1024.0).abs() < 1e-12);
        assert!((upper_tail(4, 0.25, 1) - (1.0 - 0.75_f64.powi(4))).abs() < 1e-12);
        assert_eq!(upper_tail(4, 1.0, 4), 1.0);
        assert_eq!(upper_tail(4, 0.5, 5), 0.0);
    }

    /// Compares the intervals with R's `binom.test(k, n)$conf.int`.
    #[test]
    fn intervals_are_those_of_clopper_and_pearson() {
        for (successes, all, low, high) in [
            (0, 10, 0.0, 0.308_497_1),
            (1, 10, 0.002_528_6, 0.445_016_1),
            (7, 10, 0.347_547_1, 0.933_260_5),
            (10, 10, 0.691_502_9, 1.0),
            (0, 480, 0.0, 0.007_655_6),
        ] {
            let found = interval(successes, all, 0.95);
            assert!(
                (found.low - low).abs() < 1e-6,
                "{successes}/{all}: {found:?}"
            );
            assert!(
                (found.high - high).abs() < 1e-6,
                "{successes}/{all}: {found:?}"
            );
        }
        let many = interval(300, 80_000, 0.95);
        assert!(many.low < 0.003_75 && many.high > 0.003_75 && many.high - many.low < 0.001);
    }

    /// Checks that the exact and the approximate computation agree at the boundary between them.
    #[test]
    fn exact_and_approximate_tails_agree() {
        let [exact, normal] = [1000, 1001].map(|all| upper_tail(all, 0.3, 330));
        assert!((exact - normal).abs() < 0.003, "{exact} {normal}");
    }
}
