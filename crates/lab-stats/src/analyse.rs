// SPDX-License-Identifier: Apache-2.0
//! A run -> everything that its samples say. Only complete blocks count.

use crate::analysis::Analysis;
use crate::table::{Table, sound_plan};
use crate::{
    cells, compare, factors, footprints, latencies, overall, refusals, scaling, server_cost,
    stopping, sweeps, uses, warnings,
};
use lab_model::{BlockState, Part, Run, parts};

/// A part of a run and what its samples say.
#[derive(Clone, Debug)]
pub struct Analysed {
    /// What was done on one target.
    pub part: Part,
    /// What it says.
    pub analysis: Analysis,
}

/// Analyses what was done on each target by itself, in the experiment's order. Nothing for a run
/// without a plan (imported figures).
pub fn analyse_parts(run: &Run) -> Vec<Analysed> {
    let parts = run.plan.iter().flat_map(|_| parts(run));
    let analysed = parts.map(|part| Analysed {
        analysis: analyse(&part.run),
        part,
    });
    analysed.collect()
}

/// Analyses a run on one target, ended or not. One without a plan (imported figures), or whose plan
/// contradicts itself, has an empty analysis. Of a run on several targets, see [`analyse_parts`].
pub fn analyse(run: &Run) -> Analysis {
    let Some(plan) = sound_plan(run) else {
        return Analysis::default();
    };
    let alpha = stopping::alpha(run, plan);
    let table = Table::new(run, plan);
    let refusals = refusals::refusals(run, plan);
    let compared = compare::compare(plan, &table, &refusals, alpha);
    let disturbed = run
        .blocks
        .iter()
        .filter(|b| b.state == BlockState::Disturbed)
        .count() as u32;
    let cells = cells::cells(run, plan, &table);
    Analysis {
        blocks: run.complete_blocks().count() as u32,
        disturbed_blocks: disturbed,
        level: 1.0 - alpha,
        margin: plan.measure.margin,
        fits: sweeps::fits(run, plan, &table),
        overall: overall::overall(plan, &table, &refusals, alpha),
        factors: factors::factors(run, plan, &table),
        server_costs: server_cost::server_costs(run, plan, &table),
        latencies: latencies::latencies(run, plan),
        scalings: scaling::scalings(run, plan, &table),
        uses: uses::uses(run, plan),
        footprints: footprints::footprints(run, plan),
        warnings: warnings::warnings(run, plan, &compared, &cells, disturbed),
        cells,
        comparisons: compared
            .pairs
            .into_iter()
            .map(|pair| pair.comparison)
            .collect(),
        controls: compared.controls,
        refusals,
    }
}
