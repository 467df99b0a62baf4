// SPDX-License-Identifier: Apache-2.0
//! A document's call stacks as a speedscope file (www.speedscope.app/file-format-schema.json).

use super::folded::graphs;
use super::text::clean;
use crate::document::Document;
use crate::output::{Error, Format, Rendered};
use lab_model::Unit;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The speedscope format.
pub const FORMAT: Format = Format {
    name: "speedscope",
    extension: "speedscope.json",
    title: "Call stacks (speedscope)",
    is_folder: false,
    shows_history: false,
    suits: |document| graphs(document).is_ok(),
    render: |document, _| render(document).map(Rendered::Text),
};

/// Renders a sampled profile for each flame graph. Returns an error if the document has no flame
/// graph.
pub fn render(document: &Document) -> Result<String, Error> {
    let mut frames: Vec<Value> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut profiles = Vec::new();
    for (title, flame) in graphs(document)? {
        let (mut samples, mut weights) = (Vec::new(), Vec::new());
        for (stack, cost) in &flame.stacks {
            let stack = stack.iter().map(|name| {
                let name = clean(name);
                *known.entry(name.clone()).or_insert_with(|| {
                    frames.push(json!({ "name": name }));
                    frames.len() - 1
                })
            });
            samples.push(stack.collect::<Vec<usize>>());
            weights.push(*cost);
        }
        let total: u64 = weights.iter().sum();
        let unit = match flame.unit {
            Unit::Nanoseconds => "nanoseconds",
            Unit::Bytes => "bytes",
            _ => "none",
        };
        profiles.push(json!({
            "type": "sampled",
            "name": title,
            "unit": unit,
            "startValue": 0,
            "endValue": total,
            "samples": samples,
            "weights": weights,
        }));
    }
    let file = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": clean(&document.title),
        "exporter": format!("benchlab {}", document.benchlab_version).trim_end(),
        "shared": { "frames": frames },
        "profiles": profiles,
    });
    let text = serde_json::to_string(&file).map_err(|e| Error::new("speedscope file", e))?;
    Ok(text + "\n")
}
