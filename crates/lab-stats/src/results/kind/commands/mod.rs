// SPDX-License-Identifier: Apache-2.0
//! Whole commands: a batch is one process.

use super::work_kind::WorkKind;
use crate::results::{Results, batches};
use lab_model::{Commands, Run};

impl WorkKind for Commands {
    fn results(&self, run: &Run, alpha_fraction: f64) -> Results {
        batches::results(run, alpha_fraction)
    }

    fn has_targets(&self) -> bool {
        true
    }
}
