// SPDX-License-Identifier: Apache-2.0
//! The answer of a load run in one paragraph, computed from intervals and verdicts.

use super::trouble::{alarms, failed};
use crate::content::{count, scaling_of};
use crate::load::LoadView;
use crate::number::{self, Quantity, per_second, spoken, whole};
use crate::view::{Group, capital};
use lab_model::{PointId, SubjectId};
use lab_stats::analysis::{Interval, Verdict};
use lab_stats::load::analysis::{LoadCell, LoadComparison, Metric};
use std::collections::BTreeSet;

/// How much was served and how fast, who is ahead in which respect, and what limits all this.
pub fn answer(view: &LoadView) -> String {
    let alarms = alarms(view).into_iter().map(String::from);
    let said = std::iter::once(said(view)).chain(alarms);
    said.collect::<Vec<_>>().join(" ")
}

/// The same without what limits it.
pub fn said(view: &LoadView) -> String {
    if view.analysis.cells.is_empty() {
        return format!(
            "There is no answer yet: no server has a complete block.{}",
            missing(view)
        );
    }
    let subjects = view.view.shown();
    let groups = view.view.scaling_groups();
    let places = groups
        .iter()
        .flat_map(|g| subjects.iter().map(move |&s| (g, s)));
    let levels = places.filter_map(|(group, subject)| level(view, group, subject));
    let ratios = subjects.iter().filter_map(|&subject| ratios(view, subject));
    levels.chain(ratios).collect::<Vec<_>>().join(" ") + &missing(view)
}

/// Who is not in the answer, or not everywhere. Begins with a space.
fn missing(view: &LoadView) -> String {
    let common = &view.view;
    let named = |ids: BTreeSet<SubjectId>| {
        let names = ids.into_iter().map(|s| common.name(s));
        names.collect::<Vec<_>>().join(", ")
    };
    let failed = named(common.run.failures.iter().map(|f| f.subject).collect());
    let refused = named(common.refusals().iter().map(|r| r.subject).collect());
    let mut text = String::new();
    if !failed.is_empty() {
        text += &format!(" Failed: {failed}.");
    }
    if !refused.is_empty() {
        text += &format!(" Not compared at some point or everywhere: {refused}.");
    }
    text
}

/// What a metric is called.
pub fn metric_name(metric: Metric) -> &'static str {
    match metric {
        Metric::Throughput => "time per request",
        Metric::P50 => "median response time",
        Metric::P90 => "p90 of the response time",
        Metric::P99 => "p99 of the response time",
        Metric::P999 => "p99.9 of the response time",
        Metric::ServerCpu => "server's CPU time per request",
        Metric::ServerMemory => "server's memory",
    }
}

/// What a server did at the points of a group: at the only one, or where it did most.
fn level(view: &LoadView, group: &Group, subject: SubjectId) -> Option<String> {
    let mut cells: Vec<&LoadCell> = group
        .points
        .iter()
        .filter_map(|&point| view.cell(subject, point))
        .collect();
    cells.sort_by(|a, b| b.served_per_s.estimate.total_cmp(&a.served_per_s.estimate));
    let (first, others) = cells.split_first()?;
    let who = (view.view.plan.subjects.len() > 1).then(|| view.view.name(subject).to_string());
    let figures = figures(view, first);
    let law = law(view, group, subject).unwrap_or_default();
    let text = match others.is_empty() {
        true => format!("{figures}."),
        false => format!("at its best, {figures}{}.{law}", same(view, first, others)),
    };
    Some(match who {
        None => capital(&text),
        Some(who) => format!("{who}: {text}"),
    })
}

/// Where a server may do as much as where it does most.
fn same(view: &LoadView, first: &LoadCell, others: &[&LoadCell]) -> String {
    let reach = |c: &&&LoadCell| {
        number::bounded(&c.served_per_s) && c.served_per_s.high >= first.served_per_s.low
    };
    let same = others.iter().filter(reach).map(|c| view.point(c.point));
    match same.collect::<Vec<_>>().join(" and ").as_str() {
        "" => String::new(),
        same => format!("; as much may be served at {same}"),
    }
}

/// `41,200 requests/s (40,900 to 41,500) served over 64 connections; half answered within 1.2 (1.1 to
/// 1.3) ms, 99 % within 4.8 (4.1 to 9) ms; no errors`.
fn figures(view: &LoadView, cell: &LoadCell) -> String {
    if cell.served == 0 {
        return format!("nothing was served: {} errors", whole(failed(cell)));
    }
    let asked = 1.0 - view.view.plan.measure.alpha;
    let rate = per_second("requests", &cell.served_per_s);
    let rate = at_level(rate, &cell.served_per_s, asked);
    let offered = match view.open() {
        true => format!(
            " of {} offered",
            number::alone(Quantity::Rate, &cell.offered_per_s)
        ),
        false => String::new(),
    };
    let params = view.view.plan.points.get(cell.point).map(|p| &p.params);
    let param = |key: &str| params?.iter().find(|(k, _)| k == key).map(|(_, v)| v);
    let over = match param("connections").map(String::as_str) {
        Some("1") => " over 1 connection".into(),
        Some(n) => format!(" over {n} connections"),
        None => String::new(),
    };
    let within = |quantile: Option<Interval>, part: &str| {
        let time = quantile?;
        let text = at_level(spoken(Quantity::Time, &time), &time, asked);
        Some(format!("{part} within {text}"))
    };
    let times = [
        within(cell.response.p50_ns, "half answered"),
        within(cell.response.p99_ns, "99 %"),
    ];
    let times: Vec<String> = times.into_iter().flatten().collect();
    let times = match times.is_empty() {
        true => String::new(),
        false => format!("; {}", times.join(", ")),
    };
    let errors = match failed(cell) {
        0 => "no errors".into(),
        1 => "1 error".into(),
        n => format!("{} errors", whole(n)),
    };
    format!("{rate} served{offered}{over}{times}; {errors}")
}

/// What the scalability law says, where the points follow it.
fn law(view: &LoadView, group: &Group, subject: SubjectId) -> Option<String> {
    let law = scaling_of(&view.view, group, subject)?.law.as_ref();
    let peak = law.filter(|law| !law.departs)?.peak.as_ref()?;
    Some(format!(
        " The scalability law has its peak at {} connections.",
        spoken(Quantity::Ratio, &peak.connections)
    ))
}

/// A server against the baseline: a sentence for its only point, or one over all.
fn ratios(view: &LoadView, subject: SubjectId) -> Option<String> {
    let mine: Vec<&LoadComparison> = view
        .analysis
        .comparisons
        .iter()
        .filter(|c| c.subject == subject)
        .collect();
    let first = mine.first()?;
    let one = mine.iter().all(|c| c.point == first.point);
    let metrics = Metric::IN_TURNS.into_iter().filter_map(|metric| {
        let of: Vec<&LoadComparison> = mine
            .iter()
            .copied()
            .filter(|c| c.metric == metric)
            .collect();
        match of.as_slice() {
            [] => None,
            [only] if one => Some(format!("{} {}", metric.name(), verdict(view, only))),
            many => Some(format!("{} {}", metric.name(), counted(view, many))),
        }
    });
    let metrics: Vec<String> = metrics.collect();
    let (b, a) = (view.view.name(subject), view.view.baseline());
    Some(format!("{b} against {a}: {}.", metrics.join("; ")))
}

/// `higher, 1.25 (1.22 to 1.28) times`; `equivalent within 2 %, 1.002 (0.995 to 1.009) times`.
fn verdict(view: &LoadView, comparison: &LoadComparison) -> String {
    let throughput = comparison.metric == Metric::Throughput;
    let ratio = match throughput {
        true => inverse(&comparison.ratio),
        false => comparison.ratio,
    };
    let times = at_level(spoken(Quantity::Ratio, &ratio), &ratio, view.analysis.level);
    let word = word(view.analysis.margin, comparison.metric, &comparison.verdict);
    match comparison.verdict {
        Verdict::Inconclusive {
            blocks_needed: Some(blocks),
        } => format!("{word}, {times} times; about {blocks} blocks would probably decide it"),
        _ => format!("{word}, {times} times"),
    }
}

/// Which way a metric went.
pub(super) fn word(margin: f64, metric: Metric, verdict: &Verdict) -> String {
    let up = metric == Metric::Throughput;
    let (less, more) = if up {
        ("higher", "lower")
    } else {
        ("lower", "higher")
    };
    match verdict {
        Verdict::Faster => less.into(),
        Verdict::Slower => more.into(),
        Verdict::SmallButReal { faster: true } => format!("a little {less}"),
        Verdict::SmallButReal { faster: false } => format!("a little {more}"),
        Verdict::Equivalent => format!("equivalent within {}", number::level(margin)),
        Verdict::Inconclusive { .. } => "not decided".into(),
    }
}

/// `higher at 3 points, not decided at connections=1`.
fn counted(view: &LoadView, all: &[&LoadComparison]) -> String {
    let mut kinds: Vec<(String, Vec<PointId>)> = Vec::new();
    for comparison in all {
        let word = word(view.analysis.margin, comparison.metric, &comparison.verdict);
        match kinds.iter_mut().find(|(known, _)| *known == word) {
            Some((_, points)) => points.push(comparison.point),
            None => kinds.push((word, vec![comparison.point])),
        }
    }
    let parts = kinds.iter().map(|(word, points)| match points.as_slice() {
        [one] => format!("{word} at {}", view.point(*one)),
        many => format!("{word} at {} of {}", many.len(), count(all.len(), "point")),
    });
    parts.collect::<Vec<_>>().join(", ")
}

pub(super) fn inverse(ratio: &Interval) -> Interval {
    Interval {
        estimate: 1.0 / ratio.estimate,
        low: 1.0 / ratio.high,
        high: 1.0 / ratio.low,
        level: ratio.level,
    }
}

/// An interval that holds at a lower level than was asked for says so.
pub(super) fn at_level(text: String, interval: &Interval, asked: f64) -> String {
    if interval.level >= asked - 1e-9 || !number::bounded(interval) {
        return text;
    }
    text.replacen(')', &format!(" at {})", number::level(interval.level)), 1)
}
