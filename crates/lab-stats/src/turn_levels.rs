// SPDX-License-Identifier: Apache-2.0
//! Compares the turns of batches with the steady level that the pilot measured for their subject.
//!
//! In the pilot as in a block, turns alternate with turns of the baseline, so both levels are
//! multiples of the baseline's level at the same speed of the machine. The pilot uses a separate
//! process of the subject. The level of this process differs from the level of the blocks by the
//! variation between processes, which is estimated from the blocks. The rate of false alarms is
//! simulated (docs/statistics.md).

use crate::analysis::{Exclusion, ExclusionReason, FirstPoint, TurnsCause, TurnsNotSteady};
use crate::normal::upper_quantile;
use crate::order;
use crate::steady::{Steady, steady_batches};
use crate::table::BatchTable;
use lab_model::{Pilot, Plan, PointId, Run, SubjectId};
use std::collections::{BTreeMap, BTreeSet};

/// Turns are above the pilot's level if they exceed that level, in logarithms, by more than this
/// value plus random variation.
const TOLERANCE: f64 = 0.15;
/// Turns are below the pilot's level if that level exceeds the level of the turns, in logarithms,
/// by more than this value plus random variation. The pilot was then not steady yet.
///
/// A smaller difference more likely means that the process of the pilot was unusually slow.
const TOLERANCE_BELOW: f64 = 0.4;
/// The probability of a false alarm about any comparison of a run.
const ALPHA: f64 = 0.05;
/// The minimum fraction of a subject's processes that must be off the level for an exclusion.
///
/// A smaller fraction does not affect the estimate.
const FRACTION_OFF: f64 = 0.25;
/// Processes count as staying at their level if the median decrease of their time is less than this
/// fraction of the distance between the two levels.
const KEPT: f64 = 0.25;
/// The minimum gap between the processes at two levels, as a fraction of the distance between the
/// medians of the levels.
const GAP: f64 = 0.5;
/// The standard deviation of a normal distribution divided by its median absolute deviation.
const NORMAL: f64 = 1.4826;
/// The minimum standard deviation between processes, in logarithms.
const MIN_SCATTER: f64 = 0.01;
/// The maximum standard deviation between the processes of one subject, in logarithms. There is a
/// maximum because a warm-up also increases the deviation.
const MAX_SCATTER: f64 = 0.06;
/// The maximum standard deviation between the processes of one subject is at least this multiple of
/// the median over all subjects.
const MAX_OF_MEDIAN: f64 = 2.0;

/// Excludes subjects at the points where their turns were not at their steady level.
pub(crate) fn exclusions(run: &Run, plan: &Plan) -> Vec<Exclusion> {
    // With multiple agents, only one agent runs the pilots, and the other machines have levels of
    // their own.
    let agents: BTreeSet<_> = run.blocks.iter().map(|block| block.agent).collect();
    if agents.len() > 1 || run.pilots.iter().all(|pilot| pilot.ages.is_empty()) {
        return Vec::new();
    }
    let mut off: BTreeMap<SubjectId, Vec<OffLevel>> = BTreeMap::new();
    for level in off_levels(run, plan) {
        off.entry(level.subject).or_default().push(level);
    }
    off.into_values()
        .flat_map(|mut levels| {
            levels.sort_by(|a, b| b.distance.abs().total_cmp(&a.distance.abs()));
            let reason = reason(plan, &levels[0], levels.len() - 1);
            let exclusion = move |level: OffLevel| Exclusion {
                subject: level.subject,
                point: Some(level.point),
                reason: ExclusionReason::TurnsNotSteady(reason.clone()),
            };
            levels.into_iter().map(exclusion)
        })
        .collect()
}

/// A subject that was not at its steady level at a point.
struct OffLevel {
    subject: SubjectId,
    point: PointId,
    /// The logarithm of the turns' level divided by the pilot's level. This is the median over the
    /// processes that were not at the pilot's level.
    distance: f64,
    /// The time of an operation in the turns of these processes, in ns.
    turns_ns: f64,
    processes: usize,
    processes_off: usize,
    /// The time of an operation in the turns of all other processes, in ns, if the processes have
    /// two persistent levels.
    other_level_ns: Option<f64>,
    level: Steady,
}

/// The differences between the levels of a subject's processes at a point and the level of its
/// pilot.
struct Distances<'r> {
    pilot: &'r Pilot,
    level: Steady,
    distances: Vec<f64>,
    /// The decrease of each process's time during its turns, in logarithms, if it is known.
    falls: Vec<Option<f64>>,
    /// The time of an operation in the blocks, in ns.
    turns_ns: f64,
    scatter: f64,
}

fn off_levels(run: &Run, plan: &Plan) -> Vec<OffLevel> {
    let table = BatchTable::new(run, plan);
    let known = |p: &&Pilot| plan.subjects.has_id(p.subject) && plan.points.has_id(p.point);
    let pilots = run.pilots.iter().filter(known);
    let all: Vec<Distances> = pilots.filter_map(|p| distances(plan, &table, p)).collect();
    let scatters: Vec<f64> = all.iter().map(|d| d.scatter).collect();
    let median = order::median(&scatters).unwrap_or(0.0).max(MIN_SCATTER);
    let certain = upper_quantile(ALPHA / all.len().max(1) as f64);
    all.iter()
        .filter_map(|d| d.deviation(median, certain))
        .collect()
}

fn distances<'r>(plan: &Plan, table: &BatchTable, pilot: &'r Pilot) -> Option<Distances<'r>> {
    let (subject, point) = (pilot.subject, pilot.point);
    let level = steady_batches(pilot)?;
    let baseline = plan.baseline_for(plan.points[point].target);
    let logs = table.log_ratios(subject, baseline, point);
    let expected = level.ratio?.ln();
    let falls = table.falls(subject, baseline, point);
    let known = logs.into_iter().zip(falls);
    let (distances, falls): (Vec<f64>, Vec<Option<f64>>) = known
        .filter_map(|(log, fall)| Some((log? - expected, fall)))
        .unzip();
    let times = table.visits(subject, point).flatten().map(|v| v.wall_ns);
    let center = order::median(&distances)?;
    let deviations: Vec<f64> = distances.iter().map(|d| (d - center).abs()).collect();
    Some(Distances {
        pilot,
        level,
        scatter: NORMAL * order::median(&deviations)?,
        turns_ns: order::median(&times.collect::<Vec<f64>>())?,
        distances,
        falls,
    })
}

impl Distances<'_> {
    /// Returns how far the turns deviate from the pilot's level, or `None` if the deviation is
    /// within the tolerance.
    ///
    /// `median` is the median spread of all subjects. `certain` is the number of standard
    /// deviations beyond which a difference is not due to chance.
    fn deviation(&self, median: f64, certain: f64) -> Option<OffLevel> {
        let scatter = self
            .scatter
            .clamp(median, MAX_SCATTER.max(MAX_OF_MEDIAN * median));
        // The variation of the pilot's process and of the blocks' processes, and the error of the
        // pilot's level.
        let luck = certain * (2.0 * scatter * scatter + self.level.error.powi(2)).sqrt();
        let all = || self.distances.iter().copied();
        let is_above = |d: f64| d > TOLERANCE + luck;
        let is_below = |d: f64| d < -TOLERANCE_BELOW - luck;
        let above = all().filter(|d| is_above(*d)).count();
        let below = all().filter(|d| is_below(*d)).count();
        let is_off = |d: f64| {
            if above >= below {
                is_above(d)
            } else {
                is_below(d)
            }
        };
        let off: Vec<f64> = all().filter(|d| is_off(*d)).collect();
        let processes = self.distances.len();
        let least = ((FRACTION_OFF * processes as f64).ceil() as usize).max(2.min(processes));
        if off.len() < least {
            return None;
        }
        let median = order::median(&self.distances)?;
        let distance = order::median(&off)?;
        let others: Vec<f64> = all().filter(|d| !is_off(*d)).collect();
        let falls = self.distances.iter().zip(&self.falls);
        let falls = falls.filter(|(d, _)| is_off(**d)).map(|(_, fall)| *fall);
        let falls: Option<Vec<f64>> = falls.collect();
        let is_split = others.len() >= least
            && falls.is_some_and(|falls| has_two_levels(&off, &others, &falls));
        let other_level = order::median(&others).filter(|_| is_split);
        Some(OffLevel {
            subject: self.pilot.subject,
            point: self.pilot.point,
            distance,
            turns_ns: self.turns_ns * (distance - median).exp(),
            processes,
            processes_off: off.len(),
            other_level_ns: other_level.map(|other| self.turns_ns * (other - median).exp()),
            level: self.level,
        })
    }
}

/// Returns true if the processes `off` and the processes `others` have two persistent levels.
///
/// There must be no processes between the levels, and most processes of `off` must not have become
/// faster during their turns. `falls` contains the decrease of the time of each process of `off`,
/// in logarithms.
fn has_two_levels(off: &[f64], others: &[f64], falls: &[f64]) -> bool {
    let levels = [off, others, falls].map(order::median);
    let [Some(level), Some(other), Some(fall)] = levels else {
        return false;
    };
    let distance = (level - other).abs();
    let side = (level - other).signum();
    let nearest = |of: &[f64], side: f64| of.iter().map(|d| d * side).fold(f64::INFINITY, f64::min);
    let gap = nearest(off, side) + nearest(others, -side);
    gap > GAP * distance && fall < KEPT * distance
}

fn reason(plan: &Plan, off: &OffLevel, more: usize) -> TurnsNotSteady {
    let cause = match off.other_level_ns {
        Some(other_ns) => TurnsCause::TwoLevels { other_ns },
        None if off.distance < 0.0 => TurnsCause::PilotTooShort,
        None if off.level.from == 0 && off.level.reached => TurnsCause::Disturbed,
        None => TurnsCause::WarmingUp {
            pilot_steady: off.level.reached,
            operations: off.level.age.requests,
            wall_ns: off.level.age.wall_ns,
        },
    };
    TurnsNotSteady {
        at: FirstPoint {
            first: plan.label(off.point),
            more,
        },
        processes_off: off.processes_off,
        processes: off.processes,
        turns_ns: off.turns_ns,
        steady_ns: off.turns_ns / off.distance.exp(),
        cause,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_levels_need_a_gap_between_them() {
        let stable = [0.0; 5];
        assert!(has_two_levels(&[0.9, 1.0, 1.1], &[0.0, 0.1], &stable));
        assert!(has_two_levels(&[-0.9, -1.0, -1.1], &[0.0, -0.1], &stable));
        // Two processes of the first group are closer to the other group than to their own.
        assert!(!has_two_levels(&[0.2, 0.2, 1.0, 1.0, 1.0], &[0.0], &stable));
        assert!(!has_two_levels(&[1.0, 1.0, 1.0], &[0.0, 0.0, 0.8], &stable));
        // The processes were still becoming faster.
        assert!(!has_two_levels(&[0.9, 1.0, 1.1], &[0.0, 0.1], &[0.5; 3]));
    }
}
