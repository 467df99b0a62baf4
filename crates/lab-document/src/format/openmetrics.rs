// SPDX-License-Identifier: Apache-2.0
//! A document's values as OpenMetrics 1.0 text, also for the textfile collector of Prometheus' node exporter.
//!
//! Source: prometheus.io/docs/specs/om/open_metrics_spec.

use super::named::{base_unit, rows_with_values};
use super::text::clean;
use crate::document::{Document, Quantity, Row};
use crate::output::{Format, Rendered};
use std::collections::{BTreeMap, BTreeSet};

/// OpenMetrics text.
pub const FORMAT: Format = Format {
    name: "openmetrics",
    extension: "prom",
    title: "Values (OpenMetrics)",
    is_folder: false,
    shows_history: false,
    suits: |_| true,
    render: |document, _| Ok(Rendered::Text(render(document))),
};

/// A metric family.
struct Family {
    help: String,
    unit: &'static str,
    samples: BTreeMap<String, f64>,
}

/// Renders the values, their bounds and their ratios as gauges.
pub fn render(document: &Document) -> String {
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut add = |row: &Row, part: &str, title: &str, unit: &'static str, value: f64| {
        let id = identifier(&row.metric.id);
        let mut name = format!("benchlab_{id}");
        for suffix in [part, unit] {
            if !suffix.is_empty() && !name.ends_with(&format!("_{suffix}")) {
                name += &format!("_{suffix}");
            }
        }
        let family = families.entry(name).or_insert_with(|| Family {
            help: format!("{}{title}", row.metric.title),
            unit,
            samples: BTreeMap::new(),
        });
        family.samples.entry(labels(row)).or_insert(value);
    };
    for (row, value) in rows_with_values(&document.rows) {
        let (scale, unit) = base_unit(&row.metric.unit);
        add(row, "", "", unit, value * scale);
        if let Some((low, high)) = row.value.as_ref().and_then(Quantity::bounds) {
            add(row, "low", ", lower bound", unit, low * scale);
            add(row, "high", ", upper bound", unit, high * scale);
        }
    }
    for row in &document.rows {
        let ratio = row.ratio.as_ref().filter(|ratio| ratio.value.is_finite());
        if let Some(ratio) = ratio {
            add(
                row,
                "relative",
                " relative to the baseline",
                "ratio",
                ratio.value,
            );
        }
    }
    let mut text = String::new();
    for (name, family) in families {
        text += &format!("# TYPE {name} gauge\n");
        if !family.unit.is_empty() && name.ends_with(&format!("_{}", family.unit)) {
            text += &format!("# UNIT {name} {}\n", family.unit);
        }
        text += &format!("# HELP {name} {}\n", escape(&family.help));
        for (labels, value) in family.samples {
            text += &format!("{name}{{{labels}}} {value}\n");
        }
    }
    text + "# EOF\n"
}

/// Converts text to a part of a metric name: letters, digits and `_`.
fn identifier(text: &str) -> String {
    let letters = text.chars();
    letters
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect()
}

fn labels(row: &Row) -> String {
    let params = row
        .params
        .iter()
        .map(|(key, value)| format!("{key}={value}"));
    let params = params.collect::<Vec<_>>().join(" ");
    let all = [
        ("run", &row.run),
        ("subject", &row.subject),
        ("role", &row.role),
        ("target", &row.target),
        ("case", &row.case),
        ("parameters", &params),
    ];
    let mut seen = BTreeSet::new();
    let labels = all
        .into_iter()
        .filter(|(name, value)| !value.is_empty() && seen.insert(*name));
    let labels = labels.map(|(name, value)| format!("{name}=\"{}\"", escape(value)));
    labels.collect::<Vec<_>>().join(",")
}

/// Escapes a label's value.
fn escape(text: &str) -> String {
    clean(text).replace('\\', "\\\\").replace('"', "\\\"")
}
