// SPDX-License-Identifier: Apache-2.0
//! What a factor costs within one subject: the same work with another value of the factor.

use crate::analysis::FactorEffect;
use crate::ratio::{Level, ratio};
use crate::refusals::failed;
use crate::table::Table;
use lab_model::{Plan, PointId, Run, SubjectId};

/// The effects of all factors, by subject, then point; none for a subject that shows an overhead. Paired by block: both points are visited by
/// the same process. Intervals are individual, at the plan's level.
pub fn factors(run: &Run, plan: &Plan, table: &Table) -> Vec<FactorEffect> {
    let level = Level {
        alpha: plan.measure.alpha,
        family: 1,
    };
    let mut effects = Vec::new();
    let subjects = 0..plan.subjects.len();
    for subject in subjects.filter(|&s| !plan.subjects[s].overhead) {
        for (from, to, factor) in pairs(plan) {
            if failed(run, subject, from) || failed(run, subject, to) {
                continue;
            }
            if let Some(ratio) = ratio(&log_ratios(table, subject, from, to), level) {
                effects.push(FactorEffect {
                    subject,
                    from,
                    to,
                    factor,
                    ratio: ratio.interval,
                });
            }
        }
    }
    effects
}

/// Points that differ in one factor only, the first of which has the factor's first value.
fn pairs(plan: &Plan) -> Vec<(PointId, PointId, String)> {
    let mut pairs = Vec::new();
    for to in 0..plan.points.len() {
        for (factor, _) in plan.points[to].factors(plan.case(to)) {
            let first = (0..to).find(|&from| differ_in(plan, from, to, factor));
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

fn log_ratios(table: &Table, subject: SubjectId, from: PointId, to: PointId) -> Vec<f64> {
    let both = table.visits(subject, from).zip(table.visits(subject, to));
    both.filter_map(|(from, to)| Some((to?.wall_ns / from?.wall_ns).ln()))
        .collect()
}
