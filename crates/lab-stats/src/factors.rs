// SPDX-License-Identifier: Apache-2.0
//! Pairs of points with the same work and different values of one factor, which show the factor's
//! effect.

use lab_model::{Plan, PointId};

/// Returns pairs of points that differ in only one factor, with the factor's name.
///
/// The first point of a pair has the factor's first value.
pub(crate) fn pairs(plan: &Plan) -> Vec<(PointId, PointId, String)> {
    let mut pairs = Vec::new();
    for to in plan.points.ids() {
        for (factor, _) in plan.points[to].factors(plan.case(to)) {
            let mut earlier = plan.points.ids().take_while(|&from| from < to);
            let first = earlier.find(|&from| differ_in(plan, from, to, factor));
            pairs.extend(first.map(|from| (from, to, factor.clone())));
        }
    }
    pairs
}

fn differ_in(plan: &Plan, from: PointId, to: PointId, factor: &str) -> bool {
    let (from, to) = (&plan.points[from], &plan.points[to]);
    let same_keys = from.params.len() == to.params.len();
    let differing = || from.params.iter().zip(&to.params).filter(|(a, b)| a != b);
    from.case == to.case
        && same_keys
        && differing().count() == 1
        && differing().all(|(a, b)| a.0 == factor && b.0 == factor)
}
