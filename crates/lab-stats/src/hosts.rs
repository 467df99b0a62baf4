// SPDX-License-Identifier: Apache-2.0
//! Blocks measured on multiple hosts: the ratio on each, and whether hosts differ by more than chance.

use crate::few_blocks::{self, Deviation};
use crate::load::visits::Visits;
use crate::random_effect::{self, GroupEffects};
use crate::spending;
use crate::table::{BatchTable, sound_plan};
use lab_model::{Agent, Block, Interval, Metric, Plan, PointId, Run, SubjectId, TargetId};
use std::iter::zip;

/// A host, and the blocks that it measured.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuringHost<'r> {
    /// One of its agents: a run that was resumed has more than one of a host.
    pub agent: &'r Agent,
    /// Complete blocks.
    pub blocks: usize,
    /// Numbers of blocks that were begun there, and not finished because the host was lost.
    pub lost: Vec<u32>,
}

/// Hosts that are alike in their processor and their system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostKind {
    /// The facts that distinguish it from other kinds, such as `AMD EPYC 7B13`.
    pub name: String,
    /// Indices into [`hosts`].
    pub hosts: Vec<usize>,
}

/// The facts of a host that make its kind.
const KIND_FACTS: [&str; 2] = ["cpu", "system"];

/// A subject against its target's baseline, host by host: the typical time of batches, the CPU time per request of
/// servers.
#[derive(Clone, Debug, PartialEq)]
pub struct HostEffect {
    /// The subject.
    pub subject: SubjectId,
    /// The target.
    pub target: TargetId,
    /// The point; `None`: the geometric mean over all points of the target, if it has more than one.
    pub point: Option<PointId>,
    /// On each host, in the order of [`hosts`]: the ratio with an interval of its own; `None`: fewer than two blocks.
    pub ratios: Vec<Option<Interval>>,
    /// The ratio on each kind of host, over all of its blocks, in the order of [`kinds`].
    pub on_kinds: Vec<Option<Interval>>,
    /// p-value of kinds having one mean, by the scatter of hosts of one kind; `None`: no kind has two hosts.
    pub kinds_p: Option<f64>,
    /// Kinds differ by more than chance explains, at that level.
    pub kinds_differ: bool,
    /// How much the logarithms of the ratios differ between hosts.
    pub between: GroupEffects,
    /// They differ by more than chance explains, at a level that holds for all of a run together.
    pub differ: bool,
}

/// The hosts of a run, in the order of its file; empty if this machine measured.
pub fn hosts(run: &Run) -> Vec<MeasuringHost<'_>> {
    let mut hosts: Vec<MeasuringHost> = Vec::new();
    for agent in &run.agents {
        if !hosts.iter().any(|host| is_same(host.agent, agent)) {
            hosts.push(MeasuringHost {
                agent,
                blocks: 0,
                lost: Vec::new(),
            });
        }
    }
    for (block, measured) in run.blocks.iter().filter_map(|b| Some((b, b.agent?))) {
        let Some(agent) = run.agents.get(measured) else {
            continue;
        };
        let mut hosts = hosts.iter_mut();
        if let Some(host) = hosts.find(|host| is_same(host.agent, agent)) {
            match block.state {
                lab_model::BlockState::Complete => host.blocks += 1,
                lab_model::BlockState::Incomplete if agent.lost.is_some() => {
                    host.lost.push(block.number);
                }
                _ => {}
            }
            // Keep the agent that was lost: the reason is reported.
            if agent.lost.is_some() {
                host.agent = agent;
            }
        }
    }
    hosts
}

/// The kinds of the hosts that have blocks, in the order of their first; none: they are all of one.
pub fn kinds(hosts: &[MeasuringHost]) -> Vec<HostKind> {
    let fact = |host: usize, key: &str| {
        let host = &hosts[host].agent.host;
        host.fact(key).unwrap_or_default()
    };
    let with_blocks: Vec<usize> = (0..hosts.len()).filter(|&h| hosts[h].blocks > 0).collect();
    let varies = |key: &&str| {
        let mut all = with_blocks.iter().map(|&host| fact(host, key));
        let first = all.next();
        all.any(|other| Some(other) != first)
    };
    let telling: Vec<&str> = KIND_FACTS.into_iter().filter(varies).collect();
    let mut kinds: Vec<HostKind> = Vec::new();
    for host in with_blocks {
        let words: Vec<&str> = telling.iter().map(|key| fact(host, key)).collect();
        let name = words.join(", ");
        match kinds.iter_mut().find(|kind| kind.name == name) {
            Some(kind) => kind.hosts.push(host),
            None => kinds.push(HostKind {
                name,
                hosts: vec![host],
            }),
        }
    }
    match kinds.len() {
        1 => Vec::new(),
        _ => kinds,
    }
}

fn is_same(a: &Agent, b: &Agent) -> bool {
    (&a.name, &a.machine) == (&b.name, &b.machine)
}

/// The effects of hosts on each compared subject, over all points and at each; empty if fewer than two hosts
/// have blocks.
pub fn effects(run: &Run) -> Vec<HostEffect> {
    let (Some(plan), hosts) = (sound_plan(run), hosts(run)) else {
        return Vec::new();
    };
    if hosts.iter().filter(|host| host.blocks > 0).count() < 2 {
        return Vec::new();
    }
    let measured = BlockValues::new(run, plan);
    let blocks: Vec<Option<usize>> = run
        .complete_blocks()
        .map(|block| host_of(run, &hosts, block))
        .collect();
    let places = places(plan);
    let compared: Vec<(ComparedScope, Vec<Vec<f64>>)> = places
        .into_iter()
        .map(|place| {
            let logs = place.logs(plan, &measured);
            let mut by_host = vec![Vec::new(); hosts.len()];
            for (host, log) in blocks.iter().zip(logs) {
                if let (Some(host), Some(log)) = (host, log) {
                    by_host[*host].push(log);
                }
            }
            (place, by_host)
        })
        .collect();
    let alpha = spending::alpha(run, plan);
    let family = alpha / compared.len().max(1) as f64;
    let kinds = kinds(&hosts);
    let effect = |(place, by_host): (ComparedScope, Vec<Vec<f64>>)| {
        let between = random_effect::between(&by_host, family)?;
        let on_kind = |kind: &HostKind| {
            let logs = kind.hosts.iter().flat_map(|&host| &by_host[host]);
            ratio(&logs.copied().collect::<Vec<f64>>(), alpha)
        };
        let kinds_p = chance_of_kinds(&kinds, &by_host);
        Some(HostEffect {
            subject: place.subject,
            target: plan.subjects[place.subject].target,
            point: place.point,
            ratios: by_host.iter().map(|logs| ratio(logs, alpha)).collect(),
            on_kinds: kinds.iter().map(on_kind).collect(),
            kinds_p,
            kinds_differ: kinds_p.is_some_and(|p| p < family),
            between,
            differ: between.p < family,
        })
    };
    compared.into_iter().filter_map(effect).collect()
}

/// The p-value that all kinds have one mean, from the means of the hosts of each kind.
fn chance_of_kinds(kinds: &[HostKind], by_host: &[Vec<f64>]) -> Option<f64> {
    let mean = |host: &usize| {
        let logs = &by_host[*host];
        (!logs.is_empty()).then(|| logs.iter().sum::<f64>() / logs.len() as f64)
    };
    let means = kinds.iter().map(|kind| kind.hosts.iter().filter_map(mean));
    let means: Vec<Vec<f64>> = means.map(Iterator::collect).collect();
    random_effect::between(&means, 0.05).map(|between| between.p)
}

fn host_of(run: &Run, hosts: &[MeasuringHost], block: &Block) -> Option<usize> {
    let agent = run.agents.get(block.agent?)?;
    hosts.iter().position(|host| is_same(host.agent, agent))
}

/// The reduced samples or slices of a run.
enum BlockValues<'r> {
    Batches(BatchTable),
    Servers(Visits<'r>),
}

impl<'r> BlockValues<'r> {
    fn new(run: &'r Run, plan: &Plan) -> BlockValues<'r> {
        match plan.serving() {
            None => BlockValues::Batches(BatchTable::new(run, plan)),
            Some(_) => BlockValues::Servers(Visits::new(run, plan)),
        }
    }

    /// The logarithm of the ratio in each block, if that has both.
    fn log_ratios(
        &self,
        subject: SubjectId,
        baseline: SubjectId,
        point: PointId,
    ) -> Vec<Option<f64>> {
        match self {
            BlockValues::Batches(table) => table.log_ratios(subject, baseline, point),
            BlockValues::Servers(visits) => {
                let pairs = zip(visits.of(subject, point), visits.of(baseline, point));
                let cpu = &Metric::SERVER_CPU;
                pairs
                    .map(|(a, b)| Some((a?.value(cpu)? / b?.value(cpu)?).ln()))
                    .collect()
            }
        }
    }
}

/// A subject, at a point or over all points.
struct ComparedScope {
    subject: SubjectId,
    point: Option<PointId>,
    points: Vec<PointId>,
}

/// The scopes of comparison: all points, and each point.
fn places(plan: &Plan) -> Vec<ComparedScope> {
    let mut places = Vec::new();
    for subject in plan.compared() {
        let target = plan.subjects[subject].target;
        let counts = |p: &PointId| {
            let case = plan.case(*p);
            plan.points[*p].target == target
                && plan.takes_part(subject, *p)
                && case.rate.is_none()
                && !(plan.serving().is_some() && plan.is_open(*p))
                && !case.uncompared
        };
        let points: Vec<PointId> = (0..plan.points.len()).filter(counts).collect();
        if subject == plan.baseline_on(target) {
            continue;
        }
        if points.len() > 1 {
            places.push(ComparedScope {
                subject,
                point: None,
                points: points.clone(),
            });
        }
        places.extend(points.into_iter().map(|point| ComparedScope {
            subject,
            point: Some(point),
            points: vec![point],
        }));
    }
    places
}

impl ComparedScope {
    /// The logarithm of the ratio in each block that has it at all points.
    fn logs(&self, plan: &Plan, measured: &BlockValues) -> Vec<Option<f64>> {
        let baseline = plan.baseline_on(plan.subjects[self.subject].target);
        let each = self.points.iter();
        let each = each.map(|&point| measured.log_ratios(self.subject, baseline, point));
        let each: Vec<Vec<Option<f64>>> = each.collect();
        let mean = |block: usize| {
            let logs = each.iter().map(|logs| logs[block]);
            let sum: Option<f64> = logs.sum();
            Some(sum? / each.len() as f64)
        };
        let blocks = each.first().map_or(0, Vec::len);
        (0..blocks).map(mean).collect()
    }
}

/// By Student's t, by itself.
fn ratio(logs: &[f64], alpha: f64) -> Option<Interval> {
    if logs.len() < 2 {
        return None;
    }
    let (of_logs, _) = few_blocks::interval(logs, alpha, &Deviation::BY_ITSELF, 0.0);
    Some(Interval {
        estimate: of_logs.estimate.exp(),
        low: of_logs.low.exp(),
        high: of_logs.high.exp(),
        ..of_logs
    })
}
