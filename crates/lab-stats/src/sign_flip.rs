// SPDX-License-Identifier: Apache-2.0
//! Ratios with simultaneous intervals over a whole run, computed by flipping the signs of whole
//! blocks.
//!
//! For each flip, the largest statistic of all comparisons counts (max-T). This takes the
//! dependence between comparisons into account.
//!
//! If a ratio is the true ratio, the logarithms of the blocks are distributed symmetrically around
//! its logarithm, so all signs of their deviations are equally likely. The method is exact for any
//! symmetric distribution of blocks and any dependence between comparisons. The statistic is close
//! to normal for each comparison, so that comparisons with different spreads have the same scale.
//!
//! Sources: Westfall & Young, *Resampling-Based Multiple Testing*, 1993; Romano & Wolf, *Exact and
//! approximate stepdown methods for multiple hypothesis testing*, Journal of the American
//! Statistical Association 100 (2005). For the statistic, Huber's limited score as a randomization
//! test: Maritz, *A note on exact robust confidence intervals for location*, Biometrika 66 (1979),
//! with the scale of Rosenbaum, *Sensitivity analysis for M-estimates*, Biometrics 63 (2007).

use crate::bootstrap::SplitMix64;
use crate::few_blocks::{self, Deviation, Sample, Scatter};
use crate::outlook::Certainty;
use crate::ratio::Ratio;
use crate::{dependence, family, normal, order, signed_rank};
use lab_model::{Interval, SubjectId};
use std::collections::HashMap;

/// Deviations from the center are limited to this multiple of their median size (Rosenbaum 2007).
const SCORE_LIMIT: f64 = 2.5;

/// The logarithms of a ratio in each block of a run, in chronological order.
#[derive(Clone, Debug, Default)]
pub struct Logs {
    /// The logarithm in each block. `None` means that the block has no ratio.
    pub by_block: Vec<Option<f64>>,
    /// The standard error of the mean, estimated from the turns within blocks, or 0 if it is
    /// unknown.
    pub error: f64,
    /// The subjects from whose variances the variance of this comparison is estimated if there are
    /// few blocks.
    pub scatter: Scatter,
}

impl Logs {
    /// Creates the log ratios of a subject to the baseline, without an error from the turns within
    /// blocks.
    pub fn of_subject(subject: SubjectId, by_block: Vec<Option<f64>>) -> Logs {
        Logs {
            by_block,
            error: 0.0,
            scatter: Scatter::Subject(subject),
        }
    }
}

impl From<Vec<Option<f64>>> for Logs {
    /// Creates log ratios with a variance of their own, without an error from the turns within
    /// blocks.
    fn from(by_block: Vec<Option<f64>>) -> Logs {
        Logs {
            by_block,
            ..Logs::default()
        }
    }
}

/// Returns the ratio of each comparison, with simultaneous intervals at level `1 - alpha`.
///
/// The p-values are adjusted for multiple comparisons in the same way. The result is `None` for a
/// comparison without finite values.
///
/// Up to 12 blocks, all flips are used. With more blocks, 2,048 flips are drawn from `seed`.
/// Comparisons with fewer blocks than `alpha` requires get their fraction of `alpha` (Bonferroni)
/// and use [`few_blocks::interval`], which assumes normally distributed blocks. With one block,
/// there is no interval.
pub fn together(comparisons: &[Logs], alpha: f64, seed: u64) -> Vec<Option<Ratio>> {
    // Equal comparisons, such as a mean over one point, count as one.
    let mut different: Vec<Logs> = Vec::new();
    let mut index_of: HashMap<Vec<Option<u64>>, usize> = HashMap::new();
    let indices: Vec<usize> = comparisons
        .iter()
        .map(|logs| {
            let bits = logs.by_block.iter().map(|log| log.map(f64::to_bits));
            *index_of.entry(bits.collect()).or_insert_with(|| {
                different.push(logs.clone());
                different.len() - 1
            })
        })
        .collect();
    let ratios = of_different(&different, alpha, seed);
    indices.into_iter().map(|i| ratios[i]).collect()
}

fn of_different(comparisons: &[Logs], alpha: f64, seed: u64) -> Vec<Option<Ratio>> {
    let needed = family::blocks_needed(alpha, 1).unwrap_or(u32::MAX);
    let merged: Vec<Option<MergedValues>> = comparisons
        .iter()
        .map(|c| MergedValues::new(&c.by_block, needed))
        .collect();
    let all = merged.iter().flatten().count().max(1) as f64;
    let has_enough = |m: &&MergedValues| m.values.len() >= needed as usize;
    let enough: Vec<&MergedValues> = merged.iter().flatten().filter(has_enough).collect();
    let blocks = comparisons.iter().map(|c| c.by_block.len()).max();
    let fraction = alpha * enough.len() as f64 / all;
    let flips = Flips::new(blocks.unwrap_or(0), seed);
    let limits = FlipLimits::new(flips, &enough, fraction);
    let mut index = 0..enough.len();
    let deviations = match enough.len() < merged.iter().flatten().count() {
        true => deviations(comparisons, &merged),
        false => vec![Deviation::FROM_OWN_BLOCKS; comparisons.len()],
    };
    let each = comparisons.iter().zip(&merged).zip(&deviations);
    let each = each.map(|((comparison, merged), deviation)| {
        let merged = merged.as_ref()?;
        let exact = limits.as_ref().filter(|_| has_enough(&merged));
        let values = &merged.values;
        let own_freedom = values.len() as f64 - 1.0;
        let (error, freedom) = match (exact, values.len()) {
            (Some(_), _) => (merged.error(), own_freedom),
            (None, 1) => (f64::INFINITY, own_freedom),
            (None, _) => {
                let (_, freedom) = deviation.moments(values);
                (deviation.error(values, comparison.error), freedom)
            }
        };
        let (log, p) = match (exact, values.len()) {
            (Some(limits), _) => limits.interval(index.next()?, merged, fraction)?,
            (None, 1) => (Interval::from_single_block(values[0]), 1.0),
            (None, _) => {
                let (log, p) =
                    few_blocks::interval(values, alpha / all, deviation, comparison.error);
                (log, (p * all).min(1.0))
            }
        };
        Some(Ratio {
            interval: Interval {
                estimate: log.estimate.exp(),
                low: log.low.exp(),
                high: log.high.exp(),
                level: if log.level > 0.0 {
                    Interval::confidence_level(alpha)
                } else {
                    0.0
                },
            },
            p,
            values: merged.values.len() as u32,
            width: merged.width,
            dependent: merged.dependent,
            unresolved: merged.unresolved,
            sufficient: log.level > 0.0,
            assumed: exact.is_none(),
            needed,
            certainty: Certainty {
                error,
                freedom,
                borrowed: freedom - own_freedom,
                family: all as u32,
                alpha,
            },
        })
    });
    each.collect()
}

/// Returns the posterior distribution of each comparison's standard deviation, given all other
/// comparisons.
pub(crate) fn deviations(comparisons: &[Logs], merged: &[Option<MergedValues>]) -> Vec<Deviation> {
    let samples = comparisons.iter().zip(merged).map(|(comparison, merged)| {
        let MergedValues { values, blocks, .. } = merged.as_ref()?;
        Some(Sample {
            values,
            blocks,
            scatter: comparison.scatter,
        })
    });
    few_blocks::deviations(&samples.collect::<Vec<_>>())
}

/// A placeholder for an interval that is not computed yet.
pub(crate) const UNKNOWN: Interval = Interval {
    estimate: 1.0,
    low: 1.0,
    high: 1.0,
    level: 0.0,
};

/// A comparison's values after merging neighbors that depend on each other.
pub(crate) struct MergedValues {
    pub values: Vec<f64>,
    /// The index of the first block of each value.
    blocks: Vec<usize>,
    width: u32,
    dependent: bool,
    pub unresolved: bool,
}

impl MergedValues {
    pub fn new(logs: &[Option<f64>], needed: u32) -> Option<MergedValues> {
        let values = logs.iter().enumerate();
        let values =
            values.filter_map(|(block, log)| Some((block, log.filter(|v| v.is_finite())?)));
        let (blocks, finite): (Vec<usize>, Vec<f64>) = values.unzip();
        let merged = dependence::merge(&finite, needed);
        let groups = merged.values.len();
        (groups > 0).then(|| MergedValues {
            blocks: (0..groups)
                .map(|g| blocks[g * merged.width as usize])
                .collect(),
            dependent: merged.is_dependent(),
            values: merged.values,
            width: merged.width,
            unresolved: merged.unresolved,
        })
    }

    /// Estimates the standard error of the center from the statistic's 95% interval, assuming
    /// normally distributed values.
    ///
    /// Rare outliers have little influence.
    fn error(&self) -> f64 {
        let freedom = self.values.len() as f64 - 1.0;
        let t = normal::student_upper_quantile(freedom, 0.025);
        let limit = statistic(t * t / (t * t + freedom), self.values.len());
        let Some(center) = self.center() else {
            return f64::INFINITY;
        };
        let statistic_at = |value: f64| studentized(&self.values, value);
        let [low, high] = [-1.0, 1.0].map(|side| edge(&statistic_at, center, side, self, limit));
        0.5 * (high - low) / t
    }

    fn center(&self) -> Option<f64> {
        Some(signed_rank::center(&self.values, 0.5)?.interval.estimate)
    }
}

/// The signs of the blocks for each flip.
pub(crate) struct Flips {
    pub count: usize,
    /// The signs by block, then by flip. The first flip changes nothing.
    signs: Vec<i8>,
}

impl Flips {
    pub fn new(blocks: usize, seed: u64) -> Flips {
        let count = family::flip_count(blocks);
        let mut random = SplitMix64::new(seed);
        let mut signs = Vec::with_capacity(count * blocks);
        for block in 0..blocks {
            for flip in 0..count {
                let turned = match flip {
                    0 => false,
                    _ if blocks <= family::MAX_ENUMERATED_BLOCKS => flip >> block & 1 == 1,
                    _ => random.next() >> 63 == 1,
                };
                signs.push(if turned { -1 } else { 1 });
            }
        }
        Flips { count, signs }
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.signs.len() / self.count
    }

    /// Returns a comparison's statistic for each flip, computed about a center.
    pub fn statistics(&self, merged: &MergedValues, center: f64) -> Vec<f64> {
        let scores = scores(&merged.values, center);
        let squares: f64 = scores.iter().map(|s| s * s).sum();
        let mut sums = vec![0.0; self.count];
        if squares == 0.0 {
            return sums;
        }
        for (score, block) in scores.iter().zip(&merged.blocks) {
            let signs = &self.signs[block * self.count..(block + 1) * self.count];
            let sums = sums.iter_mut().zip(signs);
            sums.for_each(|(sum, sign)| *sum += score * f64::from(*sign));
        }
        let n = merged.values.len();
        let scale = squares * n as f64;
        sums.iter_mut()
            .for_each(|sum| *sum = statistic(*sum * *sum / scale, n));
        sums
    }

    /// Returns, for each flip, the largest statistic of all comparisons, each computed about its
    /// center.
    pub fn greatest(&self, comparisons: &[&MergedValues], centers: &[f64]) -> Vec<Greatest> {
        let mut all = vec![Greatest::default(); self.count];
        for (i, (merged, &center)) in comparisons.iter().zip(centers).enumerate() {
            let statistics = self.statistics(merged, center);
            let pairs = all.iter_mut().zip(statistics);
            pairs.for_each(|(greatest, statistic)| greatest.add(i, statistic));
        }
        all
    }
}

/// The largest statistics of a flip.
#[derive(Clone, Copy, Default)]
pub(crate) struct Greatest {
    /// The largest statistic of all comparisons.
    pub value: f64,
    /// The index of the comparison that has the largest statistic.
    of: usize,
    /// The largest statistic of all other comparisons.
    of_others: f64,
}

impl Greatest {
    fn add(&mut self, comparison: usize, statistic: f64) {
        if statistic > self.value {
            self.of_others = self.value;
            (self.value, self.of) = (statistic, comparison);
        } else {
            self.of_others = self.of_others.max(statistic);
        }
    }

    /// Returns the largest statistic of all comparisons except one.
    fn max_except(&self, comparison: usize) -> f64 {
        if self.of == comparison {
            self.of_others
        } else {
            self.value
        }
    }
}

/// Critical values, derived from the distribution of the statistics over the flips.
struct FlipLimits {
    flips: Flips,
    /// The largest statistic of each flip, computed about 0, in descending order.
    about_zero: Vec<f64>,
    /// The largest statistic of each flip, computed about the estimates.
    about_centers: Vec<Greatest>,
    /// A comparison differs significantly from a value if its statistic, computed about the value,
    /// exceeds this limit.
    limit: f64,
    /// The maximum number of flips, including the identity, that may have a statistic at least as
    /// large as the statistic of a significant comparison.
    most: usize,
}

impl FlipLimits {
    /// Returns the limits, or `None` if there are too few flips for the level.
    fn new(flips: Flips, comparisons: &[&MergedValues], alpha: f64) -> Option<FlipLimits> {
        // Rounding must not lose a flip.
        let most = (alpha * flips.count as f64 + 1e-9) as usize;
        let centers: Option<Vec<f64>> = comparisons.iter().map(|m| m.center()).collect();
        let about_centers = flips.greatest(comparisons, &centers?);
        let about_zero = flips.greatest(comparisons, &vec![0.0; comparisons.len()]);
        let descending = |statistics: &[Greatest]| {
            let mut values: Vec<f64> = statistics.iter().map(|s| s.value).collect();
            values.sort_unstable_by(|a, b| b.total_cmp(a));
            values
        };
        // The observed blocks are one of the flips. Their statistic about the estimates is the
        // smallest.
        let limit = *descending(about_centers.get(1..)?).get(most.checked_sub(1)?)?;
        Some(FlipLimits {
            about_zero: descending(&about_zero),
            about_centers,
            limit,
            most,
            flips,
        })
    }

    /// Returns the interval of a comparison's logarithm, and the adjusted p-value of the hypothesis
    /// that the logarithm is 0.
    ///
    /// The interval and the p-value are consistent with each other.
    fn interval(&self, index: usize, merged: &MergedValues, alpha: f64) -> Option<(Interval, f64)> {
        let estimate = merged.center()?;
        let statistic_at = |center: f64| studentized(&merged.values, center);
        // Sums of the same numbers in a different order differ in the last bits.
        let observed = statistic_at(0.0) * (1.0 - 1e-9);
        let greater = self.about_zero.partition_point(|other| *other >= observed);
        let p = greater as f64 / self.about_zero.len() as f64;
        let [mut low, mut high] =
            [-1.0, 1.0].map(|side| edge(&statistic_at, estimate, side, merged, self.limit));
        if p > alpha {
            low = low.min(0.0);
            high = high.max(0.0);
        } else if low <= 0.0 && high >= 0.0 {
            let bound = self.beyond_zero(index, merged, estimate);
            if estimate > 0.0 {
                low = bound;
            } else {
                high = bound;
            }
        }
        let interval = Interval {
            estimate,
            low: low.min(estimate),
            high: high.max(estimate),
            level: 1.0,
        };
        Some((interval, p))
    }

    /// Finds the bound that lies between 0, which the flips reject, and the estimate.
    ///
    /// Each candidate is tested with flips about the candidate itself. With few blocks, flips about
    /// the estimate would be more conservative.
    fn beyond_zero(&self, index: usize, merged: &MergedValues, estimate: f64) -> f64 {
        let contradicts = |center: f64| {
            let statistics = self.flips.statistics(merged, center);
            let observed = statistics[0] * (1.0 - 1e-9);
            let others = self.about_centers.iter().map(|g| g.max_except(index));
            let flips = statistics.iter().zip(others).skip(1);
            flips
                .filter(|(statistics, other)| statistics.max(*other) >= observed)
                .count()
                < self.most
        };
        let (mut out, mut within) = (0.0, 1.0);
        if !contradicts(0.0) {
            return 0.0;
        }
        for _ in 0..40 {
            let middle = 0.5 * (out + within);
            if contradicts(middle * estimate) {
                out = middle;
            } else {
                within = middle;
            }
        }
        out * estimate
    }
}

/// Returns the value on one side of the estimate beyond which the statistic exceeds the limit.
fn edge(
    statistic_at: &impl Fn(f64) -> f64,
    estimate: f64,
    side: f64,
    merged: &MergedValues,
    limit: f64,
) -> f64 {
    let far = merged.values.iter().map(|v| (v - estimate).abs());
    let step = far.fold(0.0, f64::max);
    if step == 0.0 {
        return estimate;
    }
    let (mut within, mut beyond) = (0.0, step);
    for _ in 0..64 {
        if statistic_at(estimate + side * beyond) > limit {
            break;
        }
        (within, beyond) = (beyond, 2.0 * beyond);
    }
    for _ in 0..60 {
        let middle = 0.5 * (within + beyond);
        if statistic_at(estimate + side * middle) > limit {
            beyond = middle;
        } else {
            within = middle;
        }
    }
    estimate + side * beyond
}

/// Returns the statistic of a comparison about a center, without flips.
pub(crate) fn studentized(values: &[f64], center: f64) -> f64 {
    let scores = scores(values, center);
    let squares: f64 = scores.iter().map(|s| s * s).sum();
    if squares == 0.0 {
        return 0.0;
    }
    let sum: f64 = scores.iter().sum();
    let n = values.len();
    statistic(sum * sum / (squares * n as f64), n)
}

/// Returns the deviations of the values from the center. They are limited so that one outlying
/// block does not determine the result.
fn scores(values: &[f64], center: f64) -> Vec<f64> {
    let away: Vec<f64> = values.iter().map(|v| (v - center).abs()).collect();
    let limit = match order::median(&away) {
        Some(median) if median > 0.0 => SCORE_LIMIT * median,
        _ => f64::INFINITY,
    };
    let deviations = values.iter().map(|v| v - center);
    deviations.map(|d| d.clamp(-limit, limit)).collect()
}

/// Converts Student's t of `n` values to the scale of a standard normal value.
///
/// `fraction`, from 0 to 1, is the fraction of the sum of squares that is due to the mean: (Σx)² /
/// (n Σx²).
///
/// Source: Wallace, *Bounds on normal approximations to Student's and the chi-square
/// distributions*, Annals of Mathematical Statistics 30 (1959).
fn statistic(fraction: f64, n: usize) -> f64 {
    let freedom = n as f64 - 1.0;
    // For equal values, the fraction is 1 except for rounding.
    let rest = (1.0 - fraction).clamp(1e-12, 1.0);
    (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0) * (-freedom * rest.ln()).sqrt()
}
