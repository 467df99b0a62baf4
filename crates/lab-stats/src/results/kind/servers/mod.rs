// SPDX-License-Identifier: Apache-2.0
//! Load on servers that benchlab starts.

use super::work_kind::WorkKind;
use crate::load::numbered::fits;
use crate::load::visits::Visits;
use crate::results::compare::ComparisonFamily;
use crate::results::judge::Basis;
use crate::results::levels::{BlockSummary, Blocks, Levels, key};
use crate::results::load_means::{RATES, over_points, reconnects};
use crate::results::load_traits::LoadTraits;
use crate::results::{Results, footprints, load};
use lab_model::{Block, Metric, Run, Servers};

static LATENCIES: [Metric; 3] = [Metric::P50, Metric::P90, Metric::P99];

/// The metrics in which servers that benchlab starts are compared.
///
/// In an open loop, each server is offered its own rate, so throughputs are not comparable. In a
/// closed loop, a server that stalls gets fewer requests, so response times are not comparable.
static TRAITS: LoadTraits = LoadTraits {
    closed: &RATES,
    open: &LATENCIES,
    ranked_closed: &[],
    ranked_open: &LATENCIES,
    needs_spare_generator: true,
    add,
};

impl WorkKind for Servers {
    fn results(&self, run: &Run, _alpha_fraction: f64) -> Results {
        load::results(run, &TRAITS)
    }

    fn has_targets(&self) -> bool {
        false
    }
}

/// Adds means over points, the effect of keep-alive, metrics that servers report, memory, and lines
/// fitted over numeric factors.
fn add(family: &mut ComparisonFamily, visits: &Visits, levels: &mut Levels, results: &mut Results) {
    let basis = family.basis;
    over_points(family, visits);
    results.effects = reconnects(basis, visits);
    add_reported(basis, levels);
    let memory = footprints::of_servers(basis, visits, levels);
    footprints::compare_memory(family, &memory);
    results.fits = fits(basis.run, basis.plan, visits);
}

/// Adds the metrics that servers reported for a block when they were shut down, as medians over
/// blocks.
fn add_reported(Basis { run, plan, .. }: &Basis, levels: &mut Levels) {
    for metric in plan.serving().into_iter().flat_map(|s| &s.metrics) {
        for subject in plan.compared() {
            let of = |block: &Block| {
                let mut readings = block.readings.iter();
                let reading =
                    readings.find(|r| (r.subject, &*r.metric) == (subject, &*metric.id))?;
                Some(reading.value)
            };
            let blocks: Blocks = run.complete_blocks().map(of).collect();
            levels.add(key(subject, None, metric), BlockSummary::Median, &blocks);
        }
    }
}
