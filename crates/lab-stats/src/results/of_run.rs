// SPDX-License-Identifier: Apache-2.0
//! A run -> its results.

use super::{Results, parts};
use lab_model::Run;

/// Everything that a run's samples say, whatever was measured. Nothing for a run without a plan (imported
/// figures), or whose plan contradicts itself.
pub fn results(run: &Run) -> Results {
    parts::of(run, |kind, part, _, share| kind.results(part, share))
}
