// SPDX-License-Identifier: Apache-2.0
//! Two load runs that were not interleaved: what changed from the first to the second in each respect.
//!
//! No block of one run belongs to a block of the other. Rates and costs are compared by the blocks of both;
//! percentiles are those of all requests of a run together, for a block's own know nothing of a stall that
//! other blocks have.

use super::analysis::{Metric, Quantiles};
use super::compare::{errors_hide, metrics, value};
use super::quantiles::{self, quantiles};
use super::visits::Visit;
use crate::analysis::{Interval, Verdict};
use crate::change::{change, quotient};
use crate::dependence::Merged;
use crate::ratio::{Level, Ratio};
use crate::verdict::verdict;
use crate::{family, order};
use lab_model::{Plan, PointId};
use serde::Serialize;

/// What changed for a server at a point in one respect.
#[derive(Clone, Debug, Serialize)]
pub struct MetricChange {
    /// Who.
    pub subject: String,
    /// Over which connections.
    pub point: String,
    /// In which respect.
    pub metric: Metric,
    /// In the first run and in the second, each interval by itself: ns, for each request of throughput and
    /// CPU time; bytes.
    pub values: [Interval; 2],
    /// The second / the first, simultaneous over the servers and metrics at the point: below 1 is better.
    pub change: Interval,
    /// What the change supports. The blocks that would decide are those of each run.
    pub verdict: Verdict,
    /// Adjacent blocks were merged because they depend, or may depend, on each other.
    pub merged: bool,
}

/// A server at a point in both runs.
pub(crate) struct Pair<'r> {
    pub subject: String,
    pub point: String,
    /// Its blocks in each run.
    pub visits: [Vec<&'r Visit<'r>>; 2],
}

/// The respects in which two runs are compared at a point: of servers that the lab starts, those in which they
/// are compared with each other there, and their memory.
pub(crate) fn respects(plan: &Plan, point: PointId) -> &'static [Metric] {
    match (plan.serving(), plan.is_open(point)) {
        (None, _) => &Metric::BETWEEN_RUNS,
        (Some(_), true) => metrics(plan, point),
        (Some(_), false) => &[Metric::Throughput, Metric::ServerCpu, Metric::ServerMemory],
    }
}

/// What changed at one point for all servers in such respects, by server, then metric, at a level of `1 - alpha` for all that
/// is compared there together (Bonferroni). `by_itself`: the same of a single figure.
pub(crate) fn changes(
    pairs: &[Pair],
    metrics: &[Metric],
    seed: u64,
    alpha: f64,
    by_itself: f64,
    margin: f64,
) -> Vec<MetricChange> {
    let respects: Vec<(&Pair, Metric)> = pairs
        .iter()
        .flat_map(|pair| metrics.iter().map(move |metric| (pair, *metric)))
        .filter(|(pair, metric)| pair.visits.iter().all(|visits| has(visits, *metric)))
        .collect();
    let level = Level {
        alpha,
        family: respects.len(),
    };
    let found = respects.into_iter().filter_map(|(pair, metric)| {
        let (values, ratio) = match metric.per_10_000() {
            Some(_) => pooled(pair, metric, seed, level, by_itself)?,
            None => by_blocks(pair, metric, level, by_itself)?,
        };
        Some(MetricChange {
            subject: pair.subject.clone(),
            point: pair.point.clone(),
            metric,
            values,
            change: ratio.interval,
            verdict: verdict(&ratio, level, margin),
            merged: ratio.width > 1,
        })
    });
    found.collect()
}

/// Whether a run can be compared in this respect: it is known in every block, and no errors take its place.
fn has(visits: &[&Visit], metric: Metric) -> bool {
    let served = visits
        .iter()
        .fold(0, |sum: u64, v| sum.saturating_add(v.served));
    let known = match metric.per_10_000() {
        Some(part) => quantiles::is_given(served as f64, part),
        None => visits.iter().all(|v| value(v, metric).is_some()),
    };
    !visits.is_empty() && known && !errors_hide(visits, metric)
}

/// Compared by the values of the blocks.
fn by_blocks(
    pair: &Pair,
    metric: Metric,
    level: Level,
    by_itself: f64,
) -> Option<([Interval; 2], Ratio)> {
    let values = pair.visits.each_ref().map(|visits| {
        let values = visits.iter().filter_map(|v| value(v, metric));
        values.collect::<Vec<f64>>()
    });
    let [first, second] = values.each_ref();
    let logs = |values: &[f64]| values.iter().map(|v| v.ln()).collect::<Vec<f64>>();
    let found = change(&logs(first), &logs(second), level)?;
    let median = |values: &[f64]| order::median_interval(values, by_itself);
    Some(([median(first)?, median(second)?], found))
}

/// Compared by all requests of each run together.
fn pooled(
    pair: &Pair,
    metric: Metric,
    seed: u64,
    level: Level,
    by_itself: f64,
) -> Option<([Interval; 2], Ratio)> {
    let at = |alpha: f64| {
        let of = |visits: &Vec<&Visit>| {
            let (found, depending) = quantiles(seed, alpha, visits, |s| &s.response);
            Some((quantile(&found, metric)?, depending?))
        };
        let [first, second] = pair.visits.each_ref().map(of);
        Some([first?, second?])
    };
    let [first, second] = at(level.each())?;
    let values = at(by_itself)?.map(|(value, _)| value);
    Some((values, quotient_of(first, second, level)))
}

fn quantile(quantiles: &Quantiles, metric: Metric) -> Option<Interval> {
    let found = match metric {
        Metric::P50 => quantiles.p50_ns,
        Metric::P90 => quantiles.p90_ns,
        Metric::P99 => quantiles.p99_ns,
        Metric::P999 => quantiles.p999_ns,
        Metric::Throughput | Metric::ServerCpu | Metric::ServerMemory => None,
    };
    // 0 lies below the clock's resolution.
    let least = |ns: f64| ns.max(1.0);
    found.map(|i| Interval {
        estimate: least(i.estimate),
        low: least(i.low),
        high: least(i.high),
        level: i.level,
    })
}

/// The second / the first, of intervals that hold each at its part of the level. There is no p-value.
fn quotient_of(first: (Interval, Merged), second: (Interval, Merged), level: Level) -> Ratio {
    let interval = quotient(&first.0, &second.0);
    let merged = [first.1, second.1];
    let blocks = merged.each_ref().map(|m| m.values.len() as f64);
    let needed = family::blocks_needed(level.alpha, level.family);
    let enough = |m: &Merged| needed.is_some_and(|n| m.values.len() >= n as usize);
    let all = 1.0 - level.family.max(1) as f64 * (1.0 - interval.level);
    Ratio {
        interval: Interval {
            level: all.max(0.0),
            ..interval
        },
        p: f64::NAN,
        values: (2.0 / (1.0 / blocks[0] + 1.0 / blocks[1])).max(1.0) as u32,
        width: merged.iter().map(|m| m.width).max().unwrap_or(1),
        dependent: merged.iter().any(|m| m.dependent),
        unresolved: merged.iter().any(|m| m.unresolved),
        sufficient: merged.iter().all(enough),
    }
}
