// SPDX-License-Identifier: Apache-2.0
//! Load on servers that benchlab starts.

use super::facts::{method_facts, work_facts};
use super::work_kind::{BetweenMethod, BlockRatios, WorkKind};
use crate::between::facts::Facts;
use crate::gate::load_metrics;
use crate::load::numbered::fits;
use crate::load::visits::{Visit, Visits};
use crate::results::compare::ComparisonFamily;
use crate::results::judge::Basis;
use crate::results::levels::{BlockSummary, Blocks, Levels, key};
use crate::results::load_means::{RATES, over_points, reconnects};
use crate::results::load_traits::LoadTraits;
use crate::results::{Results, footprints, load};
use lab_model::{Block, Metric, Plan, Run, Servers};
use std::iter::zip;

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

/// The metrics in which two runs are compared at a closed-loop point: the time and the server's CPU
/// time per request, which are also compared within a run, and the server's memory.
static BETWEEN_CLOSED: [Metric; 3] = [
    Metric::TIME_PER_REQUEST,
    Metric::SERVER_CPU,
    Metric::SERVER_MEMORY,
];

impl WorkKind for Servers {
    fn results(&self, run: &Run, _alpha_fraction: f64) -> Results {
        load::results(run, &TRAITS)
    }

    fn has_targets(&self) -> bool {
        false
    }

    fn name(&self) -> Option<&'static str> {
        Some("a load")
    }

    fn has_requests(&self) -> bool {
        true
    }

    fn compared_metrics(&self, is_open: bool) -> &'static [Metric] {
        TRAITS.compared(is_open)
    }

    fn can_forecast(&self) -> bool {
        false
    }

    fn block_ratios<'r>(&self, run: &'r Run, plan: &Plan) -> BlockRatios<'r> {
        let visits = Visits::new(run, plan);
        let cpu = |visit: Option<&Visit>| visit?.value(&Metric::SERVER_CPU);
        Box::new(move |subject, baseline, point| {
            let own = visits.by_replicate(subject, point);
            let pairs = zip(own, visits.by_replicate(baseline, point));
            let ratios = pairs.map(|(a, b)| Some((cpu(a)? / cpu(b)?).ln()));
            ratios.collect()
        })
    }

    fn gate_metrics(&self, _plan: &Plan) -> Vec<(String, Metric)> {
        load_metrics()
    }

    fn work_facts(&self) -> Facts {
        work_facts(&self.load)
    }

    fn method_facts(&self) -> Facts {
        method_facts(&self.load)
    }

    fn between(&self) -> BetweenMethod {
        BetweenMethod::Values {
            closed: &BETWEEN_CLOSED,
            open: &LATENCIES,
        }
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
