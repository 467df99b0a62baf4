// SPDX-License-Identifier: Apache-2.0
//! The text of `go test -bench`, as defined by the Go benchmark data format
//! (go.googlesource.com/proposal/+/master/design/14313-benchmark-format.md).
//!
//! Each `pkg:` line marks the start of a package's test binary, which is one process. `-count`
//! repeats benchmarks within this process. The output of multiple calls to `go test` can be
//! concatenated.

use super::ImportFormat;
use crate::error::Problem;
use crate::metrics::{named, nanoseconds, rate};
use crate::source::Source;
use crate::subject::{Collector, fact, subject};
use crate::text::{amount_on, short};
use lab_model::{Direction, Imported, Metric, Unit};
use std::collections::HashMap;

/// The import format for Go's benchmark text.
pub const FORMAT: ImportFormat = ImportFormat {
    name: "go",
    title: "go test -bench",
    advice: "Run `go test -bench . -count 1` 10 times and append the outputs to one file; `-count 10` repeats \
         within one process.",
    is_format: |source| {
        let mut lines = source.text.lines().take(10_000);
        lines.any(|line| result(line).is_some() || line.starts_with("goos: "))
    },
    read,
};

/// Splits a line of results into the benchmark's name and the pairs of values and units.
fn result(line: &str) -> Option<(&str, Vec<&str>)> {
    let mut words = line.split_whitespace();
    let name = words.next()?.strip_prefix("Benchmark")?;
    let first = name.chars().next()?;
    if first.is_lowercase() {
        return None;
    }
    words.next()?.parse::<u64>().ok()?;
    let values: Vec<&str> = words.collect();
    (values.len() >= 2).then_some((name, values))
}

fn read(source: &Source) -> Result<Vec<Imported>, Problem> {
    let mut all = Collector::new(subject("Go", "", ""));
    let mut package = String::new();
    // The number of processes of each package so far.
    let mut processes: HashMap<String, usize> = HashMap::new();
    let mut is_open = false;
    let mut failed: Vec<String> = Vec::new();
    for (i, line) in source.text.lines().enumerate() {
        if let Some(name) = line.strip_prefix("pkg: ") {
            package = name.trim().to_owned();
            *processes.entry(package.clone()).or_default() += 1;
            is_open = true;
        } else if line == "PASS" || line.starts_with("ok  ") || line.starts_with("FAIL") {
            is_open = false;
        } else if let Some(name) = line.trim_start().strip_prefix("--- FAIL: ") {
            failed.push(short(name));
        } else if let Some((key, value)) = header(line) {
            if !all.imported.facts.iter().any(|(known, _)| known == key) {
                fact(&mut all.imported, key, value.trim());
            }
        } else if let Some((name, values)) = result(line) {
            is_open = true;
            let process = processes
                .get(&package)
                .copied()
                .unwrap_or(0)
                .saturating_sub(1);
            let params: Vec<(String, String)> = match package.as_str() {
                "" => Vec::new(),
                package => vec![("pkg".into(), package.into())],
            };
            let pairs = values.chunks(2);
            for pair in pairs {
                let [value, unit] = pair else {
                    return Err(Problem::on_line(
                        i + 1,
                        format!(
                            "the value `{}` has no unit: the line is truncated",
                            short(pair[0])
                        ),
                    ));
                };
                let value = amount_on(i + 1, value)?;
                let (metric, scale) = unit_of(unit);
                all.add((name, &params), &metric, process, value * scale);
            }
        }
    }
    let mut imported = all.finish();
    if !failed.is_empty() {
        imported
            .remarks
            .push(format!("These benchmarks failed: {}.", failed.join(", ")));
    }
    if is_open {
        imported.remarks.push(
            "The last package ends without `PASS` or `ok`: the output may be truncated.".into(),
        );
    }
    // With one package, its name adds nothing.
    if processes.len() < 2 {
        for series in &mut imported.series {
            series.params.clear();
        }
        fact(&mut imported, "package", package);
    }
    Ok(vec![imported])
}

fn header(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(": ")?;
    ["goos", "goarch", "cpu"]
        .contains(&key)
        .then_some((key, value))
}

/// Returns the metric of a unit such as `ns/op`, `B/op` or `MB/s`, and the factor that converts
/// values to the metric's unit.
///
/// If the unit ends with `/s`, more is better. For all other units, less is better, as in
/// benchstat.
fn unit_of(unit: &str) -> (Metric, f64) {
    let time = unit.strip_suffix("/op").and_then(nanoseconds);
    match (unit, time) {
        (_, Some(scale)) => (Metric::WALL, scale),
        ("B/op", _) => {
            let better = Direction::Less;
            (
                Metric {
                    better,
                    ..Metric::ALLOCATED_BYTES
                },
                1.0,
            )
        }
        ("allocs/op", _) => {
            let better = Direction::Less;
            (
                Metric {
                    better,
                    ..Metric::ALLOCATIONS
                },
                1.0,
            )
        }
        ("MB/s", _) => (rate("bytes"), 1e6),
        (unit, _) => match unit.strip_suffix("/s") {
            Some(counted) => (
                named(
                    unit,
                    Unit::PerSecond(counted.to_owned().into()),
                    Direction::More,
                ),
                1.0,
            ),
            None => (
                named(unit, Unit::Count(unit.to_owned().into()), Direction::Less),
                1.0,
            ),
        },
    }
}
