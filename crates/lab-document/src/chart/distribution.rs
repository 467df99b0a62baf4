// SPDX-License-Identifier: Apache-2.0
//! Cumulative distributions as lines: for each value, the fraction of values at or below it.
//!
//! On a linear scale, the vertical axis shows the fractions. On a percentile scale, the horizontal
//! axis shows them, as in HdrHistogram's plots: at each tick, the fraction of higher values is a
//! tenth of the fraction at the previous tick.

use super::scale::drawable;
use crate::document::{
    Axis, Band, Distribution, DistributionLine, Line, Lines, Quantity, Scale, Stroke,
};
use lab_model::Unit;

/// The number of highest values that are omitted if a line has many values. Their positions are
/// mostly random.
const BEYOND: f64 = 10.0;

/// Converts a distribution to step functions.
pub fn lines(distribution: &Distribution) -> Lines {
    let values = &distribution.values;
    let by_percentile = distribution.shares == Scale::Percentiles;
    let all = distribution.lines.iter().flat_map(|line| &line.counts);
    let max_value = all.filter(|(value, _)| drawable(values.scale, *value));
    let max_value = max_value
        .map(|(value, _)| *value)
        .fold(f64::NEG_INFINITY, f64::max);
    let lines = distribution.lines.iter().map(|line| Line {
        name: line.name.clone(),
        color: line.color,
        stroke: Stroke::Steps,
        points: if by_percentile {
            percentile_points(line, values)
        } else {
            linear_points(line, values, max_value)
        },
        band: Band::Hidden,
    });
    let fractions = Axis::new("cumulative fraction", Unit::Share, distribution.shares);
    let (x, y) = if by_percentile {
        (fractions, values.clone())
    } else {
        (values.clone(), fractions)
    };
    Lines {
        x,
        y,
        lines: lines.filter(|line| !line.points.is_empty()).collect(),
    }
}

/// Returns the points of a line on a linear scale, up to the maximum value of all lines.
fn linear_points(line: &DistributionLine, values: &Axis, max_value: f64) -> Vec<(f64, Quantity)> {
    let fractions = fractions(line, values.scale);
    let first = fractions.first().map(|(value, _)| (*value, 0.0));
    let last = fractions.last().map(|_| (max_value, 1.0));
    let all = first.into_iter().chain(fractions).chain(last);
    let fraction = |(value, fraction)| (value, Quantity::exact(fraction, Unit::Share));
    all.map(fraction).collect()
}

/// Returns the points of a line on a percentile scale. The x coordinate of each value is the
/// fraction of lower values. The highest values are omitted; see [`BEYOND`].
fn percentile_points(line: &DistributionLine, values: &Axis) -> Vec<(f64, Quantity)> {
    let fractions = fractions(line, values.scale);
    let total: f64 = line.counts.iter().map(|(_, n)| *n as f64).sum();
    let beyond = if total >= BEYOND * 10.0 { BEYOND } else { 1.0 };
    let last = 1.0 - (beyond / total).min(0.5);
    let mut below = 0.0;
    let from = fractions
        .iter()
        .map(|&(value, fraction)| (std::mem::replace(&mut below, fraction), value));
    let mut points: Vec<(f64, f64)> = from.take_while(|(from, _)| *from < last).collect();
    points.extend(points.last().map(|(_, value)| (last, *value)));
    let value = |(fraction, value)| (fraction, Quantity::exact(value, values.unit.clone()));
    points.into_iter().map(value).collect()
}

/// Returns a line's values in ascending order, each with the fraction of values at or below it.
///
/// Values that the scale cannot show are omitted.
fn fractions(line: &DistributionLine, scale: Scale) -> Vec<(f64, f64)> {
    let mut counts: Vec<(f64, u64)> = line.counts.clone();
    counts.retain(|(value, count)| *count > 0 && drawable(scale, *value));
    counts.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = counts.iter().map(|(_, n)| *n as f64).sum();
    let mut below = 0.0;
    let fraction = |(value, count): (f64, u64)| {
        below += count as f64;
        (value, below / total)
    };
    counts.into_iter().map(fraction).collect()
}
