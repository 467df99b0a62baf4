// SPDX-License-Identifier: Apache-2.0
//! pytest-benchmark's `--benchmark-json`. All rounds run in one process.

use super::{ImportFormat, keep_names};
use crate::error::Problem;
use crate::json::Node;
use crate::read::TIME;
use crate::source::Source;
use crate::subject::{fact, subject, with_params};
use lab_model::{Imported, Metric};

/// The import format for pytest-benchmark's JSON.
pub const FORMAT: ImportFormat = ImportFormat {
    name: "pytest-benchmark",
    title: "pytest --benchmark-json=FILE (with --benchmark-save-data for each round)",
    advice: "Run pytest 10 times with a different --benchmark-json, and import all files with --join.",
    is_format: |source| source.has_keys(&["machine_info", "benchmarks"]),
    read,
    shorten: keep_names,
};

fn read(source: &Source) -> Result<Vec<Imported>, Problem> {
    let root = source.root()?;
    let version = root.find_text("version").unwrap_or("");
    let mut imported = subject("pytest-benchmark", version, "");
    let machine = root.get("machine_info")?;
    for (name, key) in [("Python", "python_version"), ("host", "node")] {
        fact(&mut imported, name, machine.find_text(key).unwrap_or(""));
    }
    let commit = root
        .find("commit_info")
        .and_then(|info| info.find_text("id"));
    fact(&mut imported, "commit", commit.unwrap_or(""));
    if let Some(time) = root.find_text("datetime").and_then(seconds) {
        fact(&mut imported, TIME, time.to_string());
    }
    let benchmarks = root.get("benchmarks")?.items()?;
    for benchmark in &benchmarks {
        add(benchmark, source, &mut imported)?;
    }
    let has_data = |benchmark: &Node| {
        benchmark
            .find("stats")
            .is_some_and(|s| s.find("data").is_some())
    };
    if !benchmarks.is_empty() && !benchmarks.iter().any(has_data) {
        imported.remarks.push(
            "The file has only means, not the individual rounds; run pytest with --benchmark-save-data to keep them."
                .into(),
        );
    }
    Ok(vec![imported])
}

fn add(benchmark: &Node, source: &Source, imported: &mut Imported) -> Result<(), Problem> {
    let name = match benchmark.find_text("fullname") {
        Some(name) => name,
        None => benchmark.get("name")?.text()?,
    };
    let stats = benchmark.get("stats")?;
    let values = match stats.find("data") {
        Some(data) => data.amounts(1e9, &source.limits)?,
        None => vec![stats.get("mean")?.amount()? * 1e9],
    };
    with_params(imported, name, Vec::new(), Metric::WALL, vec![values]);
    Ok(())
}

/// Parses a time such as `2026-11-28T20:15:00.123456+00:00`. Without an offset, the time is in UTC.
fn seconds(text: &str) -> Option<f64> {
    let with_offset = text.parse::<jiff::Timestamp>().ok();
    let time = with_offset.or_else(|| format!("{text}Z").parse().ok())?;
    Some(time.as_millisecond() as f64 / 1e3)
}
