// SPDX-License-Identifier: Apache-2.0
//! Reads the counts of single runs.

use crate::files;
use crate::valgrind::ValgrindRun;
use crate::wording;
use lab_valgrind::{CostProfile, read_cachegrind};

/// Reads the counts of a run under Cachegrind.
///
/// # Errors
/// Returns a message if the run was stopped, or if it has no counts.
pub fn read_counts(run: &ValgrindRun) -> Result<CostProfile, String> {
    let Some(file) = run.file.as_ref().filter(|_| run.status.is_some()) else {
        return Err(wording::not_counted(&run.ending(), &run.log));
    };
    files::read(file, read_cachegrind).map_err(|e| e.to_string())
}
