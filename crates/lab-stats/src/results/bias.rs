// SPDX-License-Identifier: Apache-2.0
//! Biases that could be mistaken for a difference between subjects.
//!
//! The biases are carry-over from one turn to the next, drift within a block, differences between
//! cores, and threads other than the measured thread. They are estimated from the order and the
//! cores of the turns.

use super::{Bias, BiasKind};
use crate::ratio::{Level, ratio};
use crate::{mean, order, rank_sum};
use lab_model::{Block, Cores, Interval, Plan, PointId, Run, Slice, SubjectId};
use std::collections::{BTreeMap, BTreeSet};

/// The minimum number of turns at a point for comparing their first half with their second half.
const MIN_TURNS: usize = 4;

/// The minimum number of blocks on a core, and on all other cores, for comparing the core with the
/// other cores.
const MIN_BLOCKS: usize = 3;

/// One turn of a subject.
struct SubjectTurn {
    point: PointId,
    subject: SubjectId,
    pass: u32,
    /// The logarithm of the wall time of an operation or a request.
    log: f64,
}

/// The turns of a block, in chronological order.
struct Turns {
    core: u32,
    all: Vec<SubjectTurn>,
}

/// Returns the biases of batches and of whole commands.
pub(crate) fn of_batches(run: &Run, plan: &Plan) -> Vec<Bias> {
    let of = |block: &Block| {
        let planned = block.samples.iter().filter(|s| plan.points.has_id(s.point));
        let turns = planned.map(|s| SubjectTurn {
            point: s.point,
            subject: s.subject,
            pass: s.pass,
            log: log_per_operation(s.batch.wall_ns, s.batch.operations),
        });
        Turns {
            core: block.core,
            all: turns.collect(),
        }
    };
    let blocks: Vec<Turns> = run.complete_blocks().map(of).collect();
    let mut biases = of_turns(plan, &blocks);
    biases.extend(core_effects(plan, &blocks));
    biases.extend(helpers(run, plan));
    biases
}

/// Returns the biases of closed-loop loads.
///
/// In an open loop, the rate is fixed.
pub(crate) fn of_load(run: &Run, plan: &Plan) -> Vec<Bias> {
    let of = |block: &Block| {
        let planned = block.slices.iter().filter(|s| plan.points.has_id(s.point));
        let closed = planned.filter(|s| !plan.is_open(s.point));
        let served = closed.filter(|slice| slice.served > 0);
        let turns = served.map(|s| SubjectTurn {
            point: s.point,
            subject: s.subject,
            pass: s.pass,
            log: log_per_operation(s.served_in_ns(), s.served),
        });
        Turns {
            core: block.core,
            all: turns.collect(),
        }
    };
    let blocks: Vec<Turns> = run.complete_blocks().map(of).collect();
    let mut biases = of_turns(plan, &blocks);
    biases.extend(redone(run, plan));
    biases
}

/// Returns the effect that redone turns would have had on the results if they had not been redone.
fn redone(run: &Run, plan: &Plan) -> Vec<Bias> {
    let logs = plan.compared().filter_map(|subject| {
        let blocks = run.complete_blocks();
        let logs: Vec<f64> = blocks.filter_map(|b| of_redone(plan, b, subject)).collect();
        logs.iter()
            .any(|log| *log != 0.0)
            .then_some((subject, logs))
    });
    judged(plan, BiasKind::Redone, logs.collect())
}

/// Returns the effect of the redone turns of a block, as a mean over all points.
fn of_redone(plan: &Plan, block: &Block, subject: SubjectId) -> Option<f64> {
    let cost = |slices: &[&Slice]| {
        let served: f64 = slices.iter().map(|s| s.served as f64).sum();
        let cpu: Option<f64> = slices.iter().map(|s| Some(s.server_cpu_ns? as f64)).sum();
        let ns = cpu.unwrap_or_else(|| slices.iter().map(|s| s.served_in_ns() as f64).sum());
        (served > 0.0 && ns > 0.0).then(|| ns / served)
    };
    average(plan.points.ids().filter_map(|point| {
        let is_at_point = |s: &&Slice| (s.subject, s.point) == (subject, point);
        let counted: Vec<&Slice> = block.slices.iter().filter(is_at_point).collect();
        let redone = block.redone_slices.iter().filter(is_at_point);
        let all: Vec<&Slice> = counted.iter().copied().chain(redone).collect();
        Some((cost(&all)? / cost(&counted)?).ln())
    }))
}

fn log_per_operation(ns: u64, operations: u64) -> f64 {
    (ns.max(1) as f64 / operations.max(1) as f64).ln()
}

/// Returns the carry-over and the drift of each subject.
fn of_turns(plan: &Plan, blocks: &[Turns]) -> Vec<Bias> {
    let kinds: [(BiasKind, Difference); 2] =
        [(BiasKind::CarryOver, carry_over), (BiasKind::Drift, drift)];
    let of = |(kind, difference): (BiasKind, Difference)| {
        let logs = plan.compared().map(|subject| {
            let each = blocks.iter().filter_map(|b| difference(&b.all, subject));
            (subject, each.collect::<Vec<f64>>())
        });
        judged(plan, kind, logs.collect())
    };
    kinds.into_iter().flat_map(of).collect()
}

/// A function that computes the bias of a subject in one block from the turns of the block. The
/// bias is the logarithm of a ratio of times.
type Difference = fn(&[SubjectTurn], SubjectId) -> Option<f64>;

/// Returns the carry-over within a block.
///
/// Passes are mirrored: the last subject of the first pass starts the second pass, so it follows
/// itself.
fn carry_over(turns: &[SubjectTurn], subject: SubjectId) -> Option<f64> {
    let differences = turns.windows(2).filter_map(|two| match two {
        [before, after]
            if before.subject == subject
                && after.subject == subject
                && before.point == after.point
                && before.pass / 2 == after.pass / 2
                && before.pass != after.pass =>
        {
            Some(after.log - before.log)
        }
        _ => None,
    });
    order::interquartile_mean(&differences.collect::<Vec<f64>>())
}

/// Returns the difference between the second and the first half of a subject's turns at a point,
/// averaged over points.
fn drift(turns: &[SubjectTurn], subject: SubjectId) -> Option<f64> {
    let of = |logs: &Vec<f64>| {
        let (first, second) = logs.split_at(logs.len() / 2);
        let enough = logs.len() >= MIN_TURNS;
        let difference = order::interquartile_mean(second)? - order::interquartile_mean(first)?;
        enough.then_some(difference)
    };
    average(by_point(turns, subject).values().filter_map(of))
}

fn by_point(turns: &[SubjectTurn], subject: SubjectId) -> BTreeMap<PointId, Vec<f64>> {
    let mut points: BTreeMap<PointId, Vec<f64>> = BTreeMap::new();
    for turn in turns.iter().filter(|turn| turn.subject == subject) {
        points.entry(turn.point).or_default().push(turn.log);
    }
    points
}

fn average(values: impl Iterator<Item = f64>) -> Option<f64> {
    let all: Vec<f64> = values.collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

/// Returns the biases of one kind, with an unadjusted interval for each subject. A bias stands out
/// if it exceeds the margin at the level of the family.
fn judged(plan: &Plan, kind: BiasKind, logs: Vec<(SubjectId, Vec<f64>)>) -> Vec<Bias> {
    let family = logs.len();
    let at = |logs: &[f64], family: usize| {
        let alpha = plan.measure.alpha;
        ratio(logs, Level { alpha, family })
    };
    let of = |(subject, logs): (SubjectId, Vec<f64>)| {
        let ratio = at(&logs, 1).filter(|r| r.sufficient)?.interval;
        let together = at(&logs, family)?.interval;
        Some(Bias {
            subject,
            kind,
            ratio,
            stands_out: exceeds(&together, plan.measure.margin),
        })
    };
    logs.into_iter().filter_map(of).collect()
}

fn exceeds(ratio: &Interval, margin: f64) -> bool {
    ratio.low > 1.0 + margin || ratio.high < 1.0 - margin
}

/// Compares each core with the other cores: the baseline's time, and the other subjects' ratios to
/// the baseline.
fn core_effects(plan: &Plan, blocks: &[Turns]) -> Vec<Bias> {
    let level = |turns: &Turns, subject| {
        let points = by_point(&turns.all, subject);
        average(
            points
                .values()
                .filter_map(|logs| order::interquartile_mean(logs)),
        )
    };
    let value = |turns: &Turns, subject| {
        let base = level(turns, plan.baseline)?;
        if subject == plan.baseline {
            Some(base)
        } else {
            Some(level(turns, subject)? - base)
        }
    };
    let cores: BTreeSet<u32> = blocks.iter().map(|turns| turns.core).collect();
    let pairs: Vec<(u32, SubjectId)> = cores
        .iter()
        .flat_map(|&core| plan.compared().map(move |s| (core, s)))
        .collect();
    let of = |&(core, subject): &(u32, SubjectId)| {
        let (on_core, elsewhere): (Vec<&Turns>, Vec<&Turns>) =
            blocks.iter().partition(|turns| turns.core == core);
        let values = |side: &[&Turns]| -> Vec<f64> {
            side.iter().filter_map(|t| value(t, subject)).collect()
        };
        let (on_core, elsewhere) = (values(&on_core), values(&elsewhere));
        let enough = on_core.len().min(elsewhere.len()) >= MIN_BLOCKS;
        let at = |alpha| rank_sum::shift(&elsewhere, &on_core, alpha).map(|c| exponent(c.interval));
        let together = at(plan.measure.alpha / pairs.len() as f64)?;
        let has_level = together.level >= Interval::confidence_level(plan.measure.alpha);
        enough.then_some(Bias {
            subject,
            kind: BiasKind::Core(core),
            ratio: at(plan.measure.alpha)?,
            stands_out: has_level && exceeds(&together, plan.measure.margin),
        })
    };
    pairs.iter().filter_map(of).collect()
}

fn exponent(log: Interval) -> Interval {
    Interval {
        estimate: log.estimate.exp(),
        low: log.low.exp(),
        high: log.high.exp(),
        level: log.level,
    }
}

/// Returns the CPU time divided by the wall time of each subject, at points without concurrent
/// operations.
fn helpers(run: &Run, plan: &Plan) -> Vec<Bias> {
    let alone = |point| plan.points.has_id(point) && plan.case(point).cores == Cores::One;
    let of = |subject: SubjectId| {
        let blocks = run.complete_blocks().filter_map(|block| {
            let samples = block.samples.iter();
            let of_subject = samples.filter(|s| s.subject == subject && alone(s.point));
            let sums = of_subject.fold((0.0, 0.0), |(cpu, wall), s| {
                (cpu + s.batch.cpu_ns as f64, wall + s.batch.wall_ns as f64)
            });
            (sums.1 > 0.0).then_some(sums)
        });
        let (cpu, wall): (Vec<f64>, Vec<f64>) = blocks.unzip();
        let alpha = plan.measure.alpha;
        let ratio = mean::ratio_of_means(&cpu, &wall, plan.seed, alpha)?;
        // Helper threads missing from all blocks would only increase the ratio.
        let seen = mean::ratio_of_means_seen(&cpu, &wall, plan.seed, alpha)?;
        Some(Bias {
            subject,
            kind: BiasKind::Helpers,
            stands_out: seen.level > 0.0 && seen.low > 1.0 + plan.measure.margin,
            ratio,
        })
    };
    plan.compared().filter_map(of).collect()
}
