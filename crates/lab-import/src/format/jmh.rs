// SPDX-License-Identifier: Apache-2.0
//! JMH's `-rf json`. Each fork is a process.

use super::{ImportFormat, keep_names};
use crate::error::Problem;
use crate::json::Node;
use crate::metrics::{named, nanoseconds, rate};
use crate::source::Source;
use crate::subject::{fact, subject, with_params};
use lab_model::{Direction, Imported, Metric, Unit};

/// The import format for JMH's JSON.
pub const FORMAT: ImportFormat = ImportFormat {
    name: "jmh",
    title: "JMH -rf json",
    advice: "Run JMH with `-f 5` or more forks.",
    is_format: |source| source.has_items_with(&["benchmark", "primaryMetric"]),
    read,
    shorten: keep_names,
};

fn read(source: &Source) -> Result<Vec<Imported>, Problem> {
    let results = source.root()?.items()?;
    let mut imported = subject("JMH", "", "");
    let mut skipped: Vec<String> = Vec::new();
    for (i, result) in results.iter().enumerate() {
        if i == 0 {
            for (name, key) in [
                ("version", "jmhVersion"),
                ("JVM", "vmName"),
                ("JDK", "jdkVersion"),
            ] {
                fact(&mut imported, name, result.find_text(key).unwrap_or(""));
            }
        }
        benchmark(result, source, &mut imported, &mut skipped)?;
    }
    if !skipped.is_empty() {
        skipped.dedup();
        imported
            .remarks
            .push(format!("Not imported: {}.", skipped.join(", ")));
    }
    Ok(vec![imported])
}

fn benchmark(
    result: &Node,
    source: &Source,
    imported: &mut Imported,
    skipped: &mut Vec<String>,
) -> Result<(), Problem> {
    let name = result.get("benchmark")?.text()?;
    let mut params = Vec::new();
    if let Some(given) = result.find("params") {
        for (key, value) in given.members()? {
            params.push((key.to_owned(), value.scalar()));
        }
    }
    let threads = result
        .find_amount("threads")?
        .filter(|threads| *threads > 1.0);
    params.extend(threads.map(|threads| ("threads".into(), threads.to_string())));
    // One benchmark may be measured in multiple modes.
    let mode = result.find_text("mode").unwrap_or("");
    let metric = result.get("primaryMetric")?;
    let unit = metric.get("scoreUnit")?;
    let (kind, scale) = unit_of(unit.text()?)
        .ok_or_else(|| unit.problem(format!("unknown unit `{}`", unit.scalar())))?;
    let kind = match mode {
        "sample" => named("sampled_time", Unit::Nanoseconds, Direction::Less),
        "ss" => named("single_shot_time", Unit::Nanoseconds, Direction::Less),
        _ => kind,
    };
    let forks = forks(&metric, scale, source)?;
    with_params(imported, name, params.clone(), kind, forks);
    let Some(others) = result.find("secondaryMetrics") else {
        return Ok(());
    };
    let metric = Metric {
        better: Direction::Less,
        ..Metric::ALLOCATED_BYTES
    };
    for (key, other) in others.members()? {
        // `-prof gc` also reports the bytes per operation that the garbage collector moves or frees.
        // The names begin with `·` before version 1.37.
        if key.trim_start_matches('·') == "gc.alloc.rate.norm" {
            // The profiler runs in each mode of a benchmark. The allocated bytes are the same.
            let is_known = imported.series.iter().any(|series| {
                series.case == name && series.params == params && series.metric == metric
            });
            if is_known {
                continue;
            }
            let forks = self::forks(&other, 1.0, source)?;
            with_params(imported, name, params.clone(), metric.clone(), forks);
        } else {
            skipped.push(format!("the secondary metric {key}"));
        }
    }
    Ok(())
}

/// Returns the values of each fork, multiplied by `scale`.
fn forks(metric: &Node, scale: f64, source: &Source) -> Result<Vec<Vec<f64>>, Problem> {
    if let Some(forks) = metric.find("rawData") {
        let forks = forks.items()?;
        return forks
            .iter()
            .map(|fork| fork.amounts(scale, &source.limits))
            .collect();
    }
    if let Some(forks) = metric.find("rawDataHistogram") {
        // In sample mode, each iteration is a list of values with their counts.
        let fork = |fork: &Node| fork.items()?.iter().map(|i| mean(i, scale)).collect();
        return forks.items()?.iter().map(fork).collect();
    }
    Ok(vec![vec![metric.get("score")?.amount()? * scale]])
}

fn mean(iteration: &Node, scale: f64) -> Result<f64, Problem> {
    let (mut sum, mut count) = (0.0, 0.0);
    for pair in iteration.items()? {
        let [value, times] = &pair.items()?[..] else {
            return Err(pair.problem("expected a value and its count"));
        };
        let times = times.amount()?;
        sum += value.amount()? * times;
        count += times;
    }
    if count <= 0.0 {
        return Err(iteration.problem("there are no values"));
    }
    Ok(sum / count * scale)
}

/// Returns the metric of a unit such as `us/op` or `ops/ms`, and the factor that converts values to
/// the metric's unit.
fn unit_of(text: &str) -> Option<(Metric, f64)> {
    if let Some(per) = text.strip_prefix("ops/") {
        return Some((rate("operations"), 1e9 / nanoseconds(per)?));
    }
    let time = text.strip_suffix("/op")?;
    Some((Metric::WALL, nanoseconds(time)?))
}
