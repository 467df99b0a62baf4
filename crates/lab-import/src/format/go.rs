// SPDX-License-Identifier: Apache-2.0
//! The text of `go test -bench`, as defined by the Go benchmark data format
//! (go.googlesource.com/proposal/+/master/design/14313-benchmark-format.md).
//!
//! Each `pkg:` line marks the start of a package's test binary, which is one process. `-count`
//! repeats benchmarks within this process. The output of multiple calls to `go test` can be
//! concatenated.

use super::ImportFormat;
use crate::error::Problem;
use crate::json::Node;
use crate::metrics::{named, nanoseconds, rate};
use crate::shorten::move_shared_to_fact;
use crate::source::{Source, parse_json};
use crate::subject::{Collector, subject};
use crate::text::{amount_on, short};
use lab_model::{Direction, Imported, Metric, Unit};
use std::borrow::Cow;
use std::collections::HashMap;

/// The import format for Go's benchmark text, and for `go test -json`.
pub const FORMAT: ImportFormat = ImportFormat {
    name: "go",
    title: "go test -bench, as text or with -json",
    advice: "Run `go test -bench . -count 1` 10 times and append the outputs to one file; `-count 10` repeats \
         within one process.",
    is_format: |source| {
        let mut lines = source.text.lines().take(10_000);
        is_event(source.first_line())
            || lines.any(|line| result(line).is_some() || line.starts_with("goos: "))
    },
    read,
    shorten: |imports| {
        for key in HEADERS {
            let name = if key == "pkg" { "package" } else { key };
            move_shared_to_fact(imports, key, name);
        }
    },
};

/// The headers of a package's configuration. They are parameters of its benchmarks.
const HEADERS: [&str; 4] = ["goos", "goarch", "pkg", "cpu"];

/// Returns true if a line may be an event of `go test -json`.
fn is_event(line: &str) -> bool {
    line.starts_with('{') && line.contains("\"Action\":") && line.contains("\"Package\":")
}

/// Returns the text output of a file. For `go test -json`, joins the output of each package.
fn output(source: &Source) -> Result<Cow<'_, str>, Problem> {
    if !is_event(source.first_line()) {
        return Ok(Cow::Borrowed(&source.text));
    }
    // The events are defined by cmd/test2json.
    let mut packages: Vec<(String, String)> = Vec::new();
    for (i, line) in source.text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let event = parse_json(line).map_err(|problem| {
            Problem::on_line(
                i + 1,
                format!("expected an event of go test -json: {}", problem.message),
            )
        })?;
        let event = Node::root(&event);
        let package = event.find_text("Package").unwrap_or_default();
        let output = event.find_text("Output").unwrap_or_default();
        match packages.iter_mut().find(|(name, _)| name == package) {
            Some((_, text)) => text.push_str(output),
            None => packages.push((package.to_owned(), output.to_owned())),
        }
    }
    let texts = packages.into_iter().map(|(_, text)| text + "\n");
    Ok(Cow::Owned(texts.collect()))
}

/// The name of a benchmark and the pairs of values and units.
struct ResultLine<'l> {
    name: &'l str,
    values: Vec<&'l str>,
}

/// Splits a line of results.
fn result(line: &str) -> Option<ResultLine<'_>> {
    let name = benchmark_name(line)?;
    let values = results(line.trim_start_matches("Benchmark").strip_prefix(name)?)?;
    Some(ResultLine { name, values })
}

/// Returns the name of the benchmark with which a line starts, without `Benchmark`.
fn benchmark_name(line: &str) -> Option<&str> {
    let name = line.split_whitespace().next()?;
    let name = name.strip_prefix("Benchmark")?;
    let is_name = line.starts_with("Benchmark") && !name.chars().next()?.is_lowercase();
    is_name.then_some(name)
}

/// Splits the part of a line after the name: the number of iterations, which is left out, and pairs
/// of values and units.
fn results(text: &str) -> Option<Vec<&str>> {
    let mut words = text.split_whitespace();
    words.next()?.parse::<u64>().ok()?;
    let values: Vec<&str> = words.collect();
    (values.len() >= 2).then_some(values)
}

/// Reads the lines of a text, and collects the benchmarks that they contain.
struct Reader {
    all: Collector,
    /// The configuration of the current package, in the order of [`HEADERS`].
    headers: [String; HEADERS.len()],
    /// The number of processes of each configuration so far.
    processes: HashMap<[String; HEADERS.len()], usize>,
    /// True after a `pkg:` line without results so far.
    starts_process: bool,
    /// True if the output of the last package has not ended.
    is_open: bool,
    failed: Vec<String>,
    /// A benchmark whose name is on a line without results. The results may follow on a later line,
    /// after the benchmark's output.
    pending: Option<String>,
    /// The benchmarks without results.
    lost: Vec<String>,
}

fn read(source: &Source) -> Result<Vec<Imported>, Problem> {
    let mut reader = Reader {
        all: Collector::new(subject("Go", "", "")),
        headers: Default::default(),
        processes: HashMap::new(),
        starts_process: false,
        is_open: false,
        failed: Vec::new(),
        pending: None,
        lost: Vec::new(),
    };
    for (i, line) in output(source)?.lines().enumerate() {
        reader.line(i + 1, line)?;
    }
    Ok(vec![reader.finish()])
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) -> Result<(), Problem> {
        if let Some((key, value)) = header(line) {
            let value = value.trim();
            self.headers[key] = value.to_owned();
            match HEADERS[key] {
                // The first header of each package.
                "goos" => self.headers[1..].fill(String::new()),
                "pkg" => {
                    self.starts_process = true;
                    self.is_open = true;
                }
                _ => {}
            }
        } else if line == "PASS" || line.starts_with("ok  ") {
            self.is_open = false;
        } else if let Some(rest) = line.strip_prefix("FAIL") {
            self.is_open = false;
            if let Some(package) = rest.split_whitespace().next() {
                self.failed.push(short(package));
            }
        } else if let Some(name) = line.trim_start().strip_prefix("--- FAIL: ") {
            self.failed.push(short(name));
        } else if let Some(ResultLine { name, values }) = result(line) {
            self.lose_pending();
            self.add(number, name, &values)?;
        } else if let Some(name) = benchmark_name(line) {
            self.lose_pending();
            self.pending = Some(name.to_owned());
        } else if self.pending.is_some()
            && let Some(values) = results(line)
            && values.contains(&"ns/op")
            && let Some(name) = self.pending.take()
        {
            // Output of the benchmark separated its name from its results.
            self.add(number, &name, &values)?;
        }
        Ok(())
    }

    /// Notes that the pending benchmark has no results.
    fn lose_pending(&mut self) {
        self.lost.extend(self.pending.take());
    }

    fn add(&mut self, line: usize, name: &str, values: &[&str]) -> Result<(), Problem> {
        self.is_open = true;
        let processes = self.processes.entry(self.headers.clone()).or_default();
        if self.starts_process || *processes == 0 {
            *processes += 1;
            self.starts_process = false;
        }
        let process = *processes - 1;
        let params = HEADERS.iter().zip(&self.headers);
        let params: Vec<(String, String)> = params
            .filter(|(_, value)| !value.is_empty())
            .map(|(key, value)| ((*key).to_owned(), value.clone()))
            .collect();
        for pair in values.chunks(2) {
            let [value, unit] = pair else {
                let value = short(pair[0]);
                return Err(Problem::on_line(
                    line,
                    format!("the value `{value}` has no unit: the line is truncated"),
                ));
            };
            if !unit.starts_with(char::is_alphabetic) {
                return Err(Problem::on_line(
                    line,
                    format!(
                        "expected a unit such as ns/op, found `{}`; import the output of go test, not of a tool \
                         that compares outputs",
                        short(unit)
                    ),
                ));
            }
            let value = amount_on(line, value)?;
            let (metric, scale) = unit_of(unit);
            self.all
                .add((name, &params), &metric, process, value * scale);
        }
        Ok(())
    }

    fn finish(mut self) -> Imported {
        self.lose_pending();
        let mut imported = self.all.finish();
        if !self.failed.is_empty() {
            self.failed.dedup();
            imported
                .remarks
                .push(format!("These failed: {}.", self.failed.join(", ")));
        }
        // With -v, a line with only the name precedes the results, and a benchmark with
        // sub-benchmarks has no results of its own.
        let has_results = |name: &String| {
            let mut cases = imported.series.iter().map(|series| &series.case);
            cases.any(|case| {
                case.strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '/']))
            })
        };
        self.lost.retain(|name| !has_results(name));
        self.lost.dedup();
        if !self.lost.is_empty() {
            let names: Vec<String> = self.lost.iter().map(|name| short(name)).collect();
            imported
                .remarks
                .push(format!("Benchmarks without results: {}.", names.join(", ")));
        }
        if self.is_open {
            imported.remarks.push(
                "The last package ends without `PASS` or `ok`: the output may be truncated.".into(),
            );
        }
        imported
    }
}

/// Returns the index of a header in [`HEADERS`], and its value.
fn header(line: &str) -> Option<(usize, &str)> {
    let (key, value) = line.split_once(": ")?;
    let key = HEADERS.iter().position(|header| *header == key)?;
    Some((key, value))
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
