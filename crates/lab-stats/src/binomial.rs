// SPDX-License-Identifier: Apache-2.0
//! Binomial tail probabilities.

use crate::normal;

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

    /// The exact and the approximate computation agree at the boundary between them.
    #[test]
    fn exact_and_approximate_tails_agree() {
        let [exact, normal] = [1000, 1001].map(|all| upper_tail(all, 0.3, 330));
        assert!((exact - normal).abs() < 0.003, "{exact} {normal}");
    }
}
