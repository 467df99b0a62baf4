// SPDX-License-Identifier: Apache-2.0
//! The counted values of a subject: medians, ranges, and a test for a difference between two
//! subjects.

use lab_document::{Precision, Quantity};
use lab_model::{Counted, CountedValue, Metric};

/// Returns the counted values of a metric for a subject.
pub fn figure<'c>(counted: &'c Counted, metric: &Metric) -> Option<&'c CountedValue> {
    counted.figures.iter().find(|f| f.metric == *metric)
}

/// Returns true if the metric counts a single kind of system call.
pub fn is_call(metric: &Metric) -> bool {
    metric.id.starts_with("call_")
}

/// Returns true if the ranges of two subjects do not overlap.
pub fn differ(a: &CountedValue, b: &CountedValue) -> bool {
    let ((a_low, a_high), (b_low, b_high)) = (range(a), range(b));
    a_high < b_low || b_high < a_low
}

fn range(figure: &CountedValue) -> (f64, f64) {
    let values = || figure.differences.iter().copied();
    let low = values().fold(f64::INFINITY, f64::min);
    (low, values().fold(f64::NEG_INFINITY, f64::max))
}

/// Returns the median, or 0 if there are no values.
pub fn median(figure: &CountedValue) -> f64 {
    lab_stats::order::median(&figure.differences).unwrap_or(0.0)
}

/// Returns the median, with the range of all values as its confidence interval (sign test).
pub fn quantity(figure: &CountedValue) -> Quantity {
    let (low, high) = range(figure);
    let (value, unit) = (median(figure), figure.metric.unit.clone());
    // A value that was simulated only once is exact.
    let precision = if low == high {
        Precision::Exact
    } else {
        Precision::Within {
            low,
            high,
            level: 1.0 - 2.0 * 0.5f64.powi(figure.differences.len() as i32),
        }
    };
    Quantity {
        value,
        unit,
        precision,
    }
}
