// SPDX-License-Identifier: Apache-2.0
//! Two load runs as tidy CSV: a row for each server, point and metric.

use super::{Row, write};
use crate::Error;
use crate::between::BetweenReport;
use crate::content::load::metric_name;
use crate::view::verdict_word;
use lab_stats::analysis::Verdict;
use lab_stats::load::analysis::Metric;
use lab_stats::load::between::MetricChange;

/// The columns, in order.
pub const COLUMNS: [&str; 20] = [
    "first_run",
    "second_run",
    "subject",
    "point",
    "metric",
    "unit",
    "first",
    "first_low",
    "first_high",
    "second",
    "second_low",
    "second_high",
    "change",
    "change_low",
    "change_high",
    "change_level",
    "verdict",
    "blocks_needed",
    "margin",
    "merged",
];

/// The report as CSV.
pub fn render(report: &BetweenReport) -> Result<String, Error> {
    let metrics = report.between.metrics.iter();
    write(&COLUMNS, metrics.map(|change| row(report, change)))
}

/// What a metric is in.
pub fn unit(metric: Metric) -> &'static str {
    match metric {
        Metric::ServerMemory => "bytes",
        _ => "ns",
    }
}

fn row(report: &BetweenReport, change: &MetricChange) -> Row {
    let mut row = Row::default();
    row.set("first_run", &report.runs[0].name);
    row.set("second_run", &report.runs[1].name);
    row.set("subject", &change.subject);
    row.set("point", &change.point);
    row.set("metric", metric_name(change.metric));
    row.set("unit", unit(change.metric));
    let [first, second] = &change.values;
    row.interval(["first", "first_low", "first_high"], first);
    row.interval(["second", "second_low", "second_high"], second);
    let names = ["change", "change_low", "change_high"];
    row.interval(names, &change.change);
    row.number("change_level", change.change.level);
    row.set("verdict", verdict_word(&change.verdict));
    if let Verdict::Inconclusive {
        blocks_needed: Some(n),
    } = change.verdict
    {
        row.set("blocks_needed", n);
    }
    row.number("margin", report.between.margin);
    row.set("merged", change.merged);
    row
}
