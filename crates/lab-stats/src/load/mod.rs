// SPDX-License-Identifier: Apache-2.0
//! What a load run's slices say: rates and costs, quantiles of all its requests, verdicts.

pub mod analysis;
pub mod between;
mod cells;
mod compare;
mod judge;
mod quantiles;
mod served;
pub mod threshold;
pub(crate) mod visits;
mod warnings;

use crate::analysis::Scaling;
use crate::sweeps::{self, OneSubject, Sweep};
use crate::table::sound_plan;
use crate::{scaling, stopping};
use analysis::{LoadAnalysis, LoadCell};
use cells::Measured;
use lab_model::{BlockState, Plan, PointId, Run, SubjectId};
use std::collections::HashSet;
use visits::{Visit, Visits};

/// Analyses a load run, ended or not: its complete blocks. `None` for a run whose plan puts no load on
/// anybody, or contradicts itself.
pub fn load(run: &Run) -> Option<LoadAnalysis> {
    let plan = sound_plan(run)?;
    let load = plan.load.as_ref()?;
    let alpha = stopping::alpha(run, plan);
    let visits = Visits::new(run, plan);
    let measured = cells::cells(plan, &visits);
    let refusals = compare::refusals(run, plan, &visits);
    let compared = compare::compare(plan, &visits, &measured, &refusals, alpha);
    let disturbed = |block: &&lab_model::Block| block.state == BlockState::Disturbed;
    let disturbed = run.blocks.iter().filter(disturbed).count() as u32;
    let mut analysis = LoadAnalysis {
        blocks: run.complete_blocks().count() as u32,
        level: 1.0 - alpha,
        margin: plan.measure.margin,
        scalings: scalings(run, plan, &visits, &measured),
        ..LoadAnalysis::default()
    };
    if plan.serving().is_some() {
        analysis.overall = served::overall(plan, &visits, &refusals, alpha);
        analysis.reconnects = served::reconnects(run, plan, &visits);
        analysis.footprints = served::footprints(run, plan, &visits, &refusals, alpha);
        analysis.warnings = served::warnings(run, plan, &measured, &compared, disturbed);
    } else {
        let pairs = &compared.pairs;
        analysis.warnings = warnings::warnings(run, plan, load, &measured, pairs, disturbed);
    }
    analysis.cells = measured.into_iter().map(|m| m.cell).collect();
    let comparisons = compared.pairs.into_iter();
    analysis.comparisons = comparisons.map(|pair| pair.comparison).collect();
    analysis.controls = compared.controls;
    analysis.refusals = refusals;
    Some(analysis)
}

/// In an open loop throughput is what was asked for, and says nothing of what connections bring. Nor does
/// it say anything of a server that the lab starts where the generator was the limit.
fn scalings(run: &Run, plan: &Plan, visits: &Visits, measured: &[Measured]) -> Vec<Scaling> {
    let limited = measured.iter().map(|m| &m.cell).filter(|c| c.saturated);
    let limited = limited.filter(|_| plan.serving().is_some());
    let limited: HashSet<(SubjectId, PointId)> = limited.map(|c| (c.subject, c.point)).collect();
    let mut scalings = Vec::new();
    for sweep in sweeps::sweeps(plan) {
        if sweep.points.iter().any(|&(point, _)| plan.is_open(point)) {
            continue;
        }
        for subject in plan.compared() {
            let time = |visit: Option<&Visit>| visit.and_then(Visit::wall_ns_per_request);
            let own = Sweep {
                points: sweep
                    .points
                    .iter()
                    .filter(|&&(point, _)| !limited.contains(&(subject, point)))
                    .copied()
                    .collect(),
                ..sweep.clone()
            };
            let measured = OneSubject::new(run, plan, &own, subject, |point| {
                visits.of(subject, point).map(time).collect()
            });
            scalings.extend(measured.map(|m| scaling::of(plan, &own, subject, &m)));
        }
    }
    scalings
}

/// Errors of a server at a point.
fn errors(cell: &LoadCell) -> u64 {
    let counts = cell.errors.iter().map(|(_, count)| *count);
    counts.fold(0, u64::saturating_add)
}

/// The part of its requests that were errors, 0 to 1; `None` without one that came to an end.
fn error_share(errors: u64, served: u64) -> Option<f64> {
    let ended = errors as f64 + served as f64;
    (ended > 0.0).then(|| errors as f64 / ended)
}

/// Whether more requests failed than lie beyond the percentile that so many in 10,000 do not exceed: had
/// they been waited for, it could be higher than any that was served.
fn hidden(failed: u64, served: u64, per_10_000: u32) -> bool {
    let (failed, served) = (u128::from(failed), u128::from(served));
    failed * 10_000 > (failed + served) * 10_000_u128.saturating_sub(u128::from(per_10_000))
}
