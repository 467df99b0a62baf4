// SPDX-License-Identifier: Apache-2.0
//! Every server against the baseline at every point, in every respect that both have.

use super::analysis::{LoadComparison, LoadControl, Metric};
use super::cells::Measured;
use super::hidden;
use super::judge::judge;
use super::visits::{Visit, Visits};
use crate::analysis::{Refusal, Verdict};
use crate::compare::{candidates, noise_floor};
use crate::ratio::{Level, Ratio};
use crate::refusals::{self, refused};
use lab_model::{Plan, PointId, Run, SubjectId};
use std::collections::HashSet;

/// All comparisons of a load run.
#[derive(Default)]
pub struct Compared {
    /// By point, then subject, then metric.
    pub pairs: Vec<Pair>,
    /// By point, then metric.
    pub controls: Vec<LoadControl>,
}

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
pub fn compare(
    plan: &Plan,
    visits: &Visits,
    measured: &[Measured],
    refusals: &[Refusal],
    alpha: f64,
) -> Compared {
    let limited = measured.iter().map(|m| &m.cell);
    let limited = limited.filter(|cell| cell.saturated && plan.serving().is_some());
    let comparing = Comparing {
        plan,
        visits,
        refusals,
        limited: limited.map(|cell| (cell.subject, cell.point)).collect(),
        alpha,
    };
    let mut compared = Compared::default();
    for point in 0..plan.points.len() {
        comparing.at(point, &mut compared);
    }
    compared
}

/// The respects in which servers are compared at a point. Those that the lab starts are each offered a rate
/// of its own in an open loop, so that their throughputs say nothing there; and in a closed loop, in which
/// who stalls is asked less, their response times do not.
fn metrics(plan: &Plan, point: PointId) -> &'static [Metric] {
    match (plan.serving(), plan.is_open(point)) {
        (None, _) => &Metric::IN_TURNS,
        (Some(_), true) => &[Metric::P50, Metric::P90, Metric::P99],
        (Some(_), false) => &[Metric::Throughput, Metric::ServerCpu],
    }
}

/// What comparing needs to know.
struct Comparing<'a, 'r> {
    plan: &'a Plan,
    visits: &'a Visits<'r>,
    refusals: &'a [Refusal],
    /// Where the generator was the limit, not the server; of servers that the lab starts.
    limited: HashSet<(SubjectId, PointId)>,
    alpha: f64,
}

impl Comparing<'_, '_> {
    fn at(&self, point: PointId, compared: &mut Compared) {
        let metrics = metrics(self.plan, point);
        let taken = |&subject: &SubjectId| !refused(self.refusals, subject, point);
        let respects = |subject| Respects::new(self.visits, subject, point, metrics);
        let baseline = respects(self.plan.baseline);
        let mut floors: Vec<LoadControl> = Vec::new();
        if let Some(control) = self.plan.control().filter(taken) {
            let control = respects(control);
            let floor = |&metric: &Metric| {
                let floor = noise_floor(&control.against(&baseline, metric)?, self.plan)?;
                Some(LoadControl {
                    point,
                    metric,
                    ratio: floor.ratio.interval,
                    met: floor.met,
                    margin: floor.margin,
                })
            };
            floors.extend(metrics.iter().filter_map(floor));
        }
        let margin = |(_, metric): &(SubjectId, Metric)| {
            let floor = floors.iter().find(|floor| floor.metric == *metric);
            floor.map_or(self.plan.measure.margin, |floor| floor.margin)
        };
        let mut all = Vec::new();
        for subject in candidates(self.plan).filter(taken) {
            let mine = respects(subject);
            let against = |&metric| Some(((subject, metric), mine.against(&baseline, metric)?));
            all.extend(metrics.iter().filter_map(against));
        }
        let judged = judge(all, self.alpha, margin).into_iter();
        let pairs = judged.map(|((subject, metric), judged)| Pair {
            comparison: LoadComparison {
                subject,
                point,
                metric,
                blocks: judged.ratio.values,
                ratio: judged.ratio.interval,
                p: judged.p,
                verdict: judged.verdict,
            },
            ratio: judged.ratio,
            level: judged.level,
        });
        compared
            .pairs
            .extend(pairs.filter(|pair| self.is_the_servers(&pair.comparison)));
        compared.controls.extend(floors);
    }

    /// Whether a throughput says something of the servers. Where the generator was the limit of the one
    /// that is ahead, the difference is at least as great, and the verdict holds; otherwise it is the
    /// generator that was compared.
    fn is_the_servers(&self, comparison: &LoadComparison) -> bool {
        let limited = |subject| self.limited.contains(&(subject, comparison.point));
        match (limited(self.plan.baseline), limited(comparison.subject)) {
            _ if comparison.metric != Metric::Throughput => true,
            (false, false) => true,
            (true, false) => comparison.verdict == Verdict::Slower,
            (false, true) => comparison.verdict == Verdict::Faster,
            (true, true) => false,
        }
    }
}

/// What a server has in every respect, by block.
struct Respects(Vec<Option<Block>>);

struct Block {
    served: u64,
    failed: u64,
    values: Vec<(Metric, Option<f64>)>,
}

impl Respects {
    fn new(visits: &Visits, subject: SubjectId, point: PointId, metrics: &[Metric]) -> Respects {
        let block = |visit: &Visit| Block {
            served: visit.served,
            failed: visit.failed(),
            values: metrics.iter().map(|&m| (m, value(visit, m))).collect(),
        };
        let blocks = visits.of(subject, point);
        Respects(blocks.map(|visit| visit.map(block)).collect())
    }

    /// For each block with both servers the logarithm of this one's / the other's. `None` where some block
    /// lacks the metric, or where errors take the place of a percentile.
    fn against(&self, other: &Respects, metric: Metric) -> Option<Vec<f64>> {
        let both = self.0.iter().zip(&other.0);
        let both = both.filter_map(|(a, b)| Some((a.as_ref()?, b.as_ref()?)));
        let (mine, theirs): (Vec<&Block>, Vec<&Block>) = both.unzip();
        if mine.is_empty() || any_hides(&mine, metric) || any_hides(&theirs, metric) {
            return None;
        }
        let pairs = mine.into_iter().zip(theirs);
        pairs
            .map(|(a, b)| Some((a.value(metric)? / b.value(metric)?).ln()))
            .collect()
    }
}

impl Block {
    fn value(&self, metric: Metric) -> Option<f64> {
        let found = self.values.iter().find(|(known, _)| *known == metric);
        found.and_then(|(_, value)| *value)
    }
}

/// Whether errors take the place of what is compared.
pub fn errors_hide(visits: &[&Visit], metric: Metric) -> bool {
    let counts = visits.iter().map(|v| (v.failed(), v.served));
    too_many(counts, metric)
}

fn any_hides(blocks: &[&Block], metric: Metric) -> bool {
    too_many(blocks.iter().map(|b| (b.failed, b.served)), metric)
}

/// Whether so many failed, beside those served, that a percentile is hidden.
fn too_many(counts: impl Iterator<Item = (u64, u64)>, metric: Metric) -> bool {
    let add = |a: (u64, u64), b: (u64, u64)| (a.0.saturating_add(b.0), a.1.saturating_add(b.1));
    let (failed, served) = counts.fold((0, 0), add);
    let part = metric.per_10_000();
    part.is_some_and(|part| hidden(failed, served, part))
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
