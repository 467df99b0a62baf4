// SPDX-License-Identifier: Apache-2.0
//! A kind of measured work, as its results are made.

use crate::results::Results;
use lab_model::Run;

/// A kind of measured work, as its results are made.
pub trait WorkKind {
    /// The results of a run, or of its part on one target, without warnings on hosts. `share`: its part of the run's
    /// alpha.
    fn results(&self, run: &Run, share: f64) -> Results;

    /// Subjects are compared on each target by itself; else the run has one part.
    fn has_targets(&self) -> bool;

    /// Each agent measures whole blocks on a host of its own; else agents share each block.
    fn has_hosts(&self) -> bool {
        true
    }
}
