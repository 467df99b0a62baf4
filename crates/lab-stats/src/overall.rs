// SPDX-License-Identifier: Apache-2.0
//! A subject over all points: the geometric mean of its ratios to the baseline.

use crate::analysis::{Overall, Refusal};
use crate::compare::candidates;
use crate::ratio::{Level, ratio};
use crate::refusals::refused;
use crate::table::{Table, Time};
use lab_model::{Cores, Plan, PointId, SubjectId};

/// The overall ratio of each subject that is compared somewhere, simultaneous at level `1 - alpha`.
///
/// Each block gives one value, the mean of its log ratios over the points, and these values are
/// treated as those of a single point are: so the interval is exact, however the points depend on
/// each other. Points where the subject is refused, and blocks that lack another point, are left
/// out; so are points that do several operations at once, whose times are no operation's.
pub fn overall(plan: &Plan, table: &Table, refusals: &[Refusal], alpha: f64) -> Vec<Overall> {
    let means: Vec<(SubjectId, u32, Vec<f64>)> = candidates(plan)
        .map(|subject| (subject, compared_points(plan, table, refusals, subject)))
        .map(|(subject, points)| (subject, points.len() as u32, block_means(&points)))
        .filter(|(_, _, means)| !means.is_empty())
        .collect();
    let level = Level {
        alpha,
        family: means.len(),
    };
    means
        .into_iter()
        .filter_map(|(subject, points, means)| {
            Some(Overall {
                subject,
                ratio: ratio(&means, level)?.interval,
                points,
            })
        })
        .collect()
}

/// For each point where the subject is compared, the log ratios by block.
fn compared_points(
    plan: &Plan,
    table: &Table,
    refusals: &[Refusal],
    subject: SubjectId,
) -> Vec<Vec<Option<f64>>> {
    let log_ratios =
        |point: PointId| table.log_ratios(subject, plan.baseline, point, Time::Typical);
    (0..plan.points.len())
        .filter(|&point| plan.case(point).cores == Cores::One)
        .filter(|&point| !refused(refusals, subject, point))
        .map(log_ratios)
        .filter(|logs| logs.iter().any(Option::is_some))
        .collect()
}

/// The mean over the points, for each block that has them all.
fn block_means(points: &[Vec<Option<f64>>]) -> Vec<f64> {
    let blocks = points.first().map_or(0, Vec::len);
    let sum = |block: usize| points.iter().map(|logs| logs[block]).sum::<Option<f64>>();
    (0..blocks)
        .filter_map(sum)
        .map(|sum| sum / points.len() as f64)
        .collect()
}
