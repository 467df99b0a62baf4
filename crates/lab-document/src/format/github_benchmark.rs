// SPDX-License-Identifier: Apache-2.0
//! A document's values for github-action-benchmark, as its tool `customSmallerIsBetter` reads them.
//!
//! In this format, a smaller value is always better, so values for which a larger value is better
//! are omitted.

use super::named::{name, rows_with_values};
use super::text::clean;
use crate::document::{Document, Quantity, unit_name};
use crate::output::{Error, Format, Rendered};
use lab_model::Direction;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The data of github-action-benchmark.
pub const FORMAT: Format = Format {
    name: "github-action-benchmark",
    extension: "json",
    title: "Values (github-action-benchmark)",
    is_folder: false,
    shows_history: false,
    suits: |_| true,
    render: |document, _| {
        render(document)
            .map(Rendered::Text)
            .map_err(|error| Error::new("data of github-action-benchmark", error))
    },
};

/// Renders the values for which less is better. Returns an error if the JSON writer fails.
pub fn render(document: &Document) -> serde_json::Result<String> {
    let less =
        rows_with_values(&document.rows).filter(|(row, _)| row.metric.better == Direction::Less);
    let mut entries: Vec<Value> = Vec::new();
    let mut positions: HashMap<String, usize> = HashMap::new();
    for (row, value) in less {
        let name = clean(format!("{} {}", name(row), row.metric.title).trim());
        let mut entry = json!({
            "name": name,
            "unit": unit_name(&row.metric.unit),
            "value": value,
        });
        if let Some((low, high)) = row.value.as_ref().and_then(Quantity::bounds) {
            entry["range"] = format!("{low} to {high}").into();
        }
        if !row.verdict.is_empty() {
            entry["extra"] = format!("verdict: {}", row.verdict).into();
        }
        // The last run is the current one.
        match positions.get(&name) {
            Some(&position) => entries[position] = entry,
            None => {
                positions.insert(name, entries.len());
                entries.push(entry);
            }
        }
    }
    Ok(serde_json::to_string_pretty(&entries)? + "\n")
}
