// SPDX-License-Identifier: Apache-2.0
//! Load on servers that were already running.

use super::work_kind::WorkKind;
use crate::results::Results;
use crate::results::load;
use crate::results::load_traits::LoadTraits;
use lab_model::{LoadSpec, Metric, Run};

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
}
