// SPDX-License-Identifier: Apache-2.0
//! Finds the commits that changed a program's time, from a run that measured every commit of a
//! range.
//!
//! All commits took turns in every block, so the variation between blocks shows the noise in the
//! commits' times. The commits are divided into segments of equal time by PELT ([`change_points`]).
//! Its penalty is set so that noise alone rarely produces a change: the blocks' deviations from the
//! commits' times are given random weights many times, and in at most a fraction `alpha` of these
//! draws, a change gains more than the penalty (multiplier bootstrap).
//!
//! A comparison of neighbors uses only two commits. A change point uses all commits of its
//! segments, so it finds smaller steps.
//!
//! Sources: Frick, Munk & Sieling, *Multiscale change point inference*, JRSS B 76 (2014), for a
//! penalty that controls the level without changes; Fryzlewicz, *Wild binary segmentation*, Annals
//! of Statistics 42 (2014), for thresholds from the noise's own distribution; Chernozhukov,
//! Chetverikov & Kato, *Gaussian approximations and multiplier bootstrap for maxima of sums of
//! high-dimensional random vectors*, Annals of Statistics 41 (2013).

use crate::bisection::{LogInterval, interval};
use crate::bootstrap::SplitMix64;
use crate::table::{BatchTable, sound_plan};
use crate::warmup::change_points;
use lab_model::{PointId, Run, SubjectId};
use serde::Serialize;

/// The number of draws of random weights.
const DRAWS: usize = 1999;

/// The minimum number of blocks for finding steps. Fewer blocks do not show the variation between
/// blocks well enough.
pub const MIN_BLOCKS_FOR_STEPS: usize = 6;

/// A commit that changed the time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename = "commit-step")]
pub struct RangeStep {
    /// The subject: the first commit after the change.
    pub subject: SubjectId,
    /// The time after the step divided by the time before the step. Each time is the mean over the
    /// commits up to the neighboring step. The intervals of all steps are simultaneous.
    pub ratio: f64,
    /// The lower bound of the ratio's interval.
    pub low: f64,
    /// The upper bound of the ratio's interval.
    pub high: f64,
    /// The number of commits between the previous step and this one, and between this step and the
    /// next.
    pub commits: [usize; 2],
}

/// Returns the steps of a run whose subjects are the commits of a range in their order.
///
/// At most a fraction `alpha` of runs without a change show a step. Returns `None` if fewer than
/// [`MIN_BLOCKS_FOR_STEPS`] blocks contain all commits.
pub fn range_steps(run: &Run, alpha: f64) -> Option<Vec<RangeStep>> {
    let plan = sound_plan(run)?;
    let table = BatchTable::new(run, plan);
    // A commit that failed is left out, and the steps are between the others.
    let subjects: Vec<SubjectId> = plan
        .compared()
        .filter(|&s| run.spoiling_failures().all(|f| f.subject != s))
        .collect();
    let columns: Vec<Vec<Option<f64>>> = subjects
        .iter()
        .map(|&s| table.log_ratios(s, plan.baseline, PointId(0)))
        .collect();
    let blocks = columns.iter().map(Vec::len).max().unwrap_or(0);
    let rows = (0..blocks).filter_map(|block| {
        let row = columns.iter().map(|c| c.get(block).copied().flatten());
        row.collect::<Option<Vec<f64>>>()
    });
    let rows: Vec<Vec<f64>> = rows.collect();
    let steps = steps(&rows, alpha, plan.seed)?;
    let found = steps.iter().map(|step| RangeStep {
        subject: subjects[step.at],
        ratio: step.log_ratio.estimate.exp(),
        low: step.log_ratio.low.exp(),
        high: step.log_ratio.high.exp(),
        commits: step.lengths,
    });
    Some(found.collect())
}

/// A change of the level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelStep {
    /// The index of the first value after the change.
    pub at: usize,
    /// The level after the change minus the level before it, in logarithms.
    pub log_ratio: LogInterval,
    /// The lengths of the segments before and after the change.
    pub lengths: [usize; 2],
}

/// Returns the changes of the level along the columns of `rows`. Each row contains the values of a
/// block.
///
/// All rows have the same length. Returns `None` with fewer than [`MIN_BLOCKS_FOR_STEPS`] rows.
pub fn steps(rows: &[Vec<f64>], alpha: f64, seed: u64) -> Option<Vec<LevelStep>> {
    let (blocks, width) = (rows.len(), rows.first()?.len());
    if blocks < MIN_BLOCKS_FOR_STEPS {
        return None;
    }
    if width < 2 {
        return Some(Vec::new());
    }
    let mean = |column: usize, weights: &[f64], center: &[f64]| {
        let terms = rows.iter().zip(weights);
        let sum: f64 = terms
            .map(|(row, weight)| weight * (row[column] - center[column]))
            .sum();
        sum / blocks as f64
    };
    let (ones, zeros) = (vec![1.0; blocks], vec![0.0; width]);
    let levels: Vec<f64> = (0..width).map(|c| mean(c, &ones, &zeros)).collect();
    let mut random = SplitMix64::new(seed);
    // Deviations from the mean of n blocks are smaller than those from the truth.
    let widening = (blocks as f64 / (blocks as f64 - 1.0)).sqrt();
    let mut gains: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let weights: Vec<f64> = (0..blocks).map(|_| normal_value(&mut random)).collect();
            let noise: Vec<f64> = (0..width)
                .map(|c| widening * mean(c, &weights, &levels))
                .collect();
            greatest_gain(&noise)
        })
        .collect();
    gains.sort_by(f64::total_cmp);
    let rank = ((1.0 - alpha) * (DRAWS + 1) as f64).ceil() as usize;
    let penalty = gains[rank.clamp(1, DRAWS) - 1];
    let changes = change_points(&levels, penalty / (width as f64).ln(), 1);
    let starts = [0].into_iter().chain(changes.iter().copied());
    let ends = changes.iter().copied().skip(1).chain([width]);
    let each = alpha / changes.len().max(1) as f64;
    let found = changes
        .iter()
        .zip(starts)
        .zip(ends)
        .map(|((&at, start), end)| {
            let part = |row: &Vec<f64>, from: usize, to: usize| {
                row[from..to].iter().sum::<f64>() / (to - from) as f64
            };
            let differences: Vec<f64> = rows
                .iter()
                .map(|row| part(row, at, end) - part(row, start, at))
                .collect();
            Some(LevelStep {
                at,
                log_ratio: interval(&differences, each)?,
                lengths: [at - start, end - at],
            })
        });
    found.collect()
}

/// Returns a random value with a standard normal distribution (Box & Muller).
fn normal_value(random: &mut SplitMix64) -> f64 {
    let uniform = |bits: u64| ((bits >> 11) as f64 + 1.0) / (1u64 << 53) as f64;
    let radius = (-2.0 * uniform(random.next()).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(random.next())).cos()
}

/// Returns the greatest reduction of the sum of squares per change, with one change or with two.
///
/// Pairs of changes are tried because a short segment in the middle can stand out although no
/// single change does.
fn greatest_gain(values: &[f64]) -> f64 {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let mut sums = vec![0.0];
    for value in values {
        sums.push(sums[sums.len() - 1] + value - mean);
    }
    // The sums of all centered values are 0, so a segment reduces the sum of squares by its sum² / length.
    let gain = |from: usize, to: usize| {
        let sum = sums[to] - sums[from];
        if to > from {
            sum * sum / (to - from) as f64
        } else {
            0.0
        }
    };
    let mut greatest: f64 = 0.0;
    for first in 1..n {
        greatest = greatest.max(gain(0, first) + gain(first, n));
        for second in first + 1..n {
            let both = gain(0, first) + gain(first, second) + gain(second, n);
            greatest = greatest.max(0.5 * both);
        }
    }
    greatest
}
