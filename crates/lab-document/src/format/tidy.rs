// SPDX-License-Identifier: Apache-2.0
//! The tidy rows of a document as fields. CSV, XML and the workbook's data sheet contain these fields.

use crate::document::{Quantity, Row, unit_name};

/// The columns, in order.
pub const COLUMNS: [&str; 20] = [
    "run",
    "subject",
    "role",
    "target",
    "case",
    "parameters",
    "metric",
    "unit",
    "value",
    "low",
    "high",
    "level",
    "ratio",
    "ratio_low",
    "ratio_high",
    "ratio_level",
    "p",
    "verdict",
    "blocks",
    "note",
];

/// A field of a row.
pub enum Field {
    /// Text, never empty.
    Words(String),
    /// A finite number.
    Number(f64),
    /// The field does not apply.
    Empty,
}

/// Converts a row to fields in the order of [`COLUMNS`].
///
/// The value and its bounds are in the unit of the row.
pub fn fields(row: &Row) -> [Field; COLUMNS.len()] {
    let [value, low, high, level] = numbers(row.value.as_ref());
    let [ratio, ratio_low, ratio_high, ratio_level] = numbers(row.ratio.as_ref());
    [
        words(&row.run),
        words(&row.subject),
        words(&row.role),
        words(&row.target),
        words(&row.case),
        words(&parameters(row)),
        words(&row.metric.id),
        words(&unit_name(&row.metric.unit)),
        value,
        low,
        high,
        level,
        ratio,
        ratio_low,
        ratio_high,
        ratio_level,
        number(row.p),
        words(&row.verdict),
        number(row.blocks.map(f64::from)),
        words(&row.note),
    ]
}

impl Field {
    /// Returns the field as text. A number has the fewest digits that parse back to the same number.
    pub fn text(&self) -> String {
        match self {
            Field::Words(words) => words.clone(),
            Field::Number(number) => number.to_string(),
            Field::Empty => String::new(),
        }
    }
}

/// Formats the parameters as `key=value key=value`.
fn parameters(row: &Row) -> String {
    let pairs = row
        .params
        .iter()
        .map(|(key, value)| format!("{key}={value}"));
    pairs.collect::<Vec<_>>().join(" ")
}

fn numbers(quantity: Option<&Quantity>) -> [Field; 4] {
    let value = number(quantity.map(|q| q.value));
    let [low, high, level] = match quantity.and_then(Quantity::interval) {
        Some(interval) => interval.map(|n| number(Some(n))),
        None => [Field::Empty, Field::Empty, Field::Empty],
    };
    [value, low, high, level]
}

/// Returns a number field. The field is empty if the number is missing or not finite, because other
/// tools read `inf` and `NaN` as text.
fn number(number: Option<f64>) -> Field {
    match number {
        // Adding 0 turns -0 into 0.
        Some(number) if number.is_finite() => Field::Number(number + 0.0),
        _ => Field::Empty,
    }
}

fn words(words: &str) -> Field {
    if words.is_empty() {
        Field::Empty
    } else {
        Field::Words(words.into())
    }
}
