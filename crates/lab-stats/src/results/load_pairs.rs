// SPDX-License-Identifier: Apache-2.0
//! Compares servers under load at each point, in the metrics that allow a comparison there.

use super::compare::{ComparisonFamily, Pair, Pooled, Question};
use super::levels::{Blocks, Levels};
use super::load_traits::LoadTraits;
use super::{Cell, Key, Shift};
use crate::analysis::Verdict;
use crate::load::quantiles::{self, Tails};
use crate::load::visits::{self, Visit, Visits, per_10_000};
use crate::load::{OWN_LATENCY, hidden, is_generators};
use crate::ratio::Ratio;
use crate::sign_flip::Logs;
use lab_model::{Interval, Metric, Plan, PointId, SubjectId, SubjectPoint};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Adds the comparisons of servers at every point, in every metric for which both servers have
/// values.
///
/// For rates and costs, each block yields the logarithm of subject / baseline over all slices of
/// the block. Passes are mirrored, so drift cancels out. Percentiles are computed from all requests
/// of all blocks. An overloaded server has no percentiles.
pub(super) fn compare_at_points<'v>(
    family: &mut ComparisonFamily<'v, '_>,
    visits: &'v Visits,
    overloaded: &HashSet<SubjectPoint>,
    traits: &LoadTraits,
) -> Vec<Shift> {
    let plan = family.basis.plan;
    let mut shifts = Vec::new();
    for point in plan.points.ids() {
        let ranked = match plan.is_open(point) {
            true => traits.ranked_open,
            false => traits.ranked_closed,
        };
        let (percentiles, rates): (Vec<Metric>, Vec<Metric>) = traits
            .compared(plan.is_open(point))
            .iter()
            .cloned()
            .partition(|metric| per_10_000(metric).is_some());
        let question = Question {
            point: Some(point),
            judged: &rates,
            ranked,
        };
        family.compare_at(&question, |subject, metric| {
            let logs = log_ratios(visits, (subject, plan.baseline), point, metric);
            Logs::of_subject(subject, logs)
        });
        let parts: Vec<u32> = percentiles.iter().filter_map(per_10_000).collect();
        let pairs: RefCell<HashMap<SubjectId, Option<Rc<PairPercentiles>>>> = RefCell::default();
        family.compare_pooled(point, &percentiles, ranked, |(subject, other), metric| {
            let part = per_10_000(metric)?;
            if [subject, other]
                .iter()
                .any(|&s| overloaded.contains(&(s, point)))
            {
                return None;
            }
            let mut pairs = pairs.borrow_mut();
            let pair = pairs.entry(subject).or_insert_with(|| {
                let blocks = visits.common([other, subject], point)?;
                Some(Rc::new(PairPercentiles::new(plan, point, blocks, &parts)))
            });
            let pair = Rc::clone(pair.as_ref()?);
            if pair
                .blocks
                .iter()
                .any(|blocks| lacks_percentile(blocks, part))
            {
                return None;
            }
            Some(Pooled {
                has_interval: pair.has_interval(part),
                ratio: Box::new(move |alpha| pair.ratio(part, alpha)),
            })
        });
        let pairs = pairs.into_inner().into_iter();
        let shift = |(subject, pair): (SubjectId, Option<Rc<PairPercentiles>>)| {
            let parts = pair?.shift.clone();
            (parts.len() > 1).then_some(Shift {
                subject,
                point,
                parts,
            })
        };
        shifts.extend(pairs.filter_map(shift));
    }
    shifts.sort_by_key(|shift| (shift.point, shift.subject));
    shifts
}

/// The blocks that contain both of two compared servers, with the statistics of their
/// distributions.
///
/// The distributions are read again for each confidence level, because caching them for all pairs
/// of servers would need a lot of memory.
struct PairPercentiles<'v, 'r> {
    blocks: [Vec<&'v Visit<'r>>; 2],
    alpha: f64,
    /// The percentiles, each with a flag that is true if both servers have an interval for it.
    parts: Vec<(u32, bool)>,
    /// The shift function of an open loop.
    shift: Vec<(u32, Interval)>,
    /// The ratios of all percentiles at the most recently requested level.
    ratios: RefCell<Option<(f64, Vec<Option<Ratio>>)>>,
}

impl<'v, 'r> PairPercentiles<'v, 'r> {
    fn new(
        plan: &Plan,
        point: PointId,
        blocks: [Vec<&'v Visit<'r>>; 2],
        parts: &[u32],
    ) -> PairPercentiles<'v, 'r> {
        let alpha = plan.measure.alpha;
        let tails = tails(&blocks, alpha);
        let parts = parts.iter();
        PairPercentiles {
            parts: parts
                .map(|&part| (part, quantiles::have_intervals(&tails, part)))
                .collect(),
            shift: if plan.is_open(point) {
                quantiles::shift(&tails, alpha)
            } else {
                Vec::new()
            },
            blocks,
            alpha,
            ratios: RefCell::new(None),
        }
    }

    fn has_interval(&self, part: u32) -> bool {
        self.parts.contains(&(part, true))
    }

    fn ratio(&self, part: u32, alpha: f64) -> Option<Ratio> {
        let mut cached = self.ratios.borrow_mut();
        if cached.as_ref().is_none_or(|(level, _)| *level != alpha) {
            let tails = tails(&self.blocks, self.alpha);
            let parts = self.parts.iter();
            let ratios = parts.map(|(part, _)| quantiles::ratio(&tails, *part, alpha));
            *cached = Some((alpha, ratios.collect()));
        }
        let at = self.parts.iter().position(|(cached, _)| *cached == part)?;
        cached.as_ref()?.1[at]
    }
}

fn tails(blocks: &[Vec<&Visit>; 2], alpha: f64) -> [Tails; 2] {
    let of = |blocks: &Vec<&Visit>| Tails::new(alpha, blocks, |s| &s.response);
    blocks.each_ref().map(of)
}

/// Returns true if errors hide a percentile, or if there are too few requests for the percentile.
fn lacks_percentile(blocks: &[&Visit], per_10_000: u32) -> bool {
    let [served, failed] = [
        visits::total(blocks, |v| v.served),
        visits::total(blocks, |v| v.failed()),
    ];
    hidden(failed, served, per_10_000) || !quantiles::has_enough_values(served as f64, per_10_000)
}

/// Returns true if the generator's own latency may exceed a tenth of a percentile of the server or
/// of the baseline.
pub(super) fn is_the_generators(
    plan: &Plan,
    levels: &Levels,
    Key {
        subject,
        point,
        metric,
    }: &Key,
) -> bool {
    let send_delay = OWN_LATENCY.iter().find(|(response, _)| response == metric);
    let Some((load, (response, send_delay))) = plan.load().zip(send_delay) else {
        return false;
    };
    [*subject, plan.baseline].into_iter().any(|subject| {
        let of = |metric: &Metric| {
            let of = |cell: &&Cell| {
                (cell.key.subject, cell.key.point, &cell.key.metric) == (subject, *point, metric)
            };
            levels.cells.iter().find(of).map(|cell| cell.value.value())
        };
        let latencies = of(response).zip(of(send_delay));
        latencies.is_some_and(|(response, send_delay)| is_generators(load, response, send_delay))
    })
}

/// Returns true if a throughput comparison reflects the servers instead of the generator.
///
/// If the generator limited only the server that is ahead, the true difference is at least as
/// large, so the verdict is valid. In all other cases in which the generator limited a server, the
/// comparison reflects the generator.
pub(super) fn is_the_servers(plan: &Plan, limited: &HashSet<SubjectPoint>, pair: &Pair) -> bool {
    let found = &pair.comparison;
    let Some(point) = found.key.point else {
        return true;
    };
    let limited = |subject| limited.contains(&(subject, point));
    match (limited(plan.baseline), limited(found.key.subject)) {
        _ if found.key.metric != Metric::THROUGHPUT => true,
        (false, false) => true,
        (true, false) => found.verdict == Some(Verdict::Slower),
        (false, true) => found.verdict == Some(Verdict::Faster),
        (true, true) => false,
    }
}

/// Returns the logarithm of the first server's value divided by the second server's value in each
/// block that contains both servers.
///
/// The result is empty if any of these blocks lacks a value of the metric.
fn log_ratios(
    visits: &Visits,
    (subject, baseline): (SubjectId, SubjectId),
    point: PointId,
    metric: &Metric,
) -> Blocks {
    let of = |subject| visits.of_blocks(subject, point);
    let pairs = of(subject).zip(of(baseline));
    let mut both = pairs.filter_map(|(a, b)| Some((a?, b?)));
    if both.any(|(a, b)| a.value(metric).is_none() || b.value(metric).is_none()) {
        return Blocks::new();
    }
    visits.mean_logs([subject, baseline], point, |visit| visit.value(metric))
}
