// SPDX-License-Identifier: Apache-2.0
//! Tests whether the mean of values may be 0, even if their distribution is skewed.

/// Returns true unless both empirical likelihood and Student's t reject a mean of 0.
///
/// `critical` is the critical value of a squared statistic, such as t². If all values are equal,
/// their mean may be 0 only if they are 0.
///
/// Source: Owen, *Empirical Likelihood*, 2001, chapter 2.
pub fn is_mean_zero(values: &[f64], critical: f64) -> bool {
    student_squared(values) <= critical || minus_two_log_ratio(values) <= critical
}

fn student_squared(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    if mean == 0.0 {
        return 0.0;
    }
    n * (n - 1.0) * mean * mean / squares
}

/// Returns −2 ln of the empirical likelihood ratio of a mean of 0, or infinity if 0 lies outside
/// the range of the values.
pub fn minus_two_log_ratio(values: &[f64]) -> f64 {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if values.iter().all(|v| *v == 0.0) {
        return 0.0;
    }
    if least >= 0.0 || most <= 0.0 {
        return f64::INFINITY;
    }
    // The weights 1 / (n (1 + λ x)) are positive between the poles, where Σ x / (1 + λ x)
    // decreases.
    let (mut low, mut high) = (-1.0 / most, -1.0 / least);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        let slope: f64 = values.iter().map(|x| x / (1.0 + middle * x)).sum();
        if slope > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let lambda = 0.5 * (low + high);
    2.0 * values.iter().map(|x| (lambda * x).ln_1p()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For values that are one of two numbers, the result is the likelihood ratio of a binomial
    /// proportion, `2 Σ n ln(p̂ / p)`.
    #[test]
    fn two_kinds_of_values_are_a_binomial_sample() {
        let values = [[0.9; 3].as_slice(), &[-0.1; 17]].concat();
        let (p, part) = (3.0 / 20.0_f64, 0.1);
        let expected = 2.0 * (3.0 * (p / part).ln() + 17.0 * ((1.0 - p) / (1.0 - part)).ln());
        assert!((minus_two_log_ratio(&values) - expected).abs() < 1e-9);
        assert_eq!(minus_two_log_ratio(&[1.0, 2.0]), f64::INFINITY);
        assert_eq!(minus_two_log_ratio(&[0.0, 0.0]), 0.0);
    }
}
