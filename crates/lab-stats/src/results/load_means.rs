// SPDX-License-Identifier: Apache-2.0
//! The mean cost of a request over multiple points, and the cost of opening a new connection for
//! each request.

use super::Effect;
use super::compare::ComparisonFamily;
use super::judge::Basis;
use super::levels::Blocks;
use super::means::{MeanScope, effect, overall};
use crate::exclusions::is_measured;
use crate::load::visits::{Visit, Visits};
use lab_model::point_load::KEEP_ALIVE;
use lab_model::{CaseId, Metric, Plan, PointId, SubjectId, SubjectPoint};

/// The metrics in which servers that benchlab starts are compared at closed-loop points.
pub(crate) static RATES: [Metric; 2] = [Metric::THROUGHPUT, Metric::SERVER_CPU];

/// Returns each case of a plan. If there is more than one case, also returns `None` for all cases
/// together.
fn cases(plan: &Plan) -> impl Iterator<Item = Option<CaseId>> {
    let all = (plan.cases.len() > 1).then_some(None);
    plan.cases.ids().map(Some).chain(all)
}

/// Returns the closed-loop points of a case or, for `None`, of all cases.
fn closed_points(
    plan: &Plan,
    case: Option<CaseId>,
    keep_alive: bool,
) -> impl Iterator<Item = PointId> {
    plan.points.ids().filter(move |&point| {
        case.is_none_or(|case| plan.points[point].case == case)
            && !plan.is_open(point)
            && plan.keeps_alive(point) == keep_alive
    })
}

pub(super) fn by_block(
    visits: &Visits,
    (subject, point): SubjectPoint,
    value: impl Fn(&Visit) -> Option<f64>,
) -> Blocks {
    let visits = visits.by_replicate(subject, point);
    visits.map(|visit| visit.and_then(&value)).collect()
}

/// Adds comparisons of the mean CPU time of a request, by case, then with and without keep-alive.
pub(crate) fn over_points(family: &mut ComparisonFamily, visits: &Visits) {
    let plan = family.basis.plan;
    let logs = |subject, point| -> Blocks {
        visits.mean_logs([subject, plan.baseline], point, |v| {
            v.server_ns_per_request()
        })
    };
    let scopes = cases(plan).flat_map(|case| [true, false].map(|keep_alive| (case, keep_alive)));
    for (case, keep_alive) in scopes {
        let scope = MeanScope {
            metric: Metric::SERVER_CPU,
            case,
            keep_alive: Some(keep_alive),
            points: closed_points(plan, case, keep_alive).collect(),
            with_control: true,
        };
        overall(family, &scope, logs);
    }
}

/// Returns the effect of opening a new connection for each request, by case, then server, then
/// metric.
///
/// Each effect is a mean over the numbers of connections that were measured both with and without
/// keep-alive.
pub(crate) fn reconnects(basis: &Basis, visits: &Visits) -> Vec<Effect> {
    let plan = basis.plan;
    let pairs = cases(plan).flat_map(|case| plan.compared().map(move |s| (case, s)));
    let of = |(case, subject): (Option<CaseId>, SubjectId)| {
        let pairs = with_and_without(basis, case, subject);
        RATES.iter().filter_map(move |metric| {
            let value = |visit: &Visit| visit.value(metric);
            effect(
                basis,
                (subject, metric),
                (KEEP_ALIVE, case),
                pairs.clone(),
                |point| by_block(visits, (subject, point), value),
            )
        })
    };
    pairs.flat_map(of).collect()
}

fn with_and_without(
    basis: &Basis,
    case: Option<CaseId>,
    subject: SubjectId,
) -> Vec<(PointId, PointId)> {
    let plan = basis.plan;
    let is_measured = |&point: &PointId| is_measured(basis.run, plan, subject, point);
    let with_keep_alive = |point: PointId| {
        let mut points =
            closed_points(plan, Some(plan.points[point].case), true).filter(is_measured);
        points.find(|&p| plan.connections(p) == plan.connections(point))
    };
    let without = closed_points(plan, case, false).filter(is_measured);
    without
        .filter_map(|point| Some((with_keep_alive(point)?, point)))
        .collect()
}
