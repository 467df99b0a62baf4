// SPDX-License-Identifier: Apache-2.0
//! Functions of the normal distribution and of Student's t distribution, for intervals.

use crate::beta::incomplete_beta;
use std::f64::consts::SQRT_2;

/// The maximum number of degrees of freedom for which Student's t is computed. With more degrees of
/// freedom, the distribution agrees with the normal distribution to ten digits.
const MAX_STUDENT_FREEDOM: f64 = 1e10;

/// Returns the probability that a standard normal value is at most `z`.
pub fn cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z / SQRT_2)
}

/// Returns the `z` that a standard normal value exceeds with probability `tail`, 0 < tail < 1.
///
/// For other probabilities, returns ±40, the limits of the distribution in double precision.
pub fn upper_quantile(tail: f64) -> f64 {
    solve(|z| cdf(-z) > tail, 40.0)
}

/// Returns the `t` that Student's t exceeds with probability `tail`, 0 < tail < 1, up to ±1e15.
///
/// The degrees of freedom `freedom` > 0 may be fractional.
pub fn student_upper_quantile(freedom: f64, tail: f64) -> f64 {
    solve(|t| student_upper_tail(freedom, t) > tail, 1e15)
}

/// Returns the probability that Student's t exceeds `t`.
///
/// The degrees of freedom `freedom` > 0 may be fractional.
///
/// Source: Abramowitz & Stegun, *Handbook of Mathematical Functions*, 26.7.1.
pub fn student_upper_tail(freedom: f64, t: f64) -> f64 {
    if freedom > MAX_STUDENT_FREEDOM {
        return cdf(-t);
    }
    let square = t * t;
    let sum = freedom + square;
    let rest = if sum.is_finite() { square / sum } else { 1.0 };
    let half = 0.5 * incomplete_beta(0.5 * freedom, 0.5, freedom / sum, rest);
    if t > 0.0 { half } else { 1.0 - half }
}

/// Finds the value within ±`bound` at which `is_below` becomes false, to nearly the last bit.
fn solve(is_below: impl Fn(f64) -> bool, bound: f64) -> f64 {
    let (mut low, mut high) = (-bound, bound);
    for _ in 0..120 {
        let mid = 0.5 * (low + high);
        if is_below(mid) {
            low = mid;
        } else {
            high = mid;
        }
    }
    0.5 * (low + high)
}
