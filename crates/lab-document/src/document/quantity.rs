// SPDX-License-Identifier: Apache-2.0
//! Numbers with a unit and an interval. Each format has its own way of writing them.

use super::unit_name;
use lab_model::{Interval, Unit};
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// A number with its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// The number, in `unit`.
    pub value: f64,
    /// The unit of the number and of its bounds.
    pub unit: Unit,
    /// The precision of the number.
    pub precision: Precision,
}

/// The precision of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Precision {
    /// The number was counted, configured or read, so it has no uncertainty.
    Exact,
    /// The number is an estimate with bounds at a confidence level between 0 and 1. A level of 0 means that there is no
    /// interval.
    Within {
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
        /// The confidence level of the interval.
        level: f64,
    },
}

impl Quantity {
    /// Creates a number without an interval.
    pub fn exact(value: f64, unit: Unit) -> Quantity {
        Quantity {
            value,
            unit,
            precision: Precision::Exact,
        }
    }

    /// Creates a count. `counted` names the counted objects in the plural.
    pub fn count(n: u64, counted: &'static str) -> Quantity {
        Quantity::exact(n as f64, Unit::Count(counted.into()))
    }

    /// Creates an estimate with its interval.
    pub fn estimate(interval: &Interval, unit: Unit) -> Quantity {
        let &Interval {
            estimate,
            low,
            high,
            level,
        } = interval;
        Quantity {
            value: estimate,
            unit,
            precision: Precision::Within { low, high, level },
        }
    }

    /// Creates an estimated ratio with its interval.
    pub fn ratio(interval: &Interval) -> Quantity {
        Quantity::estimate(interval, Unit::Ratio)
    }

    /// Returns the lower bound, the upper bound and the level, if there is an interval with finite bounds.
    pub fn interval(&self) -> Option<[f64; 3]> {
        match (self.bounds(), self.precision) {
            (Some((low, high)), Precision::Within { level, .. }) => Some([low, high, level]),
            _ => None,
        }
    }

    /// Returns the number as an interval. The level is 0 if there are no finite bounds.
    pub fn to_interval(&self) -> Interval {
        match self.interval() {
            Some([low, high, level]) => Interval {
                estimate: self.value,
                low,
                high,
                level,
            },
            None => Interval::from_single_block(self.value),
        }
    }

    /// Returns the lower and the upper bound, if there is an interval with finite bounds.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        match self.precision {
            Precision::Within { low, high, level }
                if level > 0.0 && low.is_finite() && high.is_finite() =>
            {
                Some((low, high))
            }
            _ => None,
        }
    }
}

/// Serializes `value` and `unit`. An estimate with an interval also has `low`, `high` and `level`.
impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let interval = self.interval();
        let fields = if interval.is_some() { 5 } else { 2 };
        let mut object = serializer.serialize_struct("Quantity", fields)?;
        object.serialize_field("value", &self.value)?;
        object.serialize_field("unit", &unit_name(&self.unit))?;
        if let Some([low, high, level]) = interval {
            object.serialize_field("low", &low)?;
            object.serialize_field("high", &high)?;
            object.serialize_field("level", &level)?;
        }
        object.end()
    }
}
