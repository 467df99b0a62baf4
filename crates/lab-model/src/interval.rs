// SPDX-License-Identifier: Apache-2.0
//! An estimate with its confidence interval.

use serde::Serialize;

/// An estimate with its confidence interval. `low <= estimate <= high`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The point estimate.
    pub estimate: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// The confidence that the interval really has, 0 to 1. With few blocks it can be below the level that was
    /// requested, down to 0, which is no interval at all. Where several intervals hold together, the confidence
    /// that all of them do.
    pub level: f64,
}

impl Interval {
    /// A value without an interval: a single block shows no scatter.
    pub fn alone(value: f64) -> Interval {
        Interval {
            estimate: value,
            low: value,
            high: value,
            level: 0.0,
        }
    }

    /// The confidence of an interval that misses with probability `alpha`; 0 if `alpha` is not within 0 to 1, as in
    /// a file that was tampered with.
    pub fn level_of(alpha: f64) -> f64 {
        if (0.0..=1.0).contains(&alpha) {
            1.0 - alpha
        } else {
            0.0
        }
    }
}
