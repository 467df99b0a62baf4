// SPDX-License-Identifier: Apache-2.0
//! vegeta: `vegeta report -type json` and the results of `vegeta encode`. An attack runs in one
//! process.

use super::k6::latencies;
use super::{ImportFormat, keep_names};
use crate::error::Problem;
use crate::json::Node;
use crate::metrics::{named, percentile, rate};
use crate::responses::Responses;
use crate::source::{Source, parse_json};
use crate::subject::{single, subject};
use lab_model::{Direction, Imported, Metric, Unit};

/// Advice on measuring in multiple processes.
const ADVICE: &str = "Run the attack 10 times and import all files with --join.";

/// The import format for vegeta's report.
pub const REPORT: ImportFormat = ImportFormat {
    name: "vegeta",
    title: "vegeta report -type json",
    advice: ADVICE,
    is_format: |source| source.has_keys(&["latencies", "throughput", "success"]),
    read: report,
    shorten: keep_names,
};

/// The import format for vegeta's results, with one JSON object on each line.
pub const LINES: ImportFormat = ImportFormat {
    name: "vegeta-json",
    title: "vegeta encode",
    advice: ADVICE,
    is_format: |source| {
        let line = source.first_line();
        line.starts_with('{')
            && ["\"attack\"", "\"seq\"", "\"latency\""]
                .iter()
                .all(|key| line.contains(key))
    },
    read: lines,
    shorten: keep_names,
};

fn success() -> Metric {
    named("success", Unit::Share, Direction::More)
}

fn report(source: &Source) -> Result<Vec<Imported>, Problem> {
    let root = source.root()?;
    let mut imported = subject("vegeta", "", "");
    single(
        &mut imported,
        rate("requests"),
        Some(root.get("throughput")?.amount()?),
    );
    let times = root.get("latencies")?;
    single(
        &mut imported,
        Metric::MEAN_WALL,
        Some(times.get("mean")?.amount()?),
    );
    for (key, value) in times.members()? {
        let percent = key.strip_suffix("th").and_then(|p| p.parse::<f64>().ok());
        if let Some(percent) = percent {
            single(&mut imported, percentile(percent), Some(value.amount()?));
        }
    }
    single(&mut imported, Metric::MAX, times.find_amount("max")?);
    single(
        &mut imported,
        Metric::REQUESTS,
        root.find_amount("requests")?,
    );
    single(&mut imported, success(), root.find_amount("success")?);
    let mut responses = Responses::default();
    if let Some(statuses) = root.find("status_codes") {
        for (status, count) in statuses.members()? {
            responses.add(status, count.amount()?);
        }
    }
    imported.remarks.extend(responses.remark());
    Ok(vec![imported])
}

fn lines(source: &Source) -> Result<Vec<Imported>, Problem> {
    let (mut times, mut good) = (Vec::new(), 0.0);
    let mut span: Option<(f64, f64)> = None;
    let mut responses = Responses::default();
    for (i, line) in source
        .text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let on_line = |problem: Problem| match problem.location.as_str() {
            "" => Problem::on_line(i + 1, problem.message),
            location => {
                Problem::with_location(format!("line {}, {location}", i + 1), problem.message)
            }
        };
        let value = parse_json(line).map_err(|problem| Problem::on_line(i + 1, problem.message))?;
        let node = Node::root(&value);
        let latency = node
            .get("latency")
            .and_then(|n| n.amount())
            .map_err(on_line)?;
        let code = node.get("code").and_then(|n| n.amount()).map_err(on_line)?;
        good += f64::from((200.0..400.0).contains(&code));
        responses.add(&code.to_string(), 1.0);
        times.push(latency);
        let time = node
            .find_text("timestamp")
            .and_then(|t| t.parse::<jiff::Timestamp>().ok());
        if let Some(time) = time {
            let began = time.as_microsecond() as f64 / 1e6;
            let (first, last) = span.unwrap_or((began, began));
            span = Some((first.min(began), last.max(began + latency / 1e9)));
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
    let mut imported = subject("vegeta", "", "");
    latencies(&mut imported, &mut times);
    let seconds = span
        .map(|(first, last)| last - first)
        .filter(|seconds| *seconds > 0.0);
    single(
        &mut imported,
        rate("requests"),
        seconds.map(|seconds| good / seconds),
    );
    if !times.is_empty() {
        single(&mut imported, success(), Some(good / times.len() as f64));
    }
    imported.remarks.extend(responses.remark());
    Ok(vec![imported])
}
