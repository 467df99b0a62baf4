// SPDX-License-Identifier: Apache-2.0
//! Every server against the baseline at every point, in every respect that both have.

use super::analysis::{LoadComparison, Metric};
use super::hidden;
use super::visits::{Visit, Visits};
use crate::analysis::Refusal;
use crate::compare::candidates;
use crate::family;
use crate::ratio::{Level, Ratio, ratio};
use crate::refusals::{self, refused};
use crate::verdict::verdict;
use lab_model::{Plan, PointId, Run, SubjectId};

/// A comparison and what it rests on.
pub struct Pair {
    /// What reports show.
    pub comparison: LoadComparison,
    /// Its ratio.
    pub ratio: Ratio,
    /// How sure it was asked to be.
    pub level: Level,
}

/// Compares the servers that are not refused with the baseline, at a level of `1 - alpha` for all that
/// is compared at one point together: Bonferroni over servers and metrics.
///
/// Each block yields, for each metric, the logarithm of subject / baseline of all its slices together:
/// passes are mirrored, so drift cancels. A percentile is compared where every block has enough requests
/// for it: blocks that have too few are the slow ones, and without them a server would look fast.
pub fn compare(plan: &Plan, visits: &Visits, refusals: &[Refusal], alpha: f64) -> Vec<Pair> {
    let points = 0..plan.points.len();
    points
        .flat_map(|point| compare_at(plan, visits, refusals, point, alpha))
        .collect()
}

fn compare_at(
    plan: &Plan,
    visits: &Visits,
    refusals: &[Refusal],
    point: PointId,
    alpha: f64,
) -> Vec<Pair> {
    let subjects = candidates(plan).filter(|&s| !refused(refusals, s, point));
    let respects: Vec<(SubjectId, Metric, Vec<f64>)> = subjects
        .flat_map(|subject| Metric::IN_TURNS.map(|metric| (subject, metric)))
        .filter_map(|(subject, metric)| {
            let logs = logs(plan, visits, subject, point, metric)?;
            Some((subject, metric, logs))
        })
        .collect();
    let level = Level {
        alpha,
        family: respects.len(),
    };
    let compared = respects.into_iter().filter_map(|(subject, metric, logs)| {
        let ratio = ratio(&logs, level)?;
        let comparison = LoadComparison {
            subject,
            point,
            metric,
            blocks: ratio.values,
            ratio: ratio.interval,
            p: ratio.p,
            verdict: verdict(&ratio, level, plan.measure.margin),
        };
        Some(Pair {
            comparison,
            ratio,
            level,
        })
    });
    let mut pairs: Vec<Pair> = compared.collect();
    let p: Vec<f64> = pairs.iter().map(|pair| pair.ratio.p).collect();
    let adjusted = pairs.iter_mut().zip(family::holm(&p));
    adjusted.for_each(|(pair, p)| pair.comparison.p = p);
    pairs
}

/// For each block with both servers the logarithm of subject / baseline. `None` where some block lacks
/// the metric, or where errors take the place of a percentile.
fn logs(
    plan: &Plan,
    visits: &Visits,
    subject: SubjectId,
    point: PointId,
    metric: Metric,
) -> Option<Vec<f64>> {
    let both = visits
        .of(subject, point)
        .zip(visits.of(plan.baseline, point));
    let both: Vec<(&Visit, &Visit)> = both.filter_map(|(a, b)| Some((a?, b?))).collect();
    let sides = both
        .iter()
        .copied()
        .unzip::<_, _, Vec<&Visit>, Vec<&Visit>>();
    if both.is_empty() || [&sides.0, &sides.1].iter().any(|v| errors_hide(v, metric)) {
        return None;
    }
    let log = |(a, b): &(&Visit, &Visit)| Some((value(a, metric)? / value(b, metric)?).ln());
    both.iter().map(log).collect()
}

/// Whether errors take the place of what is compared.
pub fn errors_hide(visits: &[&Visit], metric: Metric) -> bool {
    let sum = |part: fn(&Visit) -> u64| {
        let parts = visits.iter().map(|v| part(v));
        parts.fold(0, u64::saturating_add)
    };
    let part = metric.per_10_000();
    part.is_some_and(|part| hidden(sum(|v| v.failed()), sum(|v| v.served), part))
}

/// What a block says in some respect; `None`: nothing.
pub fn value(visit: &Visit, metric: Metric) -> Option<f64> {
    match (metric, metric.per_10_000()) {
        // 0 lies below the clock's resolution, and has no logarithm.
        (_, Some(part)) => visit.response_ns(part).map(|ns| ns.max(1.0)),
        (Metric::ServerCpu, _) => visit.server_ns_per_request(),
        (Metric::ServerMemory, _) => visit.server_bytes.map(|bytes| bytes.max(1) as f64),
        _ => visit.wall_ns_per_request(),
    }
}

/// What is not compared: what failed, and servers that served nothing in some block, for which there is
/// no ratio.
pub fn refusals(run: &Run, plan: &Plan, visits: &Visits) -> Vec<Refusal> {
    let mut all = refusals::refusals(run, plan);
    for point in 0..plan.points.len() {
        let idle = |subject| idle(visits, subject, point);
        let baseline = idle(plan.baseline);
        for subject in 0..plan.subjects.len() {
            let why = match (idle(subject), &baseline) {
                (Some(why), _) => why,
                (None, Some(why)) if visits.of(subject, point).flatten().next().is_some() => {
                    let name = &plan.subjects[plan.baseline].name;
                    format!("there is nothing to compare it with: the baseline {name} {why}")
                }
                _ => continue,
            };
            if !refused(&all, subject, point) {
                all.push(Refusal {
                    subject,
                    point: Some(point),
                    why,
                });
            }
        }
    }
    all.sort_by_key(|refusal| (refusal.subject, refusal.point));
    refusals::gathered(all, plan)
}

/// Where a server served nothing, in words.
fn idle(visits: &Visits, subject: SubjectId, point: PointId) -> Option<String> {
    let blocks: Vec<&Visit> = visits.of(subject, point).flatten().collect();
    let idle: Vec<&&Visit> = blocks.iter().filter(|v| v.served == 0).collect();
    let errors = idle.iter().flat_map(|v| &v.errors);
    let most = errors.max_by_key(|(_, count)| **count);
    let errors = most.map_or(String::new(), |(kind, _)| {
        format!(" (mostly {})", kind.name())
    });
    match (idle.len(), blocks.len()) {
        (0, _) => None,
        (idle, all) if idle == all => Some(format!("served nothing{errors}")),
        (idle, all) => Some(format!("served nothing in {idle} of {all} blocks{errors}")),
    }
}
