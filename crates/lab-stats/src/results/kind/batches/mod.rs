// SPDX-License-Identifier: Apache-2.0
//! Programs that implement the subject protocol and run batches.

use super::work_kind::WorkKind;
use crate::results::{Results, batches};
use lab_model::Run;

/// The kind of work of programs that run batches of operations.
pub struct Batches;

impl WorkKind for Batches {
    fn results(&self, run: &Run, alpha_fraction: f64) -> Results {
        batches::results(run, alpha_fraction)
    }

    fn has_targets(&self) -> bool {
        true
    }
}
