// SPDX-License-Identifier: Apache-2.0
//! Fits a straight line through times that span orders of magnitude.

/// The line `time = fixed + marginal * x`, with the relative distance of each point from the line.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearFit {
    /// The time at x = 0.
    pub fixed: f64,
    /// The additional time per unit of x.
    pub marginal: f64,
    /// For each point, the distance of its time above the line, as a fraction of the time. Negative
    /// if the time lies below the line.
    pub residuals: Vec<f64>,
}

/// Fits the line with the smallest sum of squared relative residuals.
///
/// A deviation of 1% at x = 1 counts as much as a deviation of 1% at x = 1000. The method is
/// weighted least squares with weights 1 / time². Returns `None` unless there are two different x,
/// all numbers are finite and all times are positive.
pub fn line(x: &[f64], times: &[f64]) -> Option<LinearFit> {
    let is_valid = |(x, time): (&f64, &f64)| x.is_finite() && time.is_finite() && *time > 0.0;
    if !x.iter().zip(times).all(is_valid) {
        return None;
    }
    let points = || {
        x.iter()
            .zip(times)
            .map(|(&x, &time)| (x, time, 1.0 / (time * time)))
    };
    let weight: f64 = points().map(|(_, _, w)| w).sum();
    let mean_x = points().map(|(x, _, w)| w * x).sum::<f64>() / weight;
    let mean_time = points().map(|(_, time, w)| w * time).sum::<f64>() / weight;
    let xx: f64 = points()
        .map(|(x, _, w)| w * (x - mean_x) * (x - mean_x))
        .sum();
    let xt: f64 = points()
        .map(|(x, time, w)| w * (x - mean_x) * (time - mean_time))
        .sum();
    let marginal = xt / xx;
    let fixed = mean_time - marginal * mean_x;
    let residuals = points()
        .map(|(x, time, _)| (time - fixed - marginal * x) / time)
        .collect();
    (marginal.is_finite() && fixed.is_finite()).then_some(LinearFit {
        fixed,
        marginal,
        residuals,
    })
}
