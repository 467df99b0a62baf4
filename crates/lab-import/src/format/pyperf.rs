// SPDX-License-Identifier: Apache-2.0
//! pyperf's JSON (`-o FILE`), version 1.0. Each run is a process.

use super::{ImportFormat, keep_names};
use crate::error::Problem;
use crate::json::Node;
use crate::metrics::named;
use crate::source::Source;
use crate::subject::{fact, series, subject};
use lab_model::{Direction, Imported, Metric, Unit};

/// The import format for pyperf's JSON.
pub const FORMAT: ImportFormat = ImportFormat {
    name: "pyperf",
    title: "pyperf -o FILE",
    advice: "Run pyperf without --fast and without --processes 1.",
    is_format: |source| {
        let json = source.json.as_ref().ok();
        let first = json.and_then(|json| json.get("benchmarks")?.get(0));
        first.is_some_and(|b| b.get("runs").is_some())
    },
    read,
    shorten: keep_names,
};

fn read(source: &Source) -> Result<Vec<Imported>, Problem> {
    let root = source.root()?;
    if let Some(version) = root.find("version") {
        let text = version.scalar();
        if text != "1.0" && text != "1" {
            return Err(version.problem(format!(
                "version {text} of pyperf's format is not supported; expected 1.0"
            )));
        }
    }
    let mut imported = subject("pyperf", "", "");
    let common = root.find("metadata");
    let text = |node: &Option<Node>, key: &str| {
        node.as_ref()
            .and_then(|node| node.find_text(key))
            .map(str::to_owned)
    };
    for (name, key) in [
        ("version", "perf_version"),
        ("Python", "python_version"),
        ("CPU", "cpu_model_name"),
        ("host", "hostname"),
    ] {
        fact(&mut imported, name, text(&common, key).unwrap_or_default());
    }
    for benchmark in root.get("benchmarks")?.items()? {
        let own = benchmark.find("metadata");
        let name = text(&own, "name")
            .or_else(|| text(&common, "name"))
            .unwrap_or_default();
        let unit = text(&own, "unit").or_else(|| text(&common, "unit"));
        let (metric, scale) = match unit.as_deref() {
            None | Some("second") => (Metric::WALL, 1e9),
            Some("byte") => (Metric::MEMORY, 1.0),
            Some(_) => (named("value", Unit::Count("".into()), Direction::Less), 1.0),
        };
        let mut processes = Vec::new();
        for run in benchmark.get("runs")?.items()? {
            // A run that only calibrates has no values.
            if let Some(values) = run.find("values") {
                processes.push(values.amounts(scale, &source.limits)?);
            }
        }
        series(&mut imported, &name, metric, processes);
    }
    Ok(vec![imported])
}
