// SPDX-License-Identifier: Apache-2.0
//! What slices say of servers that the lab starts, besides what they say of any server at a point: over the
//! points of a case, with and without keep-alive, and what they hold.

mod footprints;
mod overall;
mod reconnects;
mod warnings;

pub use footprints::footprints;
pub use overall::overall;
pub use reconnects::reconnects;
pub use warnings::warnings;

use super::visits::{Visit, Visits};
use lab_model::{Plan, PointId, SubjectId};

/// The cases of a plan one by one, and all of them together if they are several.
fn cases(plan: &Plan) -> impl Iterator<Item = Option<usize>> {
    let all = (plan.cases.len() > 1).then_some(None);
    (0..plan.cases.len()).map(Some).chain(all)
}

/// The points of a case, or of all, at which servers are asked as fast as they answer.
fn closed_points(
    plan: &Plan,
    case: Option<usize>,
    keep_alive: bool,
) -> impl Iterator<Item = PointId> {
    (0..plan.points.len()).filter(move |&point| {
        case.is_none_or(|case| plan.points[point].case == case)
            && !plan.is_open(point)
            && plan.keeps_alive(point) == keep_alive
    })
}

/// A server at a point.
type Place = (SubjectId, PointId);

/// For each block that has a value at both places of all pairs: the mean over the pairs of the logarithm of
/// the second's / the first's.
fn mean_logs(
    visits: &Visits,
    pairs: &[(Place, Place)],
    value: impl Fn(&Visit) -> Option<f64>,
) -> Vec<f64> {
    let values = |(subject, point): Place| visits.of(subject, point).map(|v| value(v?));
    let logs = |&(from, to): &(Place, Place)| -> Vec<Option<f64>> {
        let both = values(from).zip(values(to));
        both.map(|(from, to)| Some((to? / from?).ln())).collect()
    };
    let logs: Vec<Vec<Option<f64>>> = pairs.iter().map(logs).collect();
    let blocks = logs.iter().map(Vec::len).min().unwrap_or(0);
    let sum = |block: usize| logs.iter().map(|logs| logs[block]).sum::<Option<f64>>();
    let sums = (0..blocks).filter_map(sum);
    sums.map(|sum| sum / pairs.len() as f64).collect()
}
