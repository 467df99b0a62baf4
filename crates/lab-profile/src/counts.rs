// SPDX-License-Identifier: Apache-2.0
//! Reads the counts of single runs.

use crate::files;
use crate::valgrind::{Children, ValgrindRun};
use crate::wording;
use lab_valgrind::{CostProfile, read_cachegrind};
use std::path::Path;

/// Reads the counts of a run under Cachegrind.
///
/// # Errors
/// Returns a message if the run has no counts, or if they cover only a part of the program.
pub fn read_counts(run: &ValgrindRun) -> Result<CostProfile, String> {
    let file = finished_file(run)?;
    if run.children != Children::None {
        return Err(wording::CHILDREN_NOT_COUNTED.into());
    }
    read(file)
}

/// Returns the instructions of a program and of its child processes, counted by
/// [`Tool::Instructions`](crate::Tool::Instructions).
///
/// # Errors
/// Returns a message if the run has no counts, or if they cover only a part of the work.
pub fn read_instructions(run: &ValgrindRun) -> Result<u64, String> {
    let file = finished_file(run)?;
    if let Some(gap) = &run.gap {
        return Err(wording::gap(gap));
    }
    let others = run.others.iter().map(|file| file.as_path());
    let counts = [file].into_iter().chain(others).map(|file| {
        let total = read(file)?.total_of("Ir");
        total.ok_or_else(|| wording::NO_INSTRUCTIONS.to_owned())
    });
    counts.sum()
}

/// Returns the output file of a program that ran to its end.
fn finished_file(run: &ValgrindRun) -> Result<&Path, String> {
    let Some(file) = run.file.as_deref().filter(|_| run.status.is_some()) else {
        return Err(wording::not_counted(&run.ending(), &run.log));
    };
    match run.ran_to_its_end() {
        true => Ok(file),
        false => Err(wording::counted_in_part(&run.ending(), &run.log)),
    }
}

fn read(file: &Path) -> Result<CostProfile, String> {
    files::read(file, read_cachegrind).map_err(|e| e.to_string())
}
