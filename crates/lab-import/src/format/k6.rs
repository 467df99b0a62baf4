// SPDX-License-Identifier: Apache-2.0
//! k6: the summary (`--summary-export FILE`, or `handleSummary`) and all measured values (`--out
//! json=FILE`). A test runs in one process.

use super::{ImportFormat, keep_names};
use crate::error::Problem;
use crate::json::Node;
use crate::metrics::{named, percentile, rate};
use crate::source::{Source, parse_json};
use crate::subject::{single, subject};
use lab_model::{Direction, Imported, Metric, Unit};

/// Advice on measuring k6 in multiple processes.
const ADVICE: &str = "Run k6 10 times and import all files with --join.";

/// The import format for k6's summary.
pub const SUMMARY: ImportFormat = ImportFormat {
    name: "k6",
    title: "k6 run --summary-export FILE",
    advice: ADVICE,
    is_format: |source| {
        let json = source.json.as_ref().ok();
        let metrics = json.and_then(|json| json.get("metrics"));
        metrics.is_some_and(|m| {
            m.get("iterations").is_some() || m.get("http_reqs").is_some() || m.get("vus").is_some()
        })
    },
    read: summary,
    shorten: keep_names,
};

/// The import format for k6's values, with one JSON object on each line.
pub const LINES: ImportFormat = ImportFormat {
    name: "k6-json",
    title: "k6 run --out json=FILE",
    advice: ADVICE,
    is_format: |source| {
        let line = source.first_line();
        line.starts_with('{') && line.contains("\"type\"") && line.contains("\"metric\"")
    },
    read: lines,
    shorten: keep_names,
};

fn summary(source: &Source) -> Result<Vec<Imported>, Problem> {
    let mut imported = subject("k6", "", "");
    for (name, metric) in source.root()?.get("metrics")?.members()? {
        // handleSummary nests the values; --summary-export does not.
        let values = metric.find("values").unwrap_or_else(|| metric.clone());
        match name {
            "http_req_duration" => durations(&values, &mut imported)?,
            "http_reqs" => {
                single(&mut imported, rate("requests"), values.find_amount("rate")?);
                single(
                    &mut imported,
                    Metric::REQUESTS,
                    values.find_amount("count")?,
                );
            }
            "http_req_failed" => {
                let fraction = values.find_amount("rate")?.or(values.find_amount("value")?);
                single(
                    &mut imported,
                    named("failed", Unit::Share, Direction::Less),
                    fraction,
                );
            }
            "iterations" => {
                let metric = named(
                    "iterations",
                    Unit::PerSecond("iterations".into()),
                    Direction::More,
                );
                single(&mut imported, metric, values.find_amount("rate")?);
            }
            "iteration_duration" => {
                let metric = named("iteration_duration", Unit::Nanoseconds, Direction::Less);
                single(
                    &mut imported,
                    metric,
                    values.find_amount("avg")?.map(|ms| ms * 1e6),
                );
            }
            _ => {}
        }
    }
    imported.remarks.push(
        "Only response times, requests, failures and iterations were imported, not k6's other metrics."
            .into(),
    );
    Ok(vec![imported])
}

fn durations(values: &Node, imported: &mut Imported) -> Result<(), Problem> {
    for (key, value) in values.members()? {
        let percent = key.strip_prefix("p(").and_then(|key| key.strip_suffix(')'));
        let metric = match (key, percent.and_then(|p| p.parse().ok())) {
            ("avg", _) => Metric::MEAN_WALL,
            ("med", _) => Metric::P50,
            ("max", _) => Metric::MAX,
            (_, Some(percent)) => percentile(percent),
            _ => continue,
        };
        // A percentile may have two names: `med` and `p(50)`, or `p(99)` and `p(99.0)`.
        if imported.series.iter().any(|series| series.metric == metric) {
            continue;
        }
        single(imported, metric, Some(value.amount()? * 1e6));
    }
    Ok(())
}

fn lines(source: &Source) -> Result<Vec<Imported>, Problem> {
    let (mut times, mut failed, mut stamps) = (Vec::new(), 0.0, None::<(f64, f64)>);
    let last = source.text.lines().count();
    for (i, line) in source
        .text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let value = parse_json(line).map_err(|problem| {
            let message = match i + 1 == last && problem.message.contains("truncated") {
                true => "the line is truncated: k6 was stopped, or the file was cut".into(),
                false => problem.message,
            };
            Problem::on_line(i + 1, message)
        })?;
        let node = Node::root(&value);
        let on_line = |problem: Problem| {
            Problem::with_location(
                format!("line {}, {}", i + 1, problem.location),
                problem.message,
            )
        };
        if node.find_text("type") != Some("Point") {
            continue;
        }
        match node.find_text("metric") {
            Some("http_req_duration") => {
                let data = node.get("data").map_err(on_line)?;
                let value = data.get("value").and_then(|v| v.amount());
                let duration = value.map_err(on_line)? * 1e6;
                times.push(duration);
                let time = data
                    .find_text("time")
                    .and_then(|t| t.parse::<jiff::Timestamp>().ok());
                if let Some(time) = time {
                    let seconds = time.as_microsecond() as f64 / 1e6;
                    // The time of a point is the end of the request.
                    let start = seconds - duration / 1e9;
                    let (first, last) = stamps.unwrap_or((start, seconds));
                    stamps = Some((first.min(start), last.max(seconds)));
                }
            }
            Some("http_req_failed") => {
                let data = node.get("data").map_err(on_line)?;
                failed += data
                    .get("value")
                    .and_then(|v| v.amount())
                    .map_err(on_line)?;
            }
            _ => {}
        }
        if times.len() > source.limits.values {
            return Err(Problem::on_line(
                i + 1,
                format!(
                    "there are more than {} requests, the maximum",
                    source.limits.values
                ),
            ));
        }
    }
    let mut imported = subject("k6", "", "");
    latencies(&mut imported, &mut times);
    let span = stamps
        .map(|(first, last)| last - first)
        .filter(|span| *span > 0.0);
    single(
        &mut imported,
        rate("requests"),
        span.map(|span| times.len() as f64 / span),
    );
    if !times.is_empty() {
        let fraction = failed / times.len() as f64;
        single(
            &mut imported,
            named("failed", Unit::Share, Direction::Less),
            Some(fraction),
        );
    }
    imported.remarks.push(
        "Only response times, requests and failures were imported, not k6's other metrics.".into(),
    );
    Ok(vec![imported])
}

/// Adds the mean, the percentiles, the maximum and the number of response times. `times` are in ns.
pub(super) fn latencies(imported: &mut Imported, times: &mut [f64]) {
    times.sort_by(f64::total_cmp);
    let Some(max) = times.last().copied() else {
        return;
    };
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    single(imported, Metric::MEAN_WALL, Some(mean));
    for percent in [50.0, 90.0, 95.0, 99.0, 99.9] {
        single(
            imported,
            percentile(percent),
            quantile(times, percent / 100.0),
        );
    }
    single(imported, Metric::MAX, Some(max));
    single(imported, Metric::REQUESTS, Some(times.len() as f64));
}

/// Returns the nearest-rank quantile of sorted values.
fn quantile(sorted: &[f64], fraction: f64) -> Option<f64> {
    let rank = (fraction * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}
