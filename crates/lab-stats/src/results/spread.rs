// SPDX-License-Identifier: Apache-2.0
//! The effect of the values of a factor on each subject, at the swept value that the report shows.

use super::compare::ComparisonFamily;
use super::levels::{Blocks, log_ratios};
use crate::exclusions::is_measured;
use crate::factors;
use crate::sweeps::{Sweep, sweeps};
use lab_model::{Cores, Plan, PointId, Run, SubjectId};

/// Adds the effects of the first case's factors if the case has a sweep with concurrent operations.
///
/// `values` returns a subject's values at a point, by block.
pub(crate) fn add_spreads(
    family: &mut ComparisonFamily,
    values: impl Fn(SubjectId, PointId) -> Blocks,
) {
    let basis = family.basis;
    let plan = basis.plan;
    for (from, to) in factor_pairs(basis.run, plan) {
        let is_measured = |s: &SubjectId| {
            is_measured(basis.run, plan, *s, from) && is_measured(basis.run, plan, *s, to)
        };
        let logs = |subject| log_ratios(&values(subject, to), &values(subject, from));
        let subjects = plan.compared().filter(is_measured);
        let logs = subjects.map(|s| (s, logs(s)));
        family.add_spread((from, to), logs.collect());
    }
}

/// Returns pairs of points that differ in the value of a factor.
fn factor_pairs(run: &Run, plan: &Plan) -> Vec<(PointId, PointId)> {
    let first = plan.points.first().map(|point| point.case);
    let groups = sweeps(plan).into_iter();
    let groups = groups.filter(|s| Some(s.case) == first && plan.cases[s.case].cores == Cores::All);
    let groups: Vec<Sweep> = groups.collect();
    let Some(x) = x_of_pairs(run, &groups) else {
        return Vec::new();
    };
    let at = |group: &Sweep| {
        group
            .points
            .iter()
            .find(|(_, value)| *value == x)
            .map(|(p, _)| *p)
    };
    let others = groups.iter().skip(1).filter_map(at);
    let pairs = factors::pairs(plan);
    let from = |to| {
        pairs
            .iter()
            .find(|pair| pair.1 == to)
            .map(|&(from, ..)| (from, to))
    };
    others.filter_map(from).collect()
}

/// Returns the largest swept value that does not exceed the number of cores. If all values exceed
/// it, returns the smallest value.
fn x_of_pairs(run: &Run, groups: &[Sweep]) -> Option<f64> {
    let cores = run.host.cores().unwrap_or(f64::INFINITY);
    let all = groups.iter().flat_map(|group| &group.points);
    let mut all: Vec<f64> = all.map(|(_, x)| *x).collect();
    all.sort_by(f64::total_cmp);
    let fitting = all.iter().rfind(|x| **x <= cores);
    fitting.or(all.first()).copied()
}
