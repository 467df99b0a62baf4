// SPDX-License-Identifier: Apache-2.0
//! Memory, threads and start-up time over the whole run.

use super::compare::{ComparisonFamily, Question};
use super::judge::{Basis, noise_floor};
use super::levels::{BlockSummary, Blocks, Levels, key, log_ratios};
use super::{Over, Value};
use crate::load::visits::{Visit, Visits};
use crate::order;
use lab_model::{Block, IdVec, Metric, Plan, PointId, Resources, Run, SubjectId};

static MEMORY: [Metric; 1] = [Metric::SERVER_MEMORY];

/// Adds the start-up time and the resource usage of each program, from the complete blocks that
/// contain them.
pub(crate) fn of_programs(run: &Run, plan: &Plan, levels: &mut Levels) {
    for subject in plan.subjects.ids() {
        let over_blocks = |value: &dyn Fn(&Block) -> Option<f64>| -> Blocks {
            run.complete_blocks().map(value).collect()
        };
        let most = |value: fn(&Resources) -> Option<u64>| {
            over_blocks(&|block| {
                let values = resources(block, subject).filter_map(value);
                values.max().map(|n| n as f64)
            })
        };
        let startups = over_blocks(&|block| {
            let mut all = block.processes.iter();
            let process = all.find(|p| p.subject == subject)?;
            Some(process.startup_ns as f64)
        });
        let memory = at_end(run, subject, |r| r.rss_bytes);
        let has_values = |blocks: &Blocks| blocks.iter().any(Option::is_some);
        if !has_values(&startups) || !has_values(&memory) {
            continue;
        }
        for (metric, summary, blocks) in [
            (Metric::MEMORY, BlockSummary::Median, memory),
            (
                Metric::PEAK_MEMORY,
                BlockSummary::Median,
                most(|r| Some(r.peak_rss_bytes)),
            ),
            (Metric::STARTUP, BlockSummary::Median, startups),
            (
                Metric::THREADS,
                BlockSummary::Max,
                most(|r| Some(r.threads.into())),
            ),
            (
                Metric::SERVER_MEMORY,
                BlockSummary::Median,
                most(|r| r.server_bytes),
            ),
            (
                Metric::USER_CPU,
                BlockSummary::Middle,
                at_end(run, subject, |r| r.user_ns),
            ),
            (
                Metric::SYSTEM_CPU,
                BlockSummary::Middle,
                at_end(run, subject, |r| r.sys_ns),
            ),
        ] {
            levels.add(key(subject, None, &metric), summary, &blocks);
        }
    }
}

fn resources(block: &Block, subject: SubjectId) -> impl Iterator<Item = &Resources> {
    block.resources.iter().filter(move |r| r.subject == subject)
}

/// Adds the resource usage of each measured server.
///
/// Returns each server's memory after the load with the most connections, by block.
pub(crate) fn of_servers(
    basis: &Basis,
    visits: &Visits,
    levels: &mut Levels,
) -> IdVec<SubjectId, Blocks> {
    let plan = basis.plan;
    let points = || plan.points.ids();
    let most = points().map(|point| plan.connections(point)).max();
    let crowded = points().filter(|&point| Some(plan.connections(point)) == most);
    let crowded: Vec<PointId> = crowded.collect();
    let subjects = plan.subjects.ids();
    let memory: IdVec<SubjectId, Blocks> = subjects
        .clone()
        .map(|subject| {
            let bytes = max_over_points(visits, subject, &crowded, |v| v.server_bytes);
            bytes.into_iter().map(|n| n.filter(|n| *n > 0.0)).collect()
        })
        .collect();
    let all: Vec<PointId> = points().collect();
    for subject in subjects {
        let measured = |&point: &PointId| {
            visits
                .by_replicate(subject, point)
                .flatten()
                .next()
                .is_some()
        };
        if !all.iter().any(measured) {
            continue;
        }
        let memory_key = key(subject, None, &Metric::SERVER_MEMORY);
        levels.add(memory_key, BlockSummary::Median, &memory[subject]);
        startup(basis.run, subject, levels);
        let threads = max_over_points(visits, subject, &all, |v| v.server_threads.map(u64::from));
        levels.add(
            key(subject, None, &Metric::THREADS),
            BlockSummary::Max,
            &threads,
        );
    }
    memory
}

/// Adds comparisons of the memory of servers.
///
/// `memory` contains the memory of each server by block.
pub(crate) fn compare_memory(family: &mut ComparisonFamily, memory: &IdVec<SubjectId, Blocks>) {
    let base = &memory[family.basis.plan.baseline];
    let question = Question {
        point: None,
        judged: &MEMORY,
        ranked: &[],
    };
    family.compare_at(&question, |subject, _| logs(&memory[subject], base).into());
}

/// Adds the ranking of programs by the memory that they use at the end of a block.
pub(crate) fn rank_programs(family: &mut ComparisonFamily) {
    let Basis { run, plan, .. } = *family.basis;
    let memory = |subject| at_end(run, subject, |r| r.rss_bytes);
    let base = memory(plan.baseline);
    let floor = plan.control().and_then(|control| {
        let logs: Vec<f64> = logs(&memory(control), &base)
            .into_iter()
            .flatten()
            .collect();
        noise_floor(&logs, plan)
    });
    let has_values = |blocks: &Blocks| blocks.iter().any(Option::is_some);
    let against = family.basis.candidates();
    let against = against.map(|subject| (subject, logs(&memory(subject), &base)));
    let against = against.filter(|(_, logs)| has_values(logs)).collect();
    let margin = family.basis.margin(floor.as_ref());
    family.ranked_by(Over::At(None), &Metric::MEMORY, margin, against);
}

/// Returns the finite logarithms of subject / baseline, by block.
///
/// Memory can be 0, which has no finite logarithm.
fn logs(subject: &Blocks, base: &Blocks) -> Blocks {
    let logs = log_ratios(subject, base).into_iter();
    logs.map(|log| log.filter(|log| log.is_finite())).collect()
}

fn at_end(run: &Run, subject: SubjectId, value: fn(&Resources) -> u64) -> Blocks {
    let last = |block: &Block| resources(block, subject).last().map(|r| value(r) as f64);
    run.complete_blocks().map(last).collect()
}

/// Returns the maximum over the points in each block.
fn max_over_points(
    visits: &Visits,
    subject: SubjectId,
    points: &[PointId],
    value: impl Fn(&Visit) -> Option<u64>,
) -> Blocks {
    let at = |&point: &PointId| -> Vec<Option<u64>> {
        let visits = visits.by_replicate(subject, point);
        visits.map(|visit| value(visit?)).collect()
    };
    let all: Vec<Vec<Option<u64>>> = points.iter().map(at).collect();
    let blocks = all.first().map_or(0, Vec::len);
    let most = |block: usize| all.iter().filter_map(|at| at[block]).max();
    (0..blocks)
        .map(|block| most(block).map(|n| n as f64))
        .collect()
}

/// Adds the median start-up time.
///
/// A server may be started more than once in a block.
fn startup(run: &Run, subject: SubjectId, levels: &mut Levels) {
    let startups = |block: &Block| -> Vec<f64> {
        let processes = block.processes.iter().filter(|p| p.subject == subject);
        processes.map(|process| process.startup_ns as f64).collect()
    };
    let blocks: Vec<Vec<f64>> = run.complete_blocks().map(startups).collect();
    let started = blocks.iter().filter(|times| !times.is_empty()).count();
    if let Some(interval) = order::median_interval(&blocks.concat(), levels.alpha) {
        let startup = key(subject, None, &Metric::STARTUP);
        levels.push(startup, started as u32, Value::Estimate(interval));
    }
}
