// SPDX-License-Identifier: Apache-2.0
//! The input of reports on logs, and the cells that all of their tables share.

use crate::analysis::capacity::Headroom;
use crate::analysis::changes::Changes;
use crate::analysis::pareto::PageRanking;
use crate::analysis::week::Spikes;
use crate::finding::LogsFinding;
use crate::wording;
use lab_document::say;
use lab_document::{Cell, Finding, Precision, Quantity, Tone};
use lab_model::{
    Direction, Interval, LogAnalysis, LogAssumption, LogPage, Metric, PageKind, Run, Unit,
};

/// The input of a report on logs.
#[derive(Clone, Copy, Debug)]
pub struct LogsReport<'a> {
    /// The run that read the logs.
    pub run: &'a Run,
    /// The analysis of the logs.
    pub analysis: &'a LogAnalysis,
    /// The displayed name of the run file, or `None` if the run is not saved.
    pub file: Option<&'a str>,
    /// The headroom, if a load run shows it.
    pub capacity: Option<&'a Capacity>,
}

/// The headroom, with the load run that it is based on.
#[derive(Clone, Debug)]
pub struct Capacity {
    /// The headroom of the server.
    pub headroom: Headroom,
    /// The displayed name of the load run's file.
    pub file: String,
    /// The bound on the 99th percentile, in ns.
    pub limit_ns: f64,
}

/// The analyses that the sections of a report are built from.
pub(super) struct Analyses<'w> {
    pub(super) analysis: &'w LogAnalysis,
    pub(super) pages: Option<PageRanking<'w>>,
    pub(super) queries: Option<PageRanking<'w>>,
    pub(super) spikes: Spikes,
    pub(super) changes: Changes<'w>,
    pub(super) capacity: Option<&'w Capacity>,
}

/// Returns the time and machine of the run: `2026-11-21 09:15 UTC on AMD EPYC 7B13`.
pub(super) fn made(run: &Run) -> String {
    let cpu = run.host.fact("cpu");
    let on_cpu = cpu.map_or(String::new(), |cpu| format!(" on {cpu}"));
    format!("{} UTC{on_cpu}", say::minute(run.started_unix_s))
}

/// Returns the assumptions that a report states.
///
/// Missing durations are not stated if another assumption names them as unparsed.
pub(super) fn stated_assumptions(analysis: &LogAnalysis) -> Vec<&LogAssumption> {
    let unparsed = analysis.assumptions.iter().map(|a| match a {
        LogAssumption::UnparsedDurations { requests, .. } => *requests,
        _ => 0,
    });
    let unparsed = unparsed.fold(0, u64::saturating_add);
    let is_stated = |a: &&LogAssumption| match a {
        LogAssumption::MissingDurations { requests: n, .. }
        | LogAssumption::UntimedStatements { statements: n, .. } => *n > unparsed,
        _ => true,
    };
    analysis.assumptions.iter().filter(is_stated).collect()
}

/// Converts a finding for display.
pub(super) fn shown(finding: &LogsFinding) -> Finding {
    let (label, sentence) = (wording::label(finding), wording::sentence(finding));
    Finding::new(label, sentence, tone(finding)).with_data(finding)
}

pub(super) fn tone(finding: &LogsFinding) -> Tone {
    match finding {
        LogsFinding::Changed { ratio, .. } => change_tone(ratio),
        LogsFinding::RepeatedQuery { .. }
        | LogsFinding::Assumed { .. }
        | LogsFinding::Malformed { .. }
        | LogsFinding::TooLong { .. }
        | LogsFinding::CutOff
        | LogsFinding::ClockJumps { .. }
        | LogsFinding::WholeSeconds { .. }
        | LogsFinding::WholeSecondsOfStatements
        | LogsFinding::WithoutStatus { .. }
        | LogsFinding::LongDurations { .. }
        | LogsFinding::Advice { .. }
        | LogsFinding::StatementsOutside { .. }
        | LogsFinding::SharedIds { .. }
        | LogsFinding::CrowdedIds { .. } => Tone::Alarm,
        _ => Tone::Plain,
    }
}

/// The metrics of a page.
pub(super) static FIGURES: [Metric; 9] = [
    Metric::REQUESTS,
    Metric::ERRORS,
    TOTAL,
    SHARE,
    MEAN,
    Metric::P50,
    P95,
    Metric::P99,
    Metric::MAX,
];
pub(super) const TOTAL: Metric =
    Metric::new("total", "total time", Unit::Nanoseconds, Direction::Neither);
pub(super) const SHARE: Metric = Metric::new(
    "share",
    "fraction of the time",
    Unit::Share,
    Direction::Neither,
);
pub(super) const MEAN: Metric = Metric::new("mean", "mean", Unit::Nanoseconds, Direction::Less);
pub(super) const P95: Metric = Metric::new("p95", "p95", Unit::Nanoseconds, Direction::Less);

/// Returns the value of a page's metric, or `None` if it is unknown.
pub(super) fn figure(page: &LogPage, metric: &Metric, error: f64, all_ns: u64) -> Option<Quantity> {
    let exact = |value: f64| Some(Quantity::exact(value, metric.unit.clone()));
    // Use the middle of the bucket, and the bounds of the bucket as the interval.
    let quantile = |part: f64| {
        let value = page.quantile(part)? as f64;
        let (low, high) = (value * (1.0 - error), value * (1.0 + error));
        let precision = Precision::Within {
            low,
            high,
            level: 1.0,
        };
        Some(Quantity {
            value,
            unit: Unit::Nanoseconds,
            precision,
        })
    };
    match metric.id.as_ref() {
        "requests" => exact(page.requests as f64),
        "errors" if page.requests > 0 && page.without_status == page.requests => None,
        "errors" => exact(page.errors as f64),
        _ if page.timed == 0 => None,
        "total" => exact(page.total_ns as f64),
        "share" => exact(page.total_ns as f64 / all_ns.max(1) as f64),
        "mean" => exact(page.mean_ns()?),
        "p50" => quantile(0.5),
        "p95" => quantile(0.95),
        "p99" => quantile(0.99),
        "max" => exact(page.known_max_ns()? as f64),
        _ => None,
    }
}

/// Formats a time in ns.
///
/// Returns an empty cell for `None`.
pub(super) fn time(ns: Option<f64>) -> Cell {
    ns.map(|ns| Quantity::exact(ns, Unit::Nanoseconds)).into()
}

pub(super) fn kind_name(kind: PageKind) -> &'static str {
    match kind {
        PageKind::Page => "page",
        PageKind::Query => "query",
        PageKind::Bot => "bot",
        PageKind::Health => "health check",
    }
}

/// Returns the tone of a change. Longer durations are worse.
pub(super) fn change_tone(ratio: &Interval) -> Tone {
    match ratio {
        r if r.low > 1.0 => Tone::Worse,
        r if r.high < 1.0 => Tone::Better,
        _ => Tone::Plain,
    }
}
