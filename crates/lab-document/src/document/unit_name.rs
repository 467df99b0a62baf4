// SPDX-License-Identifier: Apache-2.0
//! The names of units in machine-readable formats.

use lab_model::Unit;
use serde::Serializer;

/// Returns the name of a unit in machine-readable formats: `ns`, `bytes`, `requests/s`, `threads`, `share`, `ratio`.
pub fn unit_name(unit: &Unit) -> String {
    match unit {
        Unit::Nanoseconds => "ns".into(),
        Unit::Bytes => "bytes".into(),
        Unit::PerSecond(unit) => format!("{unit}/s"),
        Unit::Count(unit) => unit.to_string(),
        Unit::Share => "share".into(),
        Unit::Ratio => "ratio".into(),
    }
}

/// Serializes a unit as its name in machine-readable formats.
pub(crate) fn serialize_unit<S: Serializer>(unit: &Unit, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&unit_name(unit))
}

/// Serializes a column's unit as its name in machine-readable formats.
pub(crate) fn serialize_unit_of<S: Serializer>(
    unit: &Option<Unit>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match unit {
        Some(unit) => serialize_unit(unit, serializer),
        None => serializer.serialize_none(),
    }
}
