// SPDX-License-Identifier: Apache-2.0
//! What it costs a server that each request has a connection of its own.

use super::{cases, closed_points, mean_logs};
use crate::load::analysis::{Metric, Reconnect};
use crate::load::visits::{Visit, Visits};
use crate::ratio::{Level, ratio};
use crate::refusals::failed;
use lab_model::{Plan, PointId, Run, SubjectId};

/// The respects that are shown, and their values.
type Respect = (Metric, fn(&Visit) -> Option<f64>);

const RESPECTS: [Respect; 2] = [
    (Metric::Throughput, |v| v.wall_ns_per_request()),
    (Metric::ServerCpu, |v| v.server_ns_per_request()),
];

/// Of every server but controls, by case, over all numbers of connections that there are both with and
/// without keep-alive. Paired by block: the same process serves both. Intervals are individual, at the plan's
/// level.
pub fn reconnects(run: &Run, plan: &Plan, visits: &Visits) -> Vec<Reconnect> {
    let places = cases(plan).flat_map(|case| plan.compared().map(move |s| (case, s)));
    places
        .flat_map(|(case, subject)| {
            RESPECTS.map(|respect| reconnect(run, plan, visits, case, subject, respect))
        })
        .flatten()
        .collect()
}

fn reconnect(
    run: &Run,
    plan: &Plan,
    visits: &Visits,
    case: Option<usize>,
    subject: SubjectId,
    (metric, value): Respect,
) -> Option<Reconnect> {
    let able = |&point: &PointId| plan.takes_part(subject, point) && !failed(run, subject, point);
    let kept = |point: PointId| {
        let mut kept = closed_points(plan, Some(plan.points[point].case), true).filter(able);
        kept.find(|&kept| plan.connections(kept) == plan.connections(point))
    };
    let pairs: Vec<_> = closed_points(plan, case, false)
        .filter(able)
        .filter_map(|point| Some(((subject, kept(point)?), (subject, point))))
        .collect();
    let level = Level {
        alpha: plan.measure.alpha,
        family: 1,
    };
    let logs = mean_logs(visits, &pairs, value);
    Some(Reconnect {
        subject,
        case,
        metric,
        points: pairs.len() as u32,
        ratio: ratio(&logs, level)?.interval,
    })
}
