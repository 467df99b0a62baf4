// SPDX-License-Identifier: Apache-2.0
//! Intervals from two to five blocks, which are too few for one without assumptions: blocks are taken to scatter
//! normally, and alike for all that is compared.
//!
//! Source: moderated t (Smyth, *Linear models and empirical Bayes methods for assessing differential expression*,
//! Statistical Applications in Genetics and Molecular Biology 3, 2004).

use crate::normal;
use lab_model::Interval;

/// What all comparisons of a run say together of how blocks scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Degrees of freedom that it adds to a comparison's own.
    pub freedom: f64,
    /// The variance that it expects.
    pub variance: f64,
}

impl Prior {
    /// Adds nothing.
    pub const NONE: Prior = Prior {
        freedom: 0.0,
        variance: 0.0,
    };

    /// Of comparisons with their values. `processes`: how many scatter on their own, the baseline included:
    /// what is measured of the same processes is no news, so that they bound the degrees of freedom.
    pub fn new(comparisons: &[&[f64]], processes: usize) -> Prior {
        let spreads = comparisons.iter().map(|values| (variance(values), values));
        let usable = spreads.filter(|(s2, values)| values.len() >= 2 && *s2 > 0.0);
        let usable: Vec<(f64, f64)> = usable
            .map(|(s2, values)| (s2.ln(), values.len() as f64 - 1.0))
            .collect();
        let others = processes.saturating_sub(2) as f64;
        if usable.len() < 2 || others < 1.0 {
            return Prior::NONE;
        }
        let centred = usable
            .iter()
            .map(|(z, d)| z - digamma(d / 2.0) + (d / 2.0).ln());
        let centred: Vec<f64> = centred.collect();
        let n = usable.len() as f64;
        let mean = centred.iter().sum::<f64>() / n;
        let spread = centred.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let expected = usable.iter().map(|(_, d)| trigamma(d / 2.0)).sum::<f64>() / n;
        let mean_freedom = usable.iter().map(|(_, d)| d).sum::<f64>() / n;
        let bound = mean_freedom * others;
        let excess = spread - expected;
        let freedom = if excess > 0.0 {
            (2.0 * inverse_trigamma(excess)).min(bound)
        } else {
            bound
        };
        let variance = (mean + digamma(freedom / 2.0) - (freedom / 2.0).ln()).exp();
        Prior { freedom, variance }
    }

    /// The standard error of the mean of at least two values, at least `floor`.
    pub(crate) fn error(self, values: &[f64], floor: f64) -> f64 {
        let (pooled, _) = self.moderated(values);
        (pooled / values.len() as f64).sqrt().max(floor)
    }

    /// The variance of at least two values with what the prior says of it, and its degrees of freedom.
    pub(crate) fn moderated(self, values: &[f64]) -> (f64, f64) {
        let own_freedom = values.len() as f64 - 1.0;
        let freedom = self.freedom + own_freedom;
        let pooled = (self.freedom * self.variance + own_freedom * variance(values)) / freedom;
        (pooled, freedom)
    }
}

/// The mean of at least two values with an interval at a level of `1 - alpha`, and the two-sided p-value of 0. Its
/// standard error is at least `floor`, which is what a block's own turns make of it.
pub fn interval(values: &[f64], alpha: f64, prior: Prior, floor: f64) -> (Interval, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let (_, freedom) = prior.moderated(values);
    let error = prior.error(values, floor);
    let half = error * normal::student_upper_quantile(freedom, alpha / 2.0);
    let t = if error > 0.0 {
        mean.abs() / error
    } else {
        f64::INFINITY
    };
    let interval = Interval {
        estimate: mean,
        low: mean - half,
        high: mean + half,
        level: Interval::level_of(alpha),
    };
    let p = if mean == 0.0 {
        1.0
    } else {
        2.0 * normal::student_upper_tail(freedom, t)
    };
    (interval, p)
}

fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)
}

/// Abramowitz & Stegun, *Handbook of Mathematical Functions*, 6.3.5 and 6.3.18, to 1e-10.
fn digamma(x: f64) -> f64 {
    if x < 10.0 {
        return digamma(x + 1.0) - 1.0 / x;
    }
    let square = 1.0 / (x * x);
    x.ln() - 0.5 / x - square * (1.0 / 12.0 - square * (1.0 / 120.0 - square / 252.0))
}

/// The same, 6.4.6 and 6.4.12.
fn trigamma(x: f64) -> f64 {
    if x < 10.0 {
        return trigamma(x + 1.0) + 1.0 / (x * x);
    }
    let square = 1.0 / (x * x);
    (1.0 + 0.5 / x + square * (1.0 / 6.0 - square * (1.0 / 30.0 - square / 42.0))) / x
}

/// Where trigamma, which falls, is `y` > 0; within 1e-3 to 1e6.
fn inverse_trigamma(y: f64) -> f64 {
    let (mut low, mut high) = (1e-3_f64.ln(), 1e6_f64.ln());
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if trigamma(middle.exp()) > y {
            low = middle;
        } else {
            high = middle;
        }
    }
    low.exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.special.digamma`, `polygamma(1, x)`; `scipy.stats.t`.
    #[test]
    fn functions_are_those_of_scipy() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{a} {b}");
        close(digamma(0.5), -1.963_510_026_021_423_5);
        close(digamma(3.0), 0.922_784_335_098_467_1);
        close(trigamma(1.0), 1.644_934_066_848_226_4);
        close(trigamma(7.5), 0.142_615_896_696_703_8);
        close(inverse_trigamma(trigamma(2.5)), 2.5);
        let (found, p) = interval(&[0.1, 0.2, 0.4], 0.05, Prior::NONE, 0.0);
        close(found.low, -0.146_124_970_026_342_46);
        close(found.high, 0.612_791_636_693_009_4);
        close(p, 0.118_082_896_311_803_13);
        // 3.5 degrees of freedom are not 3.
        let prior = Prior {
            freedom: 1.5,
            variance: 0.02,
        };
        let (found, p) = interval(&[0.1, 0.2, 0.4], 0.05, prior, 0.0);
        close(found.low, -0.017_895_258_951_511_5);
        close(found.high, 0.484_561_925_618_178_2);
        close(p, 0.060_657_924_820_184_03);
    }
}
