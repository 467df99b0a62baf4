// SPDX-License-Identifier: Apache-2.0
//! What a report on two load runs says: what changed in which respect, in sentences and tables.

use super::answer::{at_level, inverse, metric_name, word};
use crate::between::BetweenReport;
use crate::content::{Room, cases::tone, count};
use crate::number::{Quantity, full, short, spoken};
use crate::table::{Cell, Table};
use lab_stats::analysis::Verdict;
use lab_stats::load::analysis::Metric;
use lab_stats::load::between::MetricChange;

/// What changed for each server: a sentence for its only point, or one over all.
pub fn standings(report: &BetweenReport) -> Vec<String> {
    let changes = &report.between.metrics;
    let servers = servers(report);
    let standing = |server: &str| {
        let of = |metric| {
            let here = |c: &&MetricChange| c.subject == server && c.metric == metric;
            let all: Vec<&MetricChange> = changes.iter().filter(here).collect();
            said(report, metric, &all)
        };
        let said: Vec<String> = Metric::BETWEEN_RUNS.into_iter().filter_map(of).collect();
        format!("{server}: {}.", said.join("; "))
    };
    servers.into_iter().map(standing).collect()
}

/// Those with changes, in the order of the report.
pub fn servers<'a>(report: &BetweenReport<'a>) -> Vec<&'a str> {
    let mut servers: Vec<&str> = Vec::new();
    for change in &report.between.metrics {
        if !servers.contains(&change.subject.as_str()) {
            servers.push(&change.subject);
        }
    }
    servers
}

/// `throughput higher, 1.25 (1.22 to 1.28) times`; `p99 lower at 3 of 4 points, equivalent within 2 % at 1 of 4 points`.
fn said(report: &BetweenReport, metric: Metric, all: &[&MetricChange]) -> Option<String> {
    let margin = report.between.margin;
    let name = metric.name();
    if let [only] = all {
        let change = match metric {
            Metric::Throughput => inverse(&only.change),
            _ => only.change,
        };
        let times = spoken(Quantity::Ratio, &change);
        let times = at_level(times, &change, report.between.level);
        let word = word(margin, metric, &only.verdict);
        return Some(format!("{name} {word}, {times} times"));
    }
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for change in all {
        let word = word(margin, metric, &change.verdict);
        match kinds.iter_mut().find(|(known, _)| *known == word) {
            Some((_, times)) => *times += 1,
            None => kinds.push((word, 1)),
        }
    }
    let points = count(all.len(), "point");
    let parts = kinds
        .iter()
        .map(|(word, n)| format!("{word} at {n} of {points}"));
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| format!("{name} {}", parts.join(", ")))
}

/// What changed at a point; no rows where the runs are not of loads.
pub fn change_table(report: &BetweenReport, point: &str, room: Room) -> Table {
    let here = |c: &&MetricChange| c.point == point;
    let changes: Vec<&MetricChange> = report.between.metrics.iter().filter(here).collect();
    let columns = ["metric", "first", "second", "second / first"].map(String::from);
    let mut table = Table::new(point, columns).text_column("verdict");
    let several = changes.iter().any(|c| c.subject != changes[0].subject);
    for change in changes {
        let figure = |i: usize| match room {
            Room::Narrow => short(quantity(change.metric), &change.values[i]),
            Room::Wide => full(quantity(change.metric), &change.values[i]),
        };
        let metric = match several {
            true => format!("{}, {}", change.subject, metric_name(change.metric)),
            false => metric_name(change.metric).to_string(),
        };
        let needed = match change.verdict {
            Verdict::Inconclusive {
                blocks_needed: Some(n),
            } => format!(" ({} would decide)", count(n as usize, "block")),
            _ => String::new(),
        };
        let tone = tone(&change.verdict);
        // Each row is of a time or a cost, the time per request in place of throughput.
        let word = word(report.between.margin, Metric::P50, &change.verdict);
        table.rows.push(vec![
            metric.into(),
            figure(0).into(),
            figure(1).into(),
            Cell::from(full(Quantity::Ratio, &change.change)).tone(tone),
            Cell::from(format!("{word}{needed}")).tone(tone),
        ]);
    }
    table
}

/// What a metric is shown in.
fn quantity(metric: Metric) -> Quantity {
    match metric {
        Metric::ServerMemory => Quantity::Size,
        _ => Quantity::Time,
    }
}
