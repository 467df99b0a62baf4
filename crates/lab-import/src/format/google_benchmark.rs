// SPDX-License-Identifier: Apache-2.0
//! google/benchmark's `--benchmark_out_format=json`. All repetitions run in one process.

use super::{ImportFormat, keep_names};
use crate::error::Problem;
use crate::json::Node;
use crate::metrics::{named, nanoseconds};
use crate::read::TIME;
use crate::source::Source;
use crate::subject::{Collector, fact, subject};
use lab_model::{Direction, Imported, Metric, Unit};

/// The numeric members of a benchmark that are not imported as counters. Two of them, `real_time`
/// and `cpu_time`, are imported as times.
const NO_COUNTERS: [&str; 10] = [
    "family_index",
    "per_family_instance_index",
    "repetitions",
    "repetition_index",
    "threads",
    "iterations",
    "real_time",
    "cpu_time",
    "cpu_coefficient",
    "real_coefficient",
];

/// The import format for google/benchmark's JSON.
pub const FORMAT: ImportFormat = ImportFormat {
    name: "google-benchmark",
    title: "google/benchmark --benchmark_out=FILE --benchmark_out_format=json",
    advice: "Start the program 10 times with a different --benchmark_out, and import all files with --join.",
    is_format: |source| {
        let json = source.json.as_ref().ok();
        let first = json.and_then(|json| json.get("benchmarks")?.get(0));
        source.has_keys(&["context"]) && first.is_some_and(|b| b.get("name").is_some())
    },
    read,
    shorten: keep_names,
};

fn read(source: &Source) -> Result<Vec<Imported>, Problem> {
    let root = source.root()?;
    let mut imported = subject("google/benchmark", "", "");
    let context = root.get("context")?;
    for (name, key) in [
        ("version", "library_version"),
        ("program", "executable"),
        ("host", "host_name"),
        ("build", "library_build_type"),
    ] {
        fact(&mut imported, name, context.find_text(key).unwrap_or(""));
    }
    let date = context
        .find_text("date")
        .and_then(|date| date.parse::<jiff::Timestamp>().ok());
    if let Some(date) = date {
        fact(&mut imported, TIME, date.as_second().to_string());
    }
    let all = root.get("benchmarks")?.items()?;
    let is_run = |b: &&Node| b.find_text("run_type") != Some("aggregate");
    let has_runs = all
        .iter()
        .any(|b| is_run(&b) && b.find_text("error_message").is_none());
    let mut values = Collector::new(imported);
    for benchmark in &all {
        if let Some(message) = benchmark.find_text("error_message") {
            let name = benchmark.find_text("name").unwrap_or("?");
            let remark = format!("{name} failed: {message}.");
            // Every repetition of the benchmark has the same error.
            if !values.imported.remarks.contains(&remark) {
                values.imported.remarks.push(remark);
            }
        } else if is_run(&benchmark) || !has_runs {
            run(benchmark, &mut values)?;
        }
    }
    let mut imported = values.finish();
    let is_fit = |b: &&Node| matches!(b.find_text("aggregate_name"), Some("BigO" | "RMS"));
    if all.iter().any(|b| is_fit(&b)) {
        imported
            .remarks
            .push("The fits of the asymptotic complexity (BigO and RMS) were not imported.".into());
    }
    if !has_runs && !all.is_empty() {
        imported
            .remarks
            .push("The file has only aggregates, so the means were imported.".into());
    }
    Ok(vec![imported])
}

fn run(benchmark: &Node, values: &mut Collector) -> Result<(), Problem> {
    let aggregate = benchmark.find_text("aggregate_name");
    if aggregate.is_some_and(|name| name != "mean") {
        return Ok(());
    }
    let name = match benchmark.find_text("run_name") {
        Some(name) => name,
        None => benchmark.get("name")?.text()?,
    };
    let unit = benchmark.find_text("time_unit").unwrap_or("ns");
    let scale = nanoseconds(unit)
        .ok_or_else(|| benchmark.problem(format!("unknown time_unit `{unit}`")))?;
    // Asymptotic complexity has no time.
    if benchmark.find("real_time").is_none() {
        values
            .imported
            .remarks
            .push(format!("{name} has no time and was not imported."));
        return Ok(());
    }
    let real = benchmark.get("real_time")?.amount()? * scale;
    values.add((name, &[]), &Metric::WALL, 0, real);
    if let Some(cpu) = benchmark.find_amount("cpu_time")? {
        values.add((name, &[]), &Metric::CPU, 0, cpu * scale);
    }
    for (key, value) in benchmark.members()? {
        if let Some(value) = value.value().as_f64()
            && !NO_COUNTERS.contains(&key)
        {
            values.add((name, &[]), &counter(key), 0, value);
        }
    }
    Ok(())
}

/// Returns the metric of a user's counter, or of items or bytes per second.
fn counter(name: &str) -> Metric {
    match name.strip_suffix("_per_second") {
        Some(counted @ ("items" | "bytes")) => named(
            name,
            Unit::PerSecond(counted.to_owned().into()),
            Direction::More,
        ),
        // The file does not state whether more is better.
        _ => named(name, Unit::Count(String::new().into()), Direction::Neither),
    }
}
