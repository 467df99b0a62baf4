// SPDX-License-Identifier: Apache-2.0
//! An estimate with its confidence interval.

use serde::{Deserialize, Serialize};

/// An estimate with its confidence interval. `low <= estimate <= high`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The point estimate.
    pub estimate: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// The actual confidence level of the interval, 0 to 1.
    ///
    /// With few blocks, the actual level can be below the requested level. A level of 0 means that
    /// there is no interval. If multiple intervals hold simultaneously, this is their joint
    /// confidence level.
    pub level: f64,
}

impl Interval {
    /// Creates the interval of a single block's value. Its level is 0, because one block shows no
    /// variance.
    pub fn from_single_block(value: f64) -> Interval {
        Interval {
            estimate: value,
            low: value,
            high: value,
            level: 0.0,
        }
    }

    /// Returns the confidence level of an interval that misses the true value with probability
    /// `alpha`.
    ///
    /// Returns 0 if `alpha` is outside 0 to 1, as in a file that was tampered with.
    pub fn confidence_level(alpha: f64) -> f64 {
        if (0.0..=1.0).contains(&alpha) {
            1.0 - alpha
        } else {
            0.0
        }
    }
}
