// SPDX-License-Identifier: Apache-2.0
//! A number with its unit and its interval: every format writes it in its own way.

use super::unit_name;
use lab_model::{Interval, Unit};
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// A number with its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// In the unit.
    pub value: f64,
    /// The unit.
    pub unit: Unit,
    /// How exactly it is known.
    pub precision: Precision,
}

/// How exactly a number is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Precision {
    /// It was counted, set or read: there is nothing to estimate.
    Exact,
    /// It is an estimate between these bounds, at a level of 0 to 1; a level of 0 is no interval.
    Within {
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
        /// The confidence that the interval has.
        level: f64,
    },
}

impl Quantity {
    /// A number without an interval.
    pub fn exact(value: f64, unit: Unit) -> Quantity {
        Quantity {
            value,
            unit,
            precision: Precision::Exact,
        }
    }

    /// A count of what is named in the plural.
    pub fn count(n: u64, counted: &'static str) -> Quantity {
        Quantity::exact(n as f64, Unit::Count(counted.into()))
    }

    /// An estimate.
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

    /// A ratio.
    pub fn ratio(interval: &Interval) -> Quantity {
        Quantity::estimate(interval, Unit::Ratio)
    }

    /// Lower bound, upper bound and level, where there is an interval with finite bounds.
    pub fn interval(&self) -> Option<[f64; 3]> {
        match (self.bounds(), self.precision) {
            (Some((low, high)), Precision::Within { level, .. }) => Some([low, high, level]),
            _ => None,
        }
    }

    /// The bounds, where there is an interval with finite ones.
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

/// `value`, `unit`, and of an estimate with an interval `low`, `high` and `level`.
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
