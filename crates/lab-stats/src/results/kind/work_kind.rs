// SPDX-License-Identifier: Apache-2.0
//! The interface that each kind of measured work implements to compute its results.

use crate::results::Results;
use lab_model::Run;

/// A kind of measured work, which computes the results of its runs.
pub trait WorkKind {
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
}
