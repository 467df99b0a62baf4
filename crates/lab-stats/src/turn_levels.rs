// SPDX-License-Identifier: Apache-2.0
//! Compares the turns of batches with the level at which the pilot found their subject steady.
//!
//! The pilot takes turns with the baseline as a block does, so both levels are multiples of the baseline's at the same speed
//! of the machine. The pilot is one more process of the subject: its level differs from those of the blocks by the luck of a
//! process, which the scatter of the blocks shows. How often the check raises a false alarm is simulated
//! (docs/statistics.md).

use crate::analysis::{ExclusionReason, FirstPoint, Refusal, TurnsCause, TurnsNotSteady};
use crate::normal::upper_quantile;
use crate::order;
use crate::steady::{Steady, steady_batches};
use crate::table::BatchTable;
use lab_model::{Pilot, Plan, PointId, Run, SubjectId, Work};
use std::collections::{BTreeMap, BTreeSet};

/// Turns that are farther above the pilot's level than this, in logarithms, and by more than luck, were not at it.
const TOLERANCE: f64 = 0.15;
/// Turns that are below it show that the pilot was not steady yet, or that its process had bad luck: the more likely reason
/// while they are no farther from it than this.
const TOLERANCE_BELOW: f64 = 0.4;
/// A false alarm about any of a run's comparisons has this chance.
const ALPHA: f64 = 0.05;
/// The fraction of a subject's processes that have to be off. Fewer do not move the estimate.
const FRACTION_OFF: f64 = 0.25;
/// A process kept its level if it became cheaper by no more than this part of its distance from the other level.
const KEPT: f64 = 0.25;
/// Levels are two if the gap between them is wider than this fraction of their distance.
const GAP: f64 = 0.5;
/// Standard deviation of a normal distribution / its median absolute deviation.
const NORMAL: f64 = 1.4826;
/// The least scatter of processes, and the most for a subject: one that warms up scatters by that.
const MIN_SCATTER: f64 = 0.01;
const MAX_SCATTER: f64 = 0.06;
const MAX_OF_MEDIAN: f64 = 2.0;

/// The subjects whose turns were not at their steady level, at the points where they were not.
pub(crate) fn refusals(run: &Run, plan: &Plan) -> Vec<Refusal> {
    // One agent pilots for all, and the others' machines have levels of their own.
    let agents: BTreeSet<_> = run.blocks.iter().map(|block| block.agent).collect();
    let is_checked = matches!(plan.work, Work::Batches) && agents.len() <= 1;
    if !is_checked || run.pilots.iter().all(|pilot| pilot.ages.is_empty()) {
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
            let refusal = move |level: OffLevel| Refusal {
                subject: level.subject,
                point: Some(level.point),
                reason: ExclusionReason::TurnsNotSteady(reason.clone()),
            };
            levels.into_iter().map(refusal)
        })
        .collect()
}

/// A subject that was not at its steady level at a point.
struct OffLevel {
    subject: SubjectId,
    point: PointId,
    /// The logarithm of the level of its turns / the pilot's: median over the processes that are off.
    distance: f64,
    /// Time of an operation in the turns of these, ns.
    turns_ns: f64,
    processes: usize,
    processes_off: usize,
    /// Time of an operation in the turns of the other processes, if each kept the level of its group.
    other_level_ns: Option<f64>,
    level: Steady,
}

/// A subject at a point, with the distance of each of its processes from the pilot's level.
struct Distances<'r> {
    pilot: &'r Pilot,
    level: Steady,
    distances: Vec<f64>,
    /// By how much each process became cheaper during its turns, in logarithms, where it is known.
    falls: Vec<Option<f64>>,
    /// Time of an operation in the blocks, ns.
    turns_ns: f64,
    scatter: f64,
}

fn off_levels(run: &Run, plan: &Plan) -> Vec<OffLevel> {
    let table = BatchTable::new(run, plan);
    let known = |p: &&Pilot| p.subject < plan.subjects.len() && p.point < plan.points.len();
    let pilots = run.pilots.iter().filter(known);
    let all: Vec<Distances> = pilots.filter_map(|p| distances(plan, &table, p)).collect();
    let scatters: Vec<f64> = all.iter().map(|d| d.scatter).collect();
    let usual = order::median(&scatters).unwrap_or(0.0).max(MIN_SCATTER);
    let certain = upper_quantile(ALPHA / all.len().max(1) as f64);
    all.iter().filter_map(|d| d.off(usual, certain)).collect()
}

fn distances<'r>(plan: &Plan, table: &BatchTable, pilot: &'r Pilot) -> Option<Distances<'r>> {
    let (subject, point) = (pilot.subject, pilot.point);
    let level = steady_batches(pilot)?;
    let baseline = plan.baseline_on(plan.points[point].target);
    let logs = table.log_ratios(subject, baseline, point);
    let wanted = level.ratio?.ln();
    let falls = table.falls(subject, baseline, point);
    let known = logs.into_iter().zip(falls);
    let (distances, falls): (Vec<f64>, Vec<Option<f64>>) = known
        .filter_map(|(log, fall)| Some((log? - wanted, fall)))
        .unzip();
    let times = table.visits(subject, point).flatten().map(|v| v.wall_ns);
    let centre = order::median(&distances)?;
    let deviations: Vec<f64> = distances.iter().map(|d| (d - centre).abs()).collect();
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
    /// Tests for turns off the level. `usual`: the scatter of all subjects; `certain`: the number of standard
    /// deviations beyond which a deviation is not chance.
    fn off(&self, usual: f64, certain: f64) -> Option<OffLevel> {
        let scatter = self
            .scatter
            .clamp(usual, MAX_SCATTER.max(MAX_OF_MEDIAN * usual));
        // The luck of the pilot's process and that of the blocks'.
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
        let usual = order::median(&self.distances)?;
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
            turns_ns: self.turns_ns * (distance - usual).exp(),
            processes,
            processes_off: off.len(),
            other_level_ns: other_level.map(|other| self.turns_ns * (other - usual).exp()),
            level: self.level,
        })
    }
}

/// True if processes that are off and the others have two levels that last: nothing is between them, and most of those
/// that are off did not become cheaper during their turns. `falls`: by how much each of them did.
fn has_two_levels(off: &[f64], others: &[f64], falls: &[f64]) -> bool {
    let levels = [off, others, falls].map(order::median);
    let [Some(level), Some(other), Some(fall)] = levels else {
        return false;
    };
    let distance = (level - other).abs();
    let middle = 0.5 * (level + other);
    let nearest = |of: &[f64]| {
        let distances = of.iter().map(|d| (d - middle).abs());
        distances.fold(f64::INFINITY, f64::min)
    };
    nearest(off) + nearest(others) > GAP * distance && fall < KEPT * distance
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
