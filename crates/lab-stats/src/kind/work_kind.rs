// SPDX-License-Identifier: Apache-2.0
//! The interface that each kind of measured work implements.

use crate::analysis::Exclusion;
use crate::between::facts::Facts;
use crate::results::Results;
use lab_model::{Metric, Plan, PointId, Run, SubjectId};

/// A function that returns the logarithm of the ratio of a subject to a baseline at a point, for
/// each complete block. `None` means that the block lacks the subject or the baseline.
pub(crate) type BlockRatios<'r> =
    Box<dyn Fn(SubjectId, SubjectId, PointId) -> Vec<Option<f64>> + 'r>;

/// A kind of measured work. It answers every question whose answer depends on the kind.
pub(crate) trait WorkKind {
    /// Returns the results of a run, or of the part of a run on one target.
    ///
    /// The results contain no warnings about hosts. `alpha_fraction` is the fraction of the run's
    /// alpha that the results may use.
    fn results(&self, run: &Run, alpha_fraction: f64) -> Results;

    /// Returns true if subjects are compared separately on each target.
    ///
    /// Otherwise, the run is not divided into parts.
    fn has_targets(&self) -> bool;

    /// Returns true if each agent measures whole blocks on its own host.
    ///
    /// Otherwise, all agents together measure each block.
    fn has_hosts(&self) -> bool {
        true
    }

    /// Returns the words that distinguish a run of this kind from an experiment's run.
    fn name(&self) -> Option<&'static str> {
        None
    }

    /// Returns true if the subjects are servers that answer requests, so that errors and response
    /// times count.
    fn has_requests(&self) -> bool {
        false
    }

    /// Returns the metrics in which servers are compared at an open-loop or closed-loop point.
    fn compared_metrics(&self, _is_open: bool) -> &'static [Metric] {
        &[]
    }

    /// Returns true if the experiment and the only server are named after an address. Two runs are
    /// then comparable if their requests are the same.
    fn is_named_by_address(&self) -> bool {
        false
    }

    /// Returns true if the number of blocks that a run needs can be forecast from a pilot run.
    fn can_forecast(&self) -> bool {
        true
    }

    /// Returns true if every run of a subject is a fresh process, which never reaches a steady
    /// state.
    fn has_fresh_processes(&self) -> bool {
        false
    }

    /// Returns true if messages about missing blocks state the time that the blocks take.
    fn states_time_for_blocks(&self) -> bool {
        true
    }

    /// Returns true if the plan's only point has no parameters, so that messages omit it.
    fn has_obvious_point(&self, _plan: &Plan) -> bool {
        false
    }

    /// Excludes subjects for reasons that only this kind has.
    fn exclusions(&self, _run: &Run, _plan: &Plan) -> Vec<Exclusion> {
        Vec::new()
    }

    /// Returns the ratios of subjects block by block, for comparing hosts.
    fn block_ratios<'r>(&self, run: &'r Run, plan: &Plan) -> BlockRatios<'r>;

    /// Returns the names that conditions may use, with their metrics.
    fn gate_metrics(&self, plan: &Plan) -> Vec<(String, Metric)>;

    /// Returns facts about the work, which must be equal in two runs that are compared.
    fn work_facts(&self) -> Facts {
        Facts::new()
    }

    /// Returns facts about the method, which may differ between two runs that are compared.
    fn method_facts(&self) -> Facts {
        Facts::new()
    }

    /// Returns the way in which two runs are compared.
    fn between(&self) -> BetweenMethod;
}

/// The way in which two runs that were not interleaved are compared.
pub(crate) enum BetweenMethod {
    /// The ratios to the baseline have verdicts, and the times have none.
    Ratios,
    /// The values of some metrics are compared directly and have verdicts.
    Values {
        /// The metrics that are compared at a closed-loop point.
        closed: &'static [Metric],
        /// The metrics that are compared at an open-loop point.
        open: &'static [Metric],
    },
}
