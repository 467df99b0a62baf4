// SPDX-License-Identifier: Apache-2.0
//! Estimates how much groups of values differ beyond the variation within the groups. The model has
//! one random effect and groups of any size.
//!
//! Sources: A. Wald, *A note on the analysis of variance with unequal class frequencies*, Annals of
//! Mathematical Statistics 11, 1940: an exact interval for the variance between groups as a
//! multiple of the variance within groups, for normally distributed values with equal variances. R.
//! Burdick & F. Graybill, *Confidence Intervals on Variance Components*, 1992, sections 4.3 and
//! 4.6.

use crate::beta::incomplete_beta;
use lab_model::Interval;

/// The number of bisection steps for finding a root. They give a precision of 2^-60 of the search
/// interval.
const BISECTION_STEPS: usize = 60;

/// The largest multiple that is distinguished from infinity.
const MAX_MULTIPLE: f64 = 1e12;

/// The differences between groups of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupEffects {
    /// The standard deviation between groups.
    ///
    /// The bounds of the interval are the bounds of Wald's exact interval, multiplied by the
    /// estimated deviation within groups. For groups of equal size, the interval contains the
    /// interval of J. Williams, Biometrika 49, 1962.
    pub deviation: Interval,
    /// The standard deviation within groups.
    pub within: f64,
    /// The p-value of the hypothesis that the groups do not differ (F test).
    pub p: f64,
}

/// Estimates the variance between groups of values, with an interval at level `1 - alpha`.
///
/// Returns `None` if there are fewer than two groups, if no group has two values, or if the values
/// within each group are all equal.
pub fn estimate(groups: &[Vec<f64>], alpha: f64) -> Option<GroupEffects> {
    let groups: Vec<&Vec<f64>> = groups.iter().filter(|group| !group.is_empty()).collect();
    let values: usize = groups.iter().map(|group| group.len()).sum();
    let (above, below) = (groups.len().checked_sub(1)?, values - groups.len());
    if above == 0 || below == 0 {
        return None;
    }
    let means: Vec<(f64, f64)> = groups
        .iter()
        .map(|group| (size(group), mean(group)))
        .collect();
    let squares = |(group, (_, mean)): (&&Vec<f64>, &(f64, f64))| -> f64 {
        group.iter().map(|value| (value - mean).powi(2)).sum()
    };
    let within = groups.iter().zip(&means).map(squares).sum::<f64>() / below as f64;
    if within <= 0.0 {
        return None;
    }
    let freedom = (above as f64, below as f64);
    let f = |multiple: f64| spread(&means, multiple) / (freedom.0 * within);
    // Finds the multiple at which the spread of the means is `target`.
    let multiple = |target: f64| falls_to(&f, target);
    let deviation = |target: f64| (multiple(target) * within).sqrt();
    let quantile = |tail: f64| falls_to(&|x: f64| upper_tail(x, freedom), tail);
    Some(GroupEffects {
        deviation: Interval {
            estimate: deviation(1.0),
            low: deviation(quantile(alpha / 2.0)),
            high: if f(0.0) < 1.0 {
                (by_chance(&means, quantile(1.0 - alpha / 2.0)) * within).sqrt()
            } else {
                deviation(quantile(1.0 - alpha / 2.0))
            },
            level: Interval::confidence_level(alpha),
        },
        within: within.sqrt(),
        p: upper_tail(f(0.0), freedom),
    })
}

/// Returns an upper bound of the multiple if the means vary less than expected by chance.
///
/// This is the bound for means that vary exactly as much as expected by chance. Without this bound,
/// Wald's interval might contain only 0 or nothing.
fn by_chance(means: &[(f64, f64)], quantile: f64) -> f64 {
    let all: f64 = means.iter().map(|(n, _)| n).sum();
    let squares: f64 = means.iter().map(|(n, _)| n * n).sum();
    let mean_size = (all - squares / all) / (means.len() as f64 - 1.0);
    (1.0 / quantile - 1.0).max(0.0) / mean_size
}

fn size(group: &[f64]) -> f64 {
    group.len() as f64
}

fn mean(group: &[f64]) -> f64 {
    group.iter().sum::<f64>() / size(group)
}

/// Returns the weighted sum of squared deviations of the means from their weighted mean.
///
/// The weights are optimal if the variance between groups is `multiple` times the variance within
/// groups.
fn spread(means: &[(f64, f64)], multiple: f64) -> f64 {
    let weighted = || {
        means
            .iter()
            .map(|(n, mean)| (n / (1.0 + n * multiple), mean))
    };
    let weights: f64 = weighted().map(|(weight, _)| weight).sum();
    let middle = weighted().map(|(weight, mean)| weight * mean).sum::<f64>() / weights;
    weighted()
        .map(|(weight, mean)| weight * (mean - middle).powi(2))
        .sum()
}

/// Finds the argument at which a function reaches a value. The function must decrease for all
/// arguments of at least 0.
///
/// Returns 0 if the function starts below the value, and infinity if it stays above the value.
fn falls_to(function: &dyn Fn(f64) -> f64, value: f64) -> f64 {
    if function(0.0) <= value {
        return 0.0;
    }
    let mut high = 1.0;
    while function(high) > value {
        high *= 4.0;
        if high > MAX_MULTIPLE {
            return f64::INFINITY;
        }
    }
    let mut low = 0.0;
    for _ in 0..BISECTION_STEPS {
        let middle = 0.5 * (low + high);
        if function(middle) > value {
            low = middle
        } else {
            high = middle
        }
    }
    0.5 * (low + high)
}

/// Returns the probability that Fisher's F exceeds x (Abramowitz & Stegun 26.6.2).
fn upper_tail(x: f64, (above, below): (f64, f64)) -> f64 {
    let sum = below + above * x;
    incomplete_beta(below / 2.0, above / 2.0, below / sum, above * x / sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::SplitMix64;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-8 * b.abs(), "{a} {b}");
    }

    /// Compares tails with integrals of the density by Simpson's rule with 400,000 steps.
    #[test]
    fn tails_are_integrals_of_the_density() {
        close(upper_tail(1.0, (1.0, 10.0)), 0.340_893_132_302);
        close(upper_tail(4.5, (3.0, 20.0)), 0.014_373_244_611);
        close(upper_tail(0.2, (5.0, 7.0)), 0.952_416_450_221);
        assert_eq!(upper_tail(0.0, (2.0, 9.0)), 1.0);
    }

    /// For groups of equal size, the estimate of the variance is (mean square between groups - mean
    /// square within groups) / size.
    #[test]
    fn groups_of_equal_size_match_an_analysis_of_variance() {
        let groups = [
            vec![1.0, 1.2, 0.9, 1.1],
            vec![1.5, 1.4, 1.7, 1.6],
            vec![1.0, 0.8, 1.1, 0.9],
        ];
        let found = estimate(&groups, 0.05).unwrap();
        let mean_square = 0.62 / 1.5;
        let within = 0.05 / 3.0;
        close(found.within, f64::sqrt(within));
        close(
            found.deviation.estimate,
            f64::sqrt((mean_square - within) / 4.0),
        );
        close(found.p, upper_tail(mean_square / within, (2.0, 9.0)));
        assert!(found.deviation.low > 0.0 && found.p < 0.05);
    }

    #[test]
    fn degenerate_groups_have_no_result() {
        assert_eq!(estimate(&[vec![1.0, 2.0]], 0.05), None);
        assert_eq!(estimate(&[vec![1.0], vec![2.0]], 0.05), None);
        assert_eq!(estimate(&[vec![1.0, 1.0], vec![2.0, 2.0]], 0.05), None);
        let same = estimate(&[vec![1.0, 2.0], vec![1.0, 2.0]], 0.05).unwrap();
        assert_eq!((same.deviation.estimate, same.deviation.low), (0.0, 0.0));
        assert!(same.p > 0.99 && same.deviation.high > 0.0);
    }

    /// Intervals of groups of different sizes contain the true value about as often as their level
    /// says. False positives are as rare as the level says.
    #[test]
    fn simulated_intervals_are_valid() {
        let mut random = SplitMix64::new(26);
        let mut uniform = move || (random.next() >> 11) as f64 / (1u64 << 53) as f64;
        let mut normal = move || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        for truth in [0.0, 0.5, 2.0] {
            let (mut holds, mut differ) = (0, 0);
            for _ in 0..1_000 {
                let groups: Vec<Vec<f64>> = [3, 5, 9, 6]
                    .into_iter()
                    .map(|n| {
                        let effect = truth * normal();
                        (0..n).map(|_| effect + normal()).collect()
                    })
                    .collect();
                let found = estimate(&groups, 0.1).unwrap();
                let interval = found.deviation;
                holds += usize::from(interval.low <= truth && truth <= interval.high);
                differ += usize::from(found.p < 0.1);
            }
            assert!((870..=975).contains(&holds), "{truth}: {holds}");
            assert!(truth > 0.0 || (60..=140).contains(&differ), "{differ}");
        }
    }
}
