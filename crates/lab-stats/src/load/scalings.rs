// SPDX-License-Identifier: Apache-2.0
//! The scaling of throughput with the number of connections in a closed loop.

use super::visits::{Visit, Visits};
use crate::results::Scaling;
use crate::scaling;
use crate::sweeps::{self, OneSubject, Sweep};
use lab_model::{Plan, PointId, Run, SubjectId};
use std::collections::HashSet;

/// Fits the scaling of throughput in closed loops.
///
/// In an open loop, the throughput is the offered rate and does not depend on the number of
/// connections. Points at which the generator was the bottleneck are also skipped for servers that
/// benchlab starts.
pub(crate) fn scalings(
    run: &Run,
    plan: &Plan,
    visits: &Visits,
    limited: &HashSet<(SubjectId, PointId)>,
) -> Vec<Scaling> {
    let mut scalings = Vec::new();
    for sweep in sweeps::sweeps(plan) {
        if sweep.points.iter().any(|&(point, _)| plan.is_open(point)) {
            continue;
        }
        for subject in plan.compared() {
            let time = |visit: Option<&Visit>| visit.and_then(Visit::wall_ns_per_request);
            let unlimited = Sweep {
                points: sweep
                    .points
                    .iter()
                    .filter(|&&(point, _)| !limited.contains(&(subject, point)))
                    .copied()
                    .collect(),
                ..sweep.clone()
            };
            let measured = OneSubject::new(run, plan, &unlimited, subject, |point| {
                visits.by_replicate(subject, point).map(time).collect()
            });
            scalings.extend(measured.map(|m| scaling::fit(plan, &unlimited, subject, &m)));
        }
    }
    scalings
}
