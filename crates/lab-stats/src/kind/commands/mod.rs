// SPDX-License-Identifier: Apache-2.0
//! Whole commands: a batch is one process.

use super::batches::of_batches;
use super::work_kind::{BetweenMethod, BlockRatios, WorkKind};
use crate::analysis::Exclusion;
use crate::between::facts::{Facts, yes_or_no};
use crate::exclusions::different_exits;
use crate::gate::batch_metrics;
use crate::results::{Results, batches};
use lab_model::{Commands, Metric, Plan, Run};

impl WorkKind for Commands {
    fn results(&self, run: &Run, alpha_fraction: f64) -> Results {
        batches::results(run, alpha_fraction)
    }

    fn has_targets(&self) -> bool {
        true
    }

    fn name(&self) -> Option<&'static str> {
        Some("whole commands")
    }

    fn has_fresh_processes(&self) -> bool {
        true
    }

    fn has_obvious_point(&self, plan: &Plan) -> bool {
        plan.points.len() == 1
    }

    /// Excludes commands whose runs did not all return the same exit status as the baseline's runs.
    ///
    /// A command that failed did different work. If the plan lists the expected statuses, runs with
    /// other statuses do not count, and all commands are compared.
    fn exclusions(&self, run: &Run, plan: &Plan) -> Vec<Exclusion> {
        match self.ignore_failure && self.expected_statuses.is_empty() {
            true => different_exits(run, plan),
            false => Vec::new(),
        }
    }

    fn block_ratios<'r>(&self, run: &'r Run, plan: &Plan) -> BlockRatios<'r> {
        of_batches(run, plan)
    }

    fn gate_metrics(&self, plan: &Plan) -> Vec<(String, Metric)> {
        batch_metrics(plan)
    }

    fn work_facts(&self) -> Facts {
        let input = self.input.iter();
        input
            .map(|file| ("the input file".into(), file.clone()))
            .collect()
    }

    fn method_facts(&self) -> Facts {
        let cores = self.cores.map(|cores| format!("{cores:?}").to_lowercase());
        vec![
            ("same output required".into(), yes_or_no(self.same_output)),
            ("failures ignored".into(), yes_or_no(self.ignore_failure)),
            (
                "cores".into(),
                cores.unwrap_or("detected by the pilot".into()),
            ),
        ]
    }

    fn between(&self) -> BetweenMethod {
        BetweenMethod::Ratios
    }
}
