// SPDX-License-Identifier: Apache-2.0
//! Where the time of an operation goes: the client's CPU, the server's CPU, and waiting.

use crate::analysis::{Interval, ServerCost};
use crate::order;
use crate::refusals::failed;
use crate::table::{Table, Visit};
use lab_model::{Cores, Plan, PointId, Run, SubjectId};

/// The parts of every subject's time at every point that does one operation at a time, by point,
/// then subject. Where the target is a server, only if its CPU time is known; a library has no part
/// of its own. None for runs without a target.
///
/// They are means over whole blocks, pauses and all, and over blocks the median with its individual
/// interval at the plan's level, as the whole times are: so they add up in each block, and nearly so
/// in their medians.
pub fn server_costs(run: &Run, plan: &Plan, table: &Table) -> Vec<ServerCost> {
    let one = |&point: &PointId| plan.case(point).cores == Cores::One;
    (0..plan.points.len())
        .filter(one)
        .flat_map(|point| (0..plan.subjects.len()).map(move |subject| (subject, point)))
        .filter(|&(subject, point)| !failed(run, subject, point))
        .filter_map(|(subject, point)| server_cost(plan, table, subject, point))
        .collect()
}

fn server_cost(
    plan: &Plan,
    table: &Table,
    subject: SubjectId,
    point: PointId,
) -> Option<ServerCost> {
    let target = plan.targets.get(plan.points[point].target)?;
    let visits: Vec<&Visit> = table.visits(subject, point).flatten().collect();
    let served = visits.iter().all(|visit| visit.whole_server_ns.is_some());
    if target.kind.is_service() && !served {
        return None;
    }
    let over_blocks = |part: &dyn Fn(&Visit) -> f64| -> Option<Interval> {
        let parts: Vec<f64> = visits.iter().map(|visit| part(visit)).collect();
        order::median_interval(&parts, plan.measure.alpha)
    };
    Some(ServerCost {
        subject,
        point,
        wall_ns: over_blocks(&|visit| visit.whole_wall_ns)?,
        client_ns: over_blocks(&|visit| visit.whole_cpu_ns)?,
        server_ns: match target.kind.is_service() {
            true => Some(over_blocks(&|visit| visit.whole_server_ns.unwrap_or(0.0))?),
            false => None,
        },
        waiting_ns: over_blocks(&|visit| idle(visit).max(0.0))?,
        overlap_ns: over_blocks(&|visit| (-idle(visit)).max(0.0))?,
    })
}

/// What neither CPU accounts for, ns; negative where both worked at once.
fn idle(visit: &Visit) -> f64 {
    visit.whole_wall_ns - visit.whole_cpu_ns - visit.whole_server_ns.unwrap_or(0.0)
}
