// SPDX-License-Identifier: Apache-2.0
//! Whether the turns of batches were at the level at which the pilot found their subject steady.
//!
//! The pilot takes turns with the baseline as a block does, so both levels are multiples of the baseline's at the same speed
//! of the machine. The pilot is one more process of the subject: its level differs from those of the blocks by the luck of a
//! process, which the scatter of the blocks shows. How often the check raises a false alarm is simulated
//! (docs/statistics.md).

use crate::analysis::{Refusal, RefusalKind};
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
            let why = sentence(plan, &levels[0], levels.len() - 1);
            let refusal = move |level: OffLevel| Refusal {
                subject: level.subject,
                point: Some(level.point),
                why: why.clone(),
                kind: RefusalKind::NotSteady,
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
    level: Steady,
    is_known: bool,
}

/// A subject at a point, with the distance of each of its processes from the pilot's level.
struct Distances<'r> {
    pilot: &'r Pilot,
    level: Steady,
    distances: Vec<f64>,
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
    let distances: Vec<f64> = logs.into_iter().flatten().map(|log| log - wanted).collect();
    let times = table.visits(subject, point).flatten().map(|v| v.wall_ns);
    let centre = order::median(&distances)?;
    let deviations: Vec<f64> = distances.iter().map(|d| (d - centre).abs()).collect();
    Some(Distances {
        pilot,
        level,
        scatter: NORMAL * order::median(&deviations)?,
        turns_ns: order::median(&times.collect::<Vec<f64>>())?,
        distances,
    })
}

impl Distances<'_> {
    /// `usual`: the scatter of all subjects; `certain`: how many standard deviations are no luck.
    fn off(&self, usual: f64, certain: f64) -> Option<OffLevel> {
        let scatter = self
            .scatter
            .clamp(usual, MAX_SCATTER.max(MAX_OF_MEDIAN * usual));
        // The luck of the pilot's process and that of the blocks'.
        let luck = certain * (2.0 * scatter * scatter + self.level.error.powi(2)).sqrt();
        let all = || self.distances.iter().copied();
        let above: Vec<f64> = all().filter(|d| *d > TOLERANCE + luck).collect();
        let below: Vec<f64> = all().filter(|d| *d < -TOLERANCE_BELOW - luck).collect();
        let off = if above.len() >= below.len() {
            above
        } else {
            below
        };
        let processes = self.distances.len();
        let least = ((FRACTION_OFF * processes as f64).ceil() as usize).max(2.min(processes));
        if off.len() < least {
            return None;
        }
        let usual = order::median(&self.distances)?;
        let distance = order::median(&off)?;
        Some(OffLevel {
            subject: self.pilot.subject,
            point: self.pilot.point,
            distance,
            turns_ns: self.turns_ns * (distance - usual).exp(),
            processes,
            processes_off: off.len(),
            level: self.level,
            is_known: self.level.reached,
        })
    }
}

/// A verb phrase behind the subject's name.
fn sentence(plan: &Plan, off: &OffLevel, more: usize) -> String {
    let place = match more {
        0 => plan.label(off.point),
        1 => format!("{} and one more point", plan.label(off.point)),
        more => format!("{} and {more} more points", plan.label(off.point)),
    };
    let of_processes = match (off.processes_off, off.processes) {
        (some, all) if some == all => String::new(),
        (some, all) => format!(" in {some} of {all} processes"),
    };
    let levels = format!(
        "turns {}, steady {} at the same speed of the machine",
        time(off.turns_ns),
        time(off.turns_ns / off.distance.exp())
    );
    if off.distance < 0.0 {
        return format!(
            "took less time at {place} than its pilot found steady{of_processes} ({levels}): it or the baseline needs a longer \
             warm-up than the pilot saw"
        );
    }
    if off.level.from == 0 && off.is_known {
        return format!(
            "was not at its steady level at {place}{of_processes} ({levels}), though its pilot saw no warm-up: something \
             disturbed it"
        );
    }
    let more_than = if off.is_known { "some" } else { "more than" };
    format!(
        "was still warming up at {place}{of_processes} ({levels}); it needs {more_than} {} operations ({})",
        off.level.age.requests,
        time(off.level.age.wall_ns as f64)
    )
}

fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    if value < 9.95 {
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.0} {unit}")
    }
}
