// SPDX-License-Identifier: Apache-2.0
//! Results from multiple hosts: the ratio on each host, and a test whether hosts differ by more
//! than chance explains.

use crate::few_blocks::{self, Deviation};
use crate::kind::{BlockRatios, kind_of};
use crate::random_effect::{self, GroupEffects};
use crate::spending;
use crate::table::sound_plan;
use lab_model::{Agent, Block, Interval, Plan, PointId, Run, SubjectId, TargetId};

/// A host and the blocks that it measured.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuringHost<'r> {
    /// An agent on the host. A host of a resumed run has more than one agent.
    pub agent: &'r Agent,
    /// The number of complete blocks.
    pub blocks: usize,
    /// The numbers of the blocks that the host started but did not finish, because its agent was
    /// lost.
    pub lost: Vec<u32>,
}

/// A kind of host: all hosts with the same processor and operating system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostKind {
    /// The facts that distinguish this kind from others, such as `AMD EPYC 7B13`.
    pub name: String,
    /// The indexes of the hosts in the result of [`hosts`].
    pub hosts: Vec<usize>,
}

/// The facts of a host that determine its kind.
const KIND_FACTS: [&str; 2] = ["cpu", "system"];

/// A comparison of a subject with the baseline of its target, host by host.
///
/// The compared value is the typical time of batches, or the CPU time per request of servers.
#[derive(Clone, Debug, PartialEq)]
pub struct HostEffect {
    /// The subject, which is not a baseline.
    pub subject: SubjectId,
    /// The target on which the subject works.
    pub target: TargetId,
    /// The point. `None` means the geometric mean over all points of the target, if the target has
    /// more than one point.
    pub point: Option<PointId>,
    /// The ratio on each host, in the order of [`hosts`], with an unadjusted interval. `None` means
    /// that the host has fewer than two blocks.
    pub ratios: Vec<Option<Interval>>,
    /// The ratio on each kind of host, in the order of [`kinds`], computed from all blocks of the
    /// kind.
    pub on_kinds: Vec<Option<Interval>>,
    /// The p-value of the hypothesis that all kinds have the same mean, relative to the variation
    /// between hosts of one kind. `None` means that no kind has two hosts.
    pub kinds_p: Option<f64>,
    /// True if kinds of hosts differ by more than chance explains, at the level of `differ`.
    pub kinds_differ: bool,
    /// The differences between hosts in the logarithms of the ratios.
    pub between: GroupEffects,
    /// True if hosts differ by more than chance explains, at a simultaneous level over the run.
    pub differ: bool,
}

/// Returns the hosts of a run in the order of its file.
///
/// Empty if this machine measured the run.
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
            // Keep the lost agent, because the reason for its loss is reported.
            if agent.lost.is_some() {
                host.agent = agent;
            }
        }
    }
    hosts
}

/// Returns the kinds of hosts that measured blocks, in the order of their first host.
///
/// Empty if all hosts are of one kind.
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

/// Returns the effects of hosts on each compared subject, over all points and at each point.
///
/// Empty if fewer than two hosts measured blocks.
pub fn effects(run: &Run) -> Vec<HostEffect> {
    let (Some(plan), hosts) = (sound_plan(run), hosts(run)) else {
        return Vec::new();
    };
    if hosts.iter().filter(|host| host.blocks > 0).count() < 2 {
        return Vec::new();
    }
    let ratios = kind_of(plan).block_ratios(run, plan);
    let blocks: Vec<Option<usize>> = run
        .complete_blocks()
        .map(|block| host_of(run, &hosts, block))
        .collect();
    let scopes = scopes(plan);
    let compared: Vec<(ComparedScope, Vec<Vec<f64>>)> = scopes
        .into_iter()
        .map(|scope| {
            let logs = scope.logs(plan, &ratios);
            let mut by_host = vec![Vec::new(); hosts.len()];
            for (host, log) in blocks.iter().zip(logs) {
                if let (Some(host), Some(log)) = (host, log) {
                    by_host[*host].push(log);
                }
            }
            (scope, by_host)
        })
        .collect();
    let alpha = spending::alpha(run, plan);
    let kinds = kinds(&hosts);
    // Each scope has a test of the hosts and, if the hosts differ in kind, a test of the kinds.
    let tests_per_scope = if kinds.is_empty() { 1 } else { 2 };
    let family = alpha / (compared.len().max(1) * tests_per_scope) as f64;
    let effect = |(scope, by_host): (ComparedScope, Vec<Vec<f64>>)| {
        let between = random_effect::estimate(&by_host, family)?;
        let on_kind = |kind: &HostKind| {
            let logs = kind.hosts.iter().flat_map(|&host| &by_host[host]);
            ratio(&logs.copied().collect::<Vec<f64>>(), alpha)
        };
        let kinds_p = chance_of_kinds(&kinds, &by_host);
        Some(HostEffect {
            subject: scope.subject,
            target: plan.subjects[scope.subject].target,
            point: scope.point,
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

/// Returns the p-value of the hypothesis that all kinds have the same mean, from the means of the
/// hosts of each kind.
fn chance_of_kinds(kinds: &[HostKind], by_host: &[Vec<f64>]) -> Option<f64> {
    let mean = |host: &usize| {
        let logs = &by_host[*host];
        (!logs.is_empty()).then(|| logs.iter().sum::<f64>() / logs.len() as f64)
    };
    let means = kinds.iter().map(|kind| kind.hosts.iter().filter_map(mean));
    let means: Vec<Vec<f64>> = means.map(Iterator::collect).collect();
    random_effect::estimate(&means, 0.05).map(|between| between.p)
}

fn host_of(run: &Run, hosts: &[MeasuringHost], block: &Block) -> Option<usize> {
    let agent = run.agents.get(block.agent?)?;
    hosts.iter().position(|host| is_same(host.agent, agent))
}

/// A subject at one point or over all points.
struct ComparedScope {
    subject: SubjectId,
    point: Option<PointId>,
    points: Vec<PointId>,
}

/// Returns the scopes in which subjects are compared: all points together, and each point.
fn scopes(plan: &Plan) -> Vec<ComparedScope> {
    let mut scopes = Vec::new();
    for subject in plan.compared() {
        let target = plan.subjects[subject].target;
        let counts = |p: &PointId| {
            let case = plan.case(*p);
            plan.points[*p].target == target
                && plan.takes_part(subject, *p)
                && case.rate.is_none()
                && !plan.is_open(*p)
                && !case.uncompared
        };
        let points: Vec<PointId> = plan.points.ids().filter(counts).collect();
        if subject == plan.baseline_for(target) {
            continue;
        }
        if points.len() > 1 {
            scopes.push(ComparedScope {
                subject,
                point: None,
                points: points.clone(),
            });
        }
        scopes.extend(points.into_iter().map(|point| ComparedScope {
            subject,
            point: Some(point),
            points: vec![point],
        }));
    }
    scopes
}

impl ComparedScope {
    /// Returns the logarithm of the ratio in each block, or `None` for a block that lacks a point.
    fn logs(&self, plan: &Plan, ratios: &BlockRatios) -> Vec<Option<f64>> {
        let baseline = plan.baseline_for(plan.subjects[self.subject].target);
        let each = self.points.iter();
        let each = each.map(|&point| ratios(self.subject, baseline, point));
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

/// Returns the ratio with an unadjusted interval from Student's t.
fn ratio(logs: &[f64], alpha: f64) -> Option<Interval> {
    if logs.len() < 2 {
        return None;
    }
    let (of_logs, _) = few_blocks::interval(logs, alpha, &Deviation::FROM_OWN_BLOCKS, 0.0);
    Some(Interval {
        estimate: of_logs.estimate.exp(),
        low: of_logs.low.exp(),
        high: of_logs.high.exp(),
        ..of_logs
    })
}
