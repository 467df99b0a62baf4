// SPDX-License-Identifier: Apache-2.0
//! The interface between a kind of measured work and its results.

use crate::results::Results;
use lab_model::Run;

/// A kind of measured work and how its results are computed.
pub trait WorkKind {
    /// Returns the results of a run, or of the part of a run on one target.
    ///
    /// The results contain no warnings about hosts. `alpha_fraction` is the fraction of the run's alpha that
    /// they may use.
    fn results(&self, run: &Run, alpha_fraction: f64) -> Results;

    /// Returns true if subjects are compared separately on each target.
    ///
    /// Otherwise the run has one part.
    fn has_targets(&self) -> bool;

    /// Returns true if each agent measures whole blocks on its own host.
    ///
    /// Otherwise agents share each block.
    fn has_hosts(&self) -> bool {
        true
    }
}
