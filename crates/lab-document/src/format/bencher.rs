// SPDX-License-Identifier: Apache-2.0
//! A document's values in the Bencher Metric Format (bencher.dev/docs/reference/bencher-metric-format).

use super::named::{base_unit, name, rows_with_values};
use super::text::clean;
use crate::document::{Document, Quantity};
use crate::output::{Error, Format, Rendered};
use lab_model::Unit;
use serde_json::{Map, Value, json};

/// The Bencher Metric Format.
pub const FORMAT: Format = Format {
    name: "bencher",
    extension: "json",
    title: "Values (Bencher Metric Format)",
    is_folder: false,
    shows_history: false,
    suits: |_| true,
    render: |document, _| {
        render(document)
            .map(Rendered::Text)
            .map_err(|error| Error::new("Bencher metrics", error))
    },
};

/// Renders the values by benchmark and measure. Times are in ns, as Bencher's `latency` is.
///
/// Returns an error if the JSON writer fails.
pub fn render(document: &Document) -> serde_json::Result<String> {
    let mut all: Map<String, Value> = Map::new();
    for (row, value) in rows_with_values(&document.rows) {
        let measure = match row.metric.id.as_ref() {
            "wall" => "latency".to_owned(),
            "throughput" => "throughput".to_owned(),
            id => id.replace(|c: char| !c.is_ascii_alphanumeric(), "-"),
        };
        let scale = match row.metric.unit {
            Unit::Nanoseconds => 1.0,
            ref unit => base_unit(unit).0,
        };
        let mut metric = json!({ "value": value * scale });
        if let Some((low, high)) = row.value.as_ref().and_then(Quantity::bounds) {
            metric["lower_value"] = (low * scale).into();
            metric["upper_value"] = (high * scale).into();
        }
        let name = match clean(&name(row)) {
            name if name.is_empty() => document.title.clone(),
            name => name,
        };
        let benchmark = all.entry(name).or_insert_with(|| json!({}));
        // The last run is the current one.
        benchmark[&measure] = metric;
    }
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}
