// SPDX-License-Identifier: Apache-2.0
//! The normal distribution and Student's t, as far as intervals need them.

use std::f64::consts::{PI, SQRT_2};

/// The chance that a standard normal value is at most `z`.
pub fn cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z / SQRT_2)
}

/// The `z` that a standard normal value exceeds with chance `tail`, 0 < tail < 1. Outside of
/// that, ±40, where the distribution ends for all that a double can say.
pub fn upper_quantile(tail: f64) -> f64 {
    solve(|z| cdf(-z) > tail, 40.0)
}

/// The `t` that Student's distribution with `freedom` >= 1 degrees exceeds with chance `tail`,
/// 0 < tail < 1, up to ±1e6. Above 200 degrees the normal quantile.
pub fn student_upper_quantile(freedom: u32, tail: f64) -> f64 {
    match freedom {
        201.. => upper_quantile(tail),
        _ => solve(|t| student_upper_tail(freedom.max(1), t) > tail, 1e6),
    }
}

/// The chance that Student's t with `freedom` >= 1 degrees exceeds `t`.
///
/// Source: Abramowitz & Stegun, *Handbook of Mathematical Functions*, 26.7.3 and 26.7.4.
pub fn student_upper_tail(freedom: u32, t: f64) -> f64 {
    let angle = (t / f64::from(freedom).sqrt()).atan();
    let (sin, cos) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    let mut term = if odd { cos } else { 1.0 };
    let mut sum = 0.0;
    let mut k = if odd { 2.0 } else { 1.0 };
    for _ in 0..freedom / 2 {
        sum += term;
        term *= cos * cos * k / (k + 1.0);
        k += 2.0;
    }
    let within = if odd {
        2.0 / PI * (angle + sin * sum)
    } else {
        sin * sum
    };
    0.5 * (1.0 - within)
}

/// The point within ±`bound` at which `left` stops being true, to the last bit or so.
fn solve(is_below: impl Fn(f64) -> bool, bound: f64) -> f64 {
    let (mut low, mut high) = (-bound, bound);
    for _ in 0..100 {
        let mid = 0.5 * (low + high);
        if is_below(mid) {
            low = mid;
        } else {
            high = mid;
        }
    }
    0.5 * (low + high)
}
