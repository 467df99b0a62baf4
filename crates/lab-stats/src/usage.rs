// SPDX-License-Identifier: Apache-2.0
//! Resource usage of whole commands: CPU time, memory, page faults and context switches.

use lab_model::{ProcessExit, Run, SubjectPoint};
use std::collections::HashMap;

/// Returns the statistics on exited processes for each subject at each point, grouped by block.
pub(crate) fn exits_by_cell(run: &Run) -> HashMap<SubjectPoint, Vec<Vec<&ProcessExit>>> {
    let mut cells: HashMap<SubjectPoint, Vec<Vec<&ProcessExit>>> = HashMap::new();
    for block in run.complete_blocks() {
        let mut in_block: HashMap<SubjectPoint, Vec<&ProcessExit>> = HashMap::new();
        for exit in &block.exits {
            let cell = (exit.subject, exit.point);
            in_block.entry(cell).or_default().push(exit);
        }
        for (cell, exits) in in_block {
            cells.entry(cell).or_default().push(exits);
        }
    }
    cells
}

/// Returns the mean of a value over the processes of a block.
pub(crate) fn mean(exits: &[&ProcessExit], value: fn(&ProcessExit) -> u64) -> f64 {
    exits.iter().map(|e| value(e) as f64).sum::<f64>() / exits.len() as f64
}

/// Returns the exit statuses that occurred, in ascending order.
pub(crate) fn statuses(blocks: &[Vec<&ProcessExit>]) -> Vec<i32> {
    let mut statuses: Vec<i32> = blocks.iter().flatten().map(|e| e.status).collect();
    statuses.sort();
    statuses.dedup();
    statuses
}
