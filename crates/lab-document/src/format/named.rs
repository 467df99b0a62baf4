// SPDX-License-Identifier: Apache-2.0
//! Names and units of rows for tools that track benchmarks.

use crate::document::Row;
use lab_model::Unit;

/// Returns the rows of subjects that have a value. The rows of gates are omitted, because other
/// tools would take a gate for a subject.
pub fn rows_with_values(rows: &[Row]) -> impl Iterator<Item = (&Row, f64)> {
    rows.iter().filter(|row| !row.is_gate()).filter_map(|row| {
        let value = row.value.as_ref()?.value;
        value.is_finite().then_some((row, value))
    })
}

/// Returns the name of a row's benchmark: subject, target, case and parameters, such as `ada sqlite
/// select limit=100`.
pub fn name(row: &Row) -> String {
    let words = [&row.subject, &row.target, &row.case].map(String::as_str);
    let params = row
        .params
        .iter()
        .map(|(key, value)| format!("{key}={value}"));
    let words = words
        .into_iter()
        .filter(|word| !word.is_empty())
        .map(String::from);
    words.chain(params).collect::<Vec<_>>().join(" ")
}

/// Returns the factor that converts a value to SI base units, and the name of that unit: `seconds`, `bytes`, `ratio`.
pub fn base_unit(unit: &Unit) -> (f64, &'static str) {
    match unit {
        Unit::Nanoseconds => (1e-9, "seconds"),
        Unit::Bytes => (1.0, "bytes"),
        Unit::PerSecond(_) => (1.0, "per_second"),
        Unit::Count(_) => (1.0, ""),
        Unit::Share | Unit::Ratio => (1.0, "ratio"),
    }
}
