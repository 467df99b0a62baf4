// SPDX-License-Identifier: Apache-2.0
//! Computes the results of a run.

use super::{Results, parts};
use lab_model::Run;

/// Returns all results that are derived from the samples of a run, for any kind of measured work.
///
/// The results are empty if the run has no plan (imported values) or an inconsistent plan.
pub fn results(run: &Run) -> Results {
    parts::combine(run, |kind, part, _, alpha_fraction| {
        kind.results(part, alpha_fraction)
    })
}
