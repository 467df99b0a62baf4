// SPDX-License-Identifier: Apache-2.0
//! What a load run's slices say: rates and costs, quantiles of all its requests, verdicts.

pub mod analysis;
pub mod between;
mod cells;
mod compare;
mod quantiles;
pub mod threshold;
pub(crate) mod visits;
mod warnings;

use crate::analysis::Scaling;
use crate::sweeps::{self, OneSubject};
use crate::table::sound_plan;
use crate::{scaling, stopping};
use analysis::{LoadAnalysis, LoadCell};
use lab_model::{Arrivals, BlockState, Load, Plan, Run};
use visits::{Visit, Visits};

/// Analyses a load run, ended or not: its complete blocks. `None` for a run whose plan puts no load on
/// anybody, or contradicts itself.
pub fn load(run: &Run) -> Option<LoadAnalysis> {
    let plan = sound_plan(run)?;
    let load = plan.load.as_ref()?;
    let alpha = stopping::alpha(run, plan);
    let visits = Visits::new(run, plan);
    let measured = cells::cells(plan, load, &visits);
    let refusals = compare::refusals(run, plan, &visits);
    let compared = compare::compare(plan, &visits, &refusals, alpha);
    let disturbed = |block: &&lab_model::Block| block.state == BlockState::Disturbed;
    let disturbed = run.blocks.iter().filter(disturbed).count() as u32;
    Some(LoadAnalysis {
        blocks: run.complete_blocks().count() as u32,
        level: 1.0 - alpha,
        margin: plan.measure.margin,
        scalings: scalings(run, plan, load, &visits),
        warnings: warnings::warnings(run, plan, load, &measured, &compared, disturbed),
        cells: measured.into_iter().map(|m| m.cell).collect(),
        comparisons: compared.into_iter().map(|pair| pair.comparison).collect(),
        refusals,
    })
}

/// In an open loop throughput is what was asked for, and says nothing of what connections bring.
fn scalings(run: &Run, plan: &Plan, load: &Load, visits: &Visits) -> Vec<Scaling> {
    let mut scalings = Vec::new();
    if load.arrivals != Arrivals::Closed {
        return scalings;
    }
    for sweep in sweeps::sweeps(plan) {
        for subject in plan.compared() {
            let time = |visit: Option<&Visit>| visit.and_then(Visit::wall_ns_per_request);
            let measured = OneSubject::new(run, plan, &sweep, subject, |point| {
                visits.of(subject, point).map(time).collect()
            });
            scalings.extend(measured.map(|m| scaling::of(plan, &sweep, subject, &m)));
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
