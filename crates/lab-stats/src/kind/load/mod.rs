// SPDX-License-Identifier: Apache-2.0
//! Load on servers that were already running.

use super::batches::of_batches;
use super::facts::{method_facts, work_facts};
use super::work_kind::{BetweenMethod, BlockRatios, WorkKind};
use crate::between::facts::Facts;
use crate::gate::load_metrics;
use crate::results::load_traits::LoadTraits;
use crate::results::{Results, load};
use lab_model::{LoadSpec, Metric, Plan, Run};

/// The metrics in which servers are compared in an open loop.
static OPEN: [Metric; 6] = [
    Metric::THROUGHPUT,
    Metric::P50,
    Metric::P90,
    Metric::P99,
    Metric::P999,
    Metric::SERVER_CPU,
];

/// The metrics in which servers are compared in a closed loop.
///
/// The list contains no high percentiles: a server that stalls gets fewer requests, so its tail
/// does not reflect what users see.
static CLOSED: [Metric; 3] = [Metric::THROUGHPUT, Metric::P50, Metric::SERVER_CPU];

static TRAITS: LoadTraits = LoadTraits {
    closed: &CLOSED,
    open: &OPEN,
    ranked_closed: &CLOSED,
    ranked_open: &OPEN,
    needs_spare_generator: false,
    add: |_, _, _, _| {},
};

/// The metrics in which two runs are compared.
static BETWEEN: [Metric; 7] = [
    Metric::TIME_PER_REQUEST,
    Metric::P50,
    Metric::P90,
    Metric::P99,
    Metric::P999,
    Metric::SERVER_CPU,
    Metric::SERVER_MEMORY,
];

impl WorkKind for LoadSpec {
    fn results(&self, run: &Run, _alpha_fraction: f64) -> Results {
        load::results(run, &TRAITS)
    }

    fn has_targets(&self) -> bool {
        false
    }

    fn has_hosts(&self) -> bool {
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

    fn is_named_by_address(&self) -> bool {
        true
    }

    fn can_forecast(&self) -> bool {
        false
    }

    fn block_ratios<'r>(&self, run: &'r Run, plan: &Plan) -> BlockRatios<'r> {
        of_batches(run, plan)
    }

    fn gate_metrics(&self, _plan: &Plan) -> Vec<(String, Metric)> {
        load_metrics()
    }

    fn work_facts(&self) -> Facts {
        work_facts(self)
    }

    fn method_facts(&self) -> Facts {
        method_facts(self)
    }

    fn between(&self) -> BetweenMethod {
        BetweenMethod::Values {
            closed: &BETWEEN,
            open: &BETWEEN,
        }
    }
}
