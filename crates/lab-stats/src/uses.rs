// SPDX-License-Identifier: Apache-2.0
//! What the processes of whole commands used: CPU time, memory, page faults, context switches.

use crate::analysis::{Interval, ProcessUse};
use crate::order;
use crate::refusals::failed;
use lab_model::{Exit, Plan, PointId, Run, SubjectId};
use std::collections::HashMap;

/// Every command at every point that did not fail there, by point, then subject.
pub fn uses(run: &Run, plan: &Plan) -> Vec<ProcessUse> {
    let exits = by_place(run);
    let points = 0..plan.points.len();
    points
        .flat_map(|point| (0..plan.subjects.len()).map(move |subject| (subject, point)))
        .filter(|&(subject, point)| !failed(run, subject, point))
        .filter_map(|place| of_command(place, exits.get(&place)?, plan.measure.alpha))
        .collect()
}

type Place = (SubjectId, PointId);

/// The exits of each place, block by block.
fn by_place(run: &Run) -> HashMap<Place, Vec<Vec<&Exit>>> {
    let mut places: HashMap<Place, Vec<Vec<&Exit>>> = HashMap::new();
    for block in run.complete_blocks() {
        let mut here: HashMap<Place, Vec<&Exit>> = HashMap::new();
        for exit in &block.exits {
            let place = (exit.subject, exit.point);
            here.entry(place).or_default().push(exit);
        }
        for (place, exits) in here {
            places.entry(place).or_default().push(exits);
        }
    }
    places
}

fn of_command((subject, point): Place, blocks: &[Vec<&Exit>], alpha: f64) -> Option<ProcessUse> {
    let over_blocks = |value: fn(&Exit) -> u64| -> Option<Interval> {
        let mean = |exits: &Vec<&Exit>| {
            exits.iter().map(|e| value(e) as f64).sum::<f64>() / exits.len() as f64
        };
        order::median_interval(&blocks.iter().map(mean).collect::<Vec<_>>(), alpha)
    };
    let mut statuses: Vec<i32> = blocks.iter().flatten().map(|e| e.status).collect();
    statuses.sort();
    statuses.dedup();
    Some(ProcessUse {
        subject,
        point,
        user_ns: over_blocks(|e| e.user_ns)?,
        sys_ns: over_blocks(|e| e.sys_ns)?,
        peak_rss_bytes: over_blocks(|e| e.peak_rss_bytes)?,
        minor_faults: over_blocks(|e| e.minor_faults)?,
        major_faults: over_blocks(|e| e.major_faults)?,
        voluntary_switches: over_blocks(|e| e.voluntary_switches)?,
        involuntary_switches: over_blocks(|e| e.involuntary_switches)?,
        statuses,
    })
}
