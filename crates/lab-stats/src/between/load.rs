// SPDX-License-Identifier: Apache-2.0
//! Compares two load runs that were not interleaved, metric by metric.
//!
//! Blocks of the two runs are not paired. Rates and costs are compared by their values in each
//! block. Percentiles are computed from all requests of a run together, because a percentile of one
//! block does not reflect stalls in other blocks.

use super::changed::Changed;
use super::facts::ProgramMatch;
use super::side::{PointPair, Sides};
use crate::change::{change, quotient};
use crate::load::overload::is_overloaded;
use crate::load::quantiles::{self, Grouping, PARTS, at_least_1, quantiles};
use crate::load::visits::{Distribution, Visit, Visits, per_10_000, total};
use crate::load::{hidden, is_generators, unless_hidden};
use crate::order;
use crate::outlook::{Outlook, SAME_ALPHA};
use crate::ratio::{Level, Ratio};
use crate::verdict::verdict;
use lab_model::{Interval, Metric, PointId};
use std::iter::zip;

/// A server at a point, its visits in both runs, and a metric in which the two runs can be
/// compared.
type ComparablePair<'v, 'r> = (PointPair, [Vec<&'v Visit<'r>>; 2], &'static Metric);

/// Returns the changes of all servers. Their intervals are simultaneous at level `1 - alpha` over
/// all comparisons (Bonferroni). `metrics` are the compared metrics of a point.
pub(crate) fn changes(
    sides: &Sides,
    points: &[[PointId; 2]],
    metrics: impl Fn(PointId) -> &'static [Metric],
) -> Vec<Changed> {
    let visits = sides
        .0
        .each_ref()
        .map(|side| Visits::new(side.run, side.plan));
    let mut compared: Vec<ComparablePair> = Vec::new();
    for &points in points {
        let metrics = metrics(points[0]);
        for pair in sides.measured(points) {
            let of = |i: usize| visits[i].by_replicate(pair.subjects[i], pair.points[i]);
            let paired = [0, 1].map(|i| of(i).flatten().collect::<Vec<&Visit>>());
            let over = |i: usize| is_overloaded(sides.0[i].plan, pair.points[i], &paired[i]);
            let overloaded = [0, 1].into_iter().any(over);
            let comparable = metrics.iter().filter(|m| {
                let is_reported = !overloaded || per_10_000(m).is_none();
                is_reported && paired.iter().all(|visits| is_comparable(visits, m))
            });
            compared.extend(comparable.map(|metric| (pair, paired.clone(), metric)));
        }
    }
    let level = Level {
        alpha: sides.alpha_of_target(),
        family: compared.len(),
    };
    compared
        .iter()
        .filter_map(|pair| changed(sides, pair, level))
        .collect()
}

fn changed(
    sides: &Sides,
    (pair, visits, metric): &ComparablePair,
    level: Level,
) -> Option<Changed> {
    let (alone, margin) = (sides.level_without_verdict().alpha, sides.margin());
    let (values, ratio) = if let Some(part) = per_10_000(metric) {
        pooled(visits, part, level, alone)?
    } else {
        by_blocks(visits, metric, level, alone)?
    };
    let verdict = verdict(&ratio, sides.margins(margin), &Outlook::new(SAME_ALPHA));
    let verdict = unless_hidden(verdict, || is_the_generators(sides, visits, metric));
    Some(Changed {
        program: ProgramMatch::Unknown,
        verdict: Some(verdict),
        ..sides.changed(pair, (*metric).clone(), values, &ratio)
    })
}

/// Returns true if the generator's own latency may exceed a tenth of a percentile in either run.
fn is_the_generators(sides: &Sides, visits: &[Vec<&Visit>; 2], metric: &Metric) -> bool {
    let part = per_10_000(metric).and_then(|part| PARTS.iter().position(|p| *p == part));
    let alpha = sides.level_without_verdict().alpha;
    zip(&sides.0, visits).any(|(side, visits)| {
        let of = |of: Distribution| Some(quantiles(alpha, visits, of).0.parts[part?]?.estimate);
        let latencies = of(|s| &s.response).zip(of(|s| &s.send_delay));
        let load = side.plan.load().zip(latencies);
        load.is_some_and(|(load, (response, send_delay))| is_generators(load, response, send_delay))
    })
}

/// Returns true if a run has comparable values of `metric`: every block has a value, and failed
/// requests do not hide it.
fn is_comparable(visits: &[&Visit], metric: &Metric) -> bool {
    let served = total(visits, |v| v.served);
    match per_10_000(metric) {
        _ if visits.is_empty() => false,
        Some(part) => {
            let failed = total(visits, |v| v.failed());
            quantiles::has_enough_values(served as f64, part) && !hidden(failed, served, part)
        }
        None => visits.iter().all(|v| v.value(metric).is_some()),
    }
}

/// Compares the values of the two runs' blocks.
fn by_blocks(
    visits: &[Vec<&Visit>; 2],
    metric: &Metric,
    level: Level,
    alone: f64,
) -> Option<([Interval; 2], Ratio)> {
    let values = visits.each_ref().map(|visits| {
        let values = visits.iter().filter_map(|v| v.value(metric));
        values.collect::<Vec<f64>>()
    });
    let [first, second] = values.each_ref();
    let logs = |values: &[f64]| values.iter().map(|v| v.ln()).collect::<Vec<f64>>();
    let found = change(&logs(first), &logs(second), level)?;
    let median = |values: &[f64]| order::median_interval(values, alone);
    Some(([median(first)?, median(second)?], found))
}

/// Compares a percentile of all requests between the two runs.
fn pooled(
    visits: &[Vec<&Visit>; 2],
    per_10_000: u32,
    level: Level,
    alone: f64,
) -> Option<([Interval; 2], Ratio)> {
    let which = PARTS.iter().position(|part| *part == per_10_000)?;
    let at = |alpha: f64| {
        let of = |visits: &Vec<&Visit>| {
            let (found, groupings) = quantiles(alpha, visits, |s| &s.response);
            Some((at_least_1(found.parts[which]?), groupings[which]?))
        };
        let [first, second] = visits.each_ref().map(of);
        Some([first?, second?])
    };
    let [first, second] = at(level.each())?;
    let values = at(alone)?.map(|(value, _)| value);
    Some((values, quotient_of([first, second], per_10_000)))
}

/// Returns the ratio of the second interval to the first.
///
/// The intervals of both runs and the interval of the ratio have the confidence level of a single
/// comparison.
fn quotient_of([first, second]: [(Interval, Grouping); 2], per_10_000: u32) -> Ratio {
    let groupings = [first.1, second.1];
    let each = groupings.map(|grouping| 1.0 / f64::from(grouping.groups));
    let common = Grouping {
        groups: (2.0 / (each[0] + each[1])) as u32,
        ..Grouping::common(groupings)
    };
    common.ratio(quotient(&first.0, &second.0, 0.0), per_10_000)
}
