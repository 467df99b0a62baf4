// SPDX-License-Identifier: Apache-2.0
//! What an operation takes each subject at each point: the level, beside the ratios.

use crate::analysis::{Cell, Interval};
use crate::order;
use crate::refusals::failed;
use crate::table::{Table, Visit};
use lab_model::{Plan, PointId, Run, SubjectId};

/// Every subject at every point that did not fail there and was measured there, by point, then
/// subject. Intervals are individual, at the plan's level.
pub fn cells(run: &Run, plan: &Plan, table: &Table) -> Vec<Cell> {
    let points = 0..plan.points.len();
    points
        .flat_map(|point| (0..plan.subjects.len()).map(move |subject| (subject, point)))
        .filter(|&(subject, point)| !failed(run, subject, point))
        .filter_map(|(subject, point)| cell(run, plan, table, subject, point))
        .collect()
}

fn cell(run: &Run, plan: &Plan, table: &Table, subject: SubjectId, point: PointId) -> Option<Cell> {
    let visits: Vec<&Visit> = table.visits(subject, point).flatten().collect();
    let over_blocks = |time: fn(&Visit) -> f64| -> Option<Interval> {
        let times: Vec<f64> = visits.iter().map(|visit| time(visit)).collect();
        order::median_interval(&times, plan.measure.alpha)
    };
    let pilot = run
        .pilots
        .iter()
        .find(|p| p.subject == subject && p.point == point);
    Some(Cell {
        subject,
        point,
        blocks: visits.len() as u32,
        wall_ns: over_blocks(|v| v.wall_ns)?,
        cpu_ns: over_blocks(|v| v.cpu_ns)?,
        whole_wall_ns: over_blocks(|v| v.whole_wall_ns)?,
        whole_cpu_ns: over_blocks(|v| v.whole_cpu_ns)?,
        warm_up: pilot.map(|pilot| pilot.class),
        cold_ns: pilot.map(|pilot| pilot.cold_ns),
    })
}
