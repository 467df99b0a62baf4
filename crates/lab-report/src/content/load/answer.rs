// SPDX-License-Identifier: Apache-2.0
//! The answer of a load run in one paragraph, computed from intervals and verdicts.

use super::trouble::{alarms, failed};
use crate::answer::missing;
use crate::content::count;
use crate::load::LoadView;
use crate::number::{self, Quantity, per_second, spoken};
use lab_model::{PointId, SubjectId};
use lab_stats::analysis::{Interval, Verdict};
use lab_stats::load::analysis::{LoadCell, LoadComparison, Metric};

/// How much was served and how fast, who is ahead in which respect, and what limits all this.
pub fn answer(view: &LoadView) -> String {
    if view.analysis.cells.is_empty() {
        return format!(
            "There is no answer yet: no server has a complete block.{}",
            missing(&view.view)
        );
    }
    let subjects = 0..view.view.plan.subjects.len();
    let levels = subjects.clone().filter_map(|subject| level(view, subject));
    let ratios = subjects.flat_map(|subject| ratios(view, subject));
    let alarms = alarms(view).into_iter().map(String::from);
    let said: Vec<String> = levels.chain(ratios).chain(alarms).collect();
    said.join(" ") + &missing(&view.view)
}

/// What a metric is called.
pub fn metric_name(metric: Metric) -> &'static str {
    match metric {
        Metric::Throughput => "time per request (1 / throughput)",
        Metric::P50 => "median response time",
        Metric::P90 => "p90 of the response time",
        Metric::P99 => "p99 of the response time",
        Metric::P999 => "p99.9 of the response time",
        Metric::ServerCpu => "server's CPU time per request",
    }
}

/// What a server did: at its only point, or where it did most.
fn level(view: &LoadView, subject: SubjectId) -> Option<String> {
    let cells = view.analysis.cells.iter().filter(|c| c.subject == subject);
    let mut cells: Vec<&LoadCell> = cells.collect();
    cells.sort_by(|a, b| b.served_per_s.estimate.total_cmp(&a.served_per_s.estimate));
    let name = match view.view.plan.subjects.len() {
        1 => String::new(),
        _ => format!("{}: ", view.view.name(subject)),
    };
    match cells.as_slice() {
        [] => None,
        [only] => Some(format!("{name}{}.", figures(view, only))),
        [first, others @ ..] => {
            let same = others.iter().filter(|c| {
                c.served_per_s.high >= first.served_per_s.low && number::bounded(&c.served_per_s)
            });
            let same: Vec<String> = same.map(|c| view.point(c.point)).collect();
            let same = match same.as_slice() {
                [] => String::new(),
                [one] => format!(" ({one} may do as much)"),
                many => format!(" ({} may do as much)", many.join(", ")),
            };
            let law = law(view, subject).unwrap_or_default();
            Some(format!(
                "{name}most at {}{same}: {}.{law}",
                view.point(first.point),
                figures(view, first)
            ))
        }
    }
    .map(|text| match name.is_empty() {
        true => crate::view::capital(&text),
        false => text,
    })
}

/// `41,200 requests/s (40,900 to 41,500) over 64 connections; half answered within 1.2 (1.1 to 1.3) ms,
/// 99 % within 4.8 (4.1 to 9) ms; no errors`.
fn figures(view: &LoadView, cell: &LoadCell) -> String {
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
        n => count(n as usize, "error"),
    };
    format!("{rate} served{offered}{over}{times}; {errors}")
}

/// What the scalability law says, where the points follow it.
fn law(view: &LoadView, subject: SubjectId) -> Option<String> {
    let mine = view
        .analysis
        .scalings
        .iter()
        .filter(|s| s.subject == subject);
    let [only] = mine.collect::<Vec<_>>()[..] else {
        return None;
    };
    let law = only.law.as_ref().filter(|law| !law.departs)?;
    let peak = law.peak.as_ref()?;
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
    let metrics = Metric::ALL.into_iter().filter_map(|metric| {
        let of: Vec<&LoadComparison> = mine
            .iter()
            .copied()
            .filter(|c| c.metric == metric)
            .collect();
        match of.as_slice() {
            [] => None,
            [only] if one => Some(format!("{} {}", short_name(metric), verdict(view, only))),
            many => Some(format!("{} {}", short_name(metric), counted(view, many))),
        }
    });
    let metrics: Vec<String> = metrics.collect();
    let (b, a) = (view.view.name(subject), view.view.baseline());
    Some(format!("{b} against {a}: {}.", metrics.join("; ")))
}

fn short_name(metric: Metric) -> &'static str {
    match metric {
        Metric::Throughput => "throughput",
        Metric::P50 => "p50",
        Metric::P90 => "p90",
        Metric::P99 => "p99",
        Metric::P999 => "p99.9",
        Metric::ServerCpu => "server CPU per request",
    }
}

/// `higher, 1.25 (1.22 to 1.28) times`; `equivalent within 2 %, 1.002 (0.995 to 1.009) times`.
fn verdict(view: &LoadView, comparison: &LoadComparison) -> String {
    let throughput = comparison.metric == Metric::Throughput;
    let ratio = match throughput {
        true => inverse(&comparison.ratio),
        false => comparison.ratio,
    };
    let times = at_level(spoken(Quantity::Ratio, &ratio), &ratio, view.analysis.level);
    let word = word(view, comparison.metric, &comparison.verdict);
    match comparison.verdict {
        Verdict::Inconclusive {
            blocks_needed: Some(blocks),
        } => format!("{word}, {times} times; about {blocks} blocks would probably decide it"),
        _ => format!("{word}, {times} times"),
    }
}

fn word(view: &LoadView, metric: Metric, verdict: &Verdict) -> String {
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
        Verdict::Equivalent => format!("equivalent within {}", number::level(view.analysis.margin)),
        Verdict::Inconclusive { .. } => "not decided".into(),
    }
}

/// `higher at 3 points, not decided at connections=1`.
fn counted(view: &LoadView, all: &[&LoadComparison]) -> String {
    let mut kinds: Vec<(String, Vec<PointId>)> = Vec::new();
    for comparison in all {
        let word = word(view, comparison.metric, &comparison.verdict);
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

fn inverse(ratio: &Interval) -> Interval {
    Interval {
        estimate: 1.0 / ratio.estimate,
        low: 1.0 / ratio.high,
        high: 1.0 / ratio.low,
        level: ratio.level,
    }
}

/// An interval that holds at a lower level than was asked for says so.
fn at_level(text: String, interval: &Interval, asked: f64) -> String {
    if interval.level >= asked - 1e-9 || !number::bounded(interval) {
        return text;
    }
    text.replacen(')', &format!(" at {})", number::level(interval.level)), 1)
}
