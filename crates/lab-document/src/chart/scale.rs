// SPDX-License-Identifier: Apache-2.0
//! Converts values to positions on an axis, and chooses round values with units for ticks.

use crate::document::{Axis, Quantity, Scale};
use crate::format::quantity;
use lab_model::Unit;

/// An axis with its lowest and highest value.
pub struct Span {
    scale: Scale,
    unit: Unit,
    low: f64,
    high: f64,
}

impl Span {
    /// Creates an axis that covers all values, with a small margin.
    ///
    /// Values that cannot be drawn are skipped.
    pub fn new(axis: &Axis, values: impl IntoIterator<Item = f64>) -> Span {
        let (scale, unit) = (axis.scale, axis.unit.clone());
        let values = values.into_iter().filter(|v| drawable(scale, *v));
        let ends = values.fold(None, |ends: Option<(f64, f64)>, v| {
            Some(ends.map_or((v, v), |(low, high)| (low.min(v), high.max(v))))
        });
        let (low, high) = ends.unwrap_or((1.0, 1.0));
        let (low, high) = match scale {
            Scale::Linear => (low.min(0.0), high.max(0.0)),
            _ => (low, high),
        };
        let room = 0.04 * (high - low);
        let (low, high) = match scale {
            Scale::Log => {
                let room = (high / low).powf(0.04).max(1.05);
                (low / room, high * room)
            }
            Scale::Percentiles => (0.0, 1.0 - (1.0 - high).min(0.1)),
            Scale::Linear if low == high => (0.0, 1.0),
            Scale::LinearFromLeast if room <= low.abs().max(high.abs()) * 1e-9 => {
                let room = low.abs().max(1.0);
                (low - 0.5 * room, high + 0.5 * room)
            }
            Scale::Linear => (if low < 0.0 { low - room } else { 0.0 }, high + room),
            Scale::LinearFromLeast => (low - room, high + room),
        };
        Span {
            scale,
            unit,
            low,
            high,
        }
    }

    /// Returns the position of a value on the axis, clamped to 0 to 1, or `None` if the value cannot be drawn.
    pub fn position(&self, value: f64) -> Option<f64> {
        drawable(self.scale, value).then(|| self.clamped(value))
    }

    /// Returns the position of a bound on the axis, clamped to 0 to 1. A bound that cannot be drawn is at position 0.
    pub fn clamped(&self, value: f64) -> f64 {
        let [low, value, high] = [self.low, value, self.high].map(|v| {
            if drawable(self.scale, v) {
                self.linear(v)
            } else {
                f64::NEG_INFINITY
            }
        });
        let position = (value - low) / (high - low);
        if position.is_finite() {
            position.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// Returns true if a bound lies below the lower end of the axis.
    pub fn is_below(&self, bound: f64) -> bool {
        bound < self.low
    }

    /// Returns true if a bound lies above the upper end of the axis.
    pub fn is_above(&self, bound: f64) -> bool {
        bound > self.high
    }

    /// Returns the value at a position on the axis, 0 to 1.
    pub fn value(&self, position: f64) -> f64 {
        let (low, high) = (self.linear(self.low), self.linear(self.high));
        let linear = low + position * (high - low);
        match self.scale {
            Scale::Linear | Scale::LinearFromLeast => linear,
            Scale::Log => linear.exp(),
            Scale::Percentiles => 1.0 - (-linear).exp(),
        }
    }

    /// Converts a value to a linear coordinate: equal differences have equal lengths on the axis.
    fn linear(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear | Scale::LinearFromLeast => value,
            Scale::Log => value.ln(),
            Scale::Percentiles => -(1.0 - value).ln(),
        }
    }

    /// Returns the ticks at round values, as positions and labels.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let values = match (self.scale, &self.unit) {
            (Scale::Percentiles, _) => percentiles(self.high),
            (Scale::Log, Unit::Bytes) => powers_of_two(self.low, self.high),
            (Scale::Log, _) => log_ticks(self.low, self.high),
            _ => {
                let max = self.low.abs().max(self.high.abs());
                let step = quantity::magnitude(&self.unit, max).divisor;
                let ticks = linear_ticks(self.low / step, self.high / step);
                ticks.into_iter().map(|t| t * step).collect()
            }
        };
        self.ticks_at(&values)
    }

    /// Returns ticks at the given values, as positions and labels.
    pub fn ticks_at(&self, values: &[f64]) -> Vec<(f64, String)> {
        let max = values.iter().fold(0.0, |max: f64, v| max.max(v.abs()));
        let word = |value: f64| match self.scale {
            Scale::Percentiles => percentile(value),
            Scale::Log => quantity::tick(value, &self.unit, value),
            _ => quantity::tick(value, &self.unit, max),
        };
        let tick = |v: &f64| Some((self.position(*v)?, word(*v)));
        values.iter().filter_map(tick).collect()
    }
}

/// Returns a value with its lower and upper bound. The bounds are limited to the range that a chart
/// shows.
///
/// A bound far from its value would compress the rest of the chart.
pub fn reach(quantity: &Quantity, scale: Scale) -> [f64; 3] {
    let value = quantity.value;
    let Some((low, high)) = quantity.bounds() else {
        return [value; 3];
    };
    let far = match scale {
        Scale::Log => (value / 3.0, value * 3.0),
        _ => (value - 2.0 * value.abs(), value + 2.0 * value.abs()),
    };
    if value == 0.0 {
        [value, low, high]
    } else {
        [value, low.max(far.0), high.min(far.1)]
    }
}

/// Returns true if a value can be drawn on a scale.
pub fn drawable(scale: Scale, value: f64) -> bool {
    let moderate = value.is_finite() && value.abs() < 1e100;
    moderate
        && match scale {
            Scale::Linear | Scale::LinearFromLeast => true,
            Scale::Log => value > 1e-100,
            Scale::Percentiles => (0.0..1.0).contains(&value),
        }
}

/// Formats a fraction as a percentile: `99.9 %` for 0.999.
fn percentile(position: f64) -> String {
    let decimals = ((1.0 / (1.0 - position)).log10().round() as usize).saturating_sub(2);
    format!("{:.decimals$} %", 100.0 * position)
}

fn percentiles(high: f64) -> Vec<f64> {
    let rarer = (1..10).map(|e| 1.0 - 0.1f64.powi(e));
    let all = [0.0, 0.5, 0.75].into_iter().chain(rarer);
    all.filter(|position| *position <= high + 1e-12).collect()
}

fn powers_of_two(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log2().ceil() as i32, high.log2().floor() as i32);
    if last - first < 1 {
        return log_ticks(low, high);
    }
    let step = ((last - first) / 8 + 1) as usize;
    (first..=last).step_by(step).map(|e| 2f64.powi(e)).collect()
}

/// Returns round numbers for a logarithmic axis, at least four if possible.
fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let each = ((high / low).log10() / 9.0).ceil().max(1.0) as usize;
    let steps: [&[f64]; 4] = [
        &[1.0],
        &[1.0, 3.0],
        &[1.0, 2.0, 5.0],
        &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
    ];
    let ticks = steps.iter().map(|steps| -> Vec<f64> {
        let decades = decades.clone().step_by(each);
        let ticks = decades.flat_map(|d| steps.iter().map(move |s| s * 10f64.powi(d)));
        ticks.filter(|t| (low..=high).contains(t)).collect()
    });
    let mut enough = ticks.filter(|ticks| ticks.len() >= 4);
    enough.next().unwrap_or_else(|| linear_ticks(low, high))
}

/// Returns four to eight round numbers for a linear axis.
fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let decade = 10f64.powf((high - low).log10().floor());
    let steps = [5.0, 2.0, 1.0, 0.5, 0.2, 0.1].map(|s| s * decade);
    let enough = |step: &f64| (high / step).floor() - (low / step).ceil() >= 3.0;
    let Some(step) = steps.into_iter().find(enough) else {
        return vec![low];
    };
    let (first, last) = ((low / step).ceil(), (high / step).floor());
    let ticks = (0..10).map(|i| (first + f64::from(i)) * step);
    let ticks = ticks.take_while(|t| *t <= (last + 0.5) * step);
    ticks
        .map(|t| if t.abs() < step * 1e-6 { 0.0 } else { t })
        .collect()
}
