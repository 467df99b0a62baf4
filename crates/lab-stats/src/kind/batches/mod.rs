// SPDX-License-Identifier: Apache-2.0
//! Programs that implement the subject protocol and run batches.

use super::work_kind::{BetweenMethod, BlockRatios, WorkKind};
use crate::analysis::Exclusion;
use crate::gate::batch_metrics;
use crate::results::{Results, batches};
use crate::table::BatchTable;
use crate::turn_levels;
use lab_model::{Metric, Plan, Run};

/// The kind of work of programs that run batches of operations.
pub struct Batches;

impl WorkKind for Batches {
    fn results(&self, run: &Run, alpha_fraction: f64) -> Results {
        batches::results(run, alpha_fraction)
    }

    fn has_targets(&self) -> bool {
        true
    }

    fn states_time_for_blocks(&self) -> bool {
        false
    }

    fn exclusions(&self, run: &Run, plan: &Plan) -> Vec<Exclusion> {
        turn_levels::exclusions(run, plan)
    }

    fn block_ratios<'r>(&self, run: &'r Run, plan: &Plan) -> BlockRatios<'r> {
        of_batches(run, plan)
    }

    fn gate_metrics(&self, plan: &Plan) -> Vec<(String, Metric)> {
        batch_metrics(plan)
    }

    fn between(&self) -> BetweenMethod {
        BetweenMethod::Ratios
    }
}

/// Returns the ratios of the typical times of batches.
pub(super) fn of_batches<'r>(run: &Run, plan: &Plan) -> BlockRatios<'r> {
    let table = BatchTable::new(run, plan);
    Box::new(move |subject, baseline, point| table.log_ratios(subject, baseline, point))
}
