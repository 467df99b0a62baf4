// SPDX-License-Identifier: Apache-2.0
//! The tidy rows of a document as fields: what CSV, XML and a workbook's data hold.

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
    /// Words, never empty.
    Words(String),
    /// A finite number.
    Number(f64),
    /// It does not apply.
    Empty,
}

/// A row's fields, in the order of [`COLUMNS`]. The value and its bounds are in the unit.
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
    /// As a text; a number in the fewest digits that give it back.
    pub fn text(&self) -> String {
        match self {
            Field::Words(words) => words.clone(),
            Field::Number(number) => number.to_string(),
            Field::Empty => String::new(),
        }
    }
}

/// `key=value key=value`.
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

/// Nothing for what is no number: readers take `inf` and `NaN` for text.
fn number(number: Option<f64>) -> Field {
    match number {
        // Adding 0 makes -0 a plain 0.
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
