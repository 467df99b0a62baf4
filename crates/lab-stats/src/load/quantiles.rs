// SPDX-License-Identifier: Apache-2.0
//! Quantiles of all requests of a run, with intervals based on the fraction of each block's
//! requests that exceed a value.
//!
//! Quantiles of blocks must not be averaged: if a server stalls for one second in ten, the p99 of
//! nine blocks does not reflect the stall. The distributions are therefore summed, and blocks are
//! the unit of variation.

use super::visits::{Distribution, Visit};
use crate::change::quotient;
use crate::dependence;
use crate::outlook::Certainty;
use crate::ratio::Ratio;
use crate::{family, likelihood, normal};
use lab_model::Interval;

/// The reported quantiles, in units of 1/10,000.
pub const PARTS: [u32; 6] = [5000, 7500, 9000, 9900, 9990, 9999];

/// Quantiles of a distribution of times, in ns.
///
/// Each quantile is the highest value of its bucket, so it is up to 0.1% too high but never too
/// low.
#[derive(Clone, Debug)]
pub struct Quantiles<const N: usize> {
    /// The number of values.
    pub count: u64,
    /// The requested quantiles. `None` means that there are too few requests.
    pub parts: [Option<Interval>; N],
    /// The maximum value, in ns.
    pub max_ns: Option<u64>,
}

/// The maximum number of blocks that are treated individually. With more blocks, neighbors are
/// combined into groups to limit the work.
const MAX_GROUPS: usize = 200;

/// The maximum fraction of blocks that may contain a stall although no block of the run contains
/// one.
const STALLED_FRACTION: f64 = 0.1;

/// The number of blocks after which an event in [`STALLED_FRACTION`] of all blocks has occurred at
/// least once with 95% certainty: ln 0.05 / ln 0.9.
const STALLS_SEEN: u32 = 29;

/// The number of blocks after which an event in one of 20 blocks has occurred at least once with
/// 95% certainty: ln 0.05 / ln 0.95.
const RARE_SEEN: u32 = 59;

/// The minimum number of blocks for intervals of p99 and higher percentiles.
///
/// A tail that occurs in only a few blocks has no interval ([`MIN_CARRIERS`]), so the intervals
/// that are reported come too often from runs in which no block has such a tail. With this many
/// blocks, these runs are rare (`tests/stats/tails.rs`).
const TAIL_SEEN: u32 = 90;

/// A quantile has an interval only if the values above it are spread over at least this many
/// blocks.
pub(crate) const MIN_CARRIERS: f64 = 6.0;

/// Returns the minimum number of blocks for the interval of a quantile.
///
/// Above p90, the minimum is [`TAIL_SEEN`], and above p75, it is [`RARE_SEEN`]. For other
/// quantiles, it is the number with which at least one block lies above the quantile with 97.5%
/// certainty, if each block lies entirely on one side of the quantile.
pub fn blocks_needed(per_10_000: u32) -> u32 {
    match per_10_000 {
        9001.. => TAIL_SEEN,
        7501.. => RARE_SEEN,
        _ => {
            let part = f64::from(per_10_000) / 10_000.0;
            (0.025_f64.ln() / part.ln()).ceil() as u32
        }
    }
}

/// Returns the quantiles [`PARTS`] of a distribution over all `blocks`, and the dependence between
/// the blocks at each quantile.
///
/// Each interval is at level `1 - alpha`. If there are too few blocks, or too few blocks contain
/// values above a quantile, its interval has level 0.
pub fn quantiles(
    alpha: f64,
    blocks: &[&Visit],
    of: Distribution,
) -> (Quantiles<{ PARTS.len() }>, [Option<Grouping>; PARTS.len()]) {
    quantiles_at(alpha, blocks, of, PARTS)
}

/// Works like [`quantiles`], but for the quantiles `parts`, in units of 1/10,000.
pub fn quantiles_at<const N: usize>(
    alpha: f64,
    blocks: &[&Visit],
    of: Distribution,
    parts: [u32; N],
) -> (Quantiles<N>, [Option<Grouping>; N]) {
    let all = Tails::new(alpha, blocks, of);
    let Some(&max) = all.values.last() else {
        let nothing = Quantiles {
            count: 0,
            parts: [None; N],
            max_ns: None,
        };
        return (nothing, [None; N]);
    };
    let found = parts.map(|part| all.quantile(part));
    let quantiles = Quantiles {
        count: all.total() as u64,
        parts: found.each_ref().map(|at| at.as_ref()?.interval(alpha)),
        max_ns: Some(max),
    };
    (quantiles, found.map(|at| Some(at?.grouping)))
}

/// The grouping of neighboring blocks for a quantile. Blocks are grouped if their fractions of
/// requests above the quantile are correlated.
///
/// Each quantile has its own grouping, because drift of the median does not imply stalls.
#[derive(Clone, Copy, Debug)]
pub struct Grouping {
    /// The number of groups of blocks.
    pub groups: u32,
    /// The number of blocks in each group. The last group also contains the remainder.
    pub width: u32,
    /// The distance in blocks at which no dependence beyond chance was found, or 1 if blocks do not
    /// depend on each other.
    pub independence_distance: u32,
    /// True if groups still depend on each other, but there are too few blocks for larger groups.
    pub unresolved: bool,
}

/// The distributions of a server's blocks: for each value that occurs, the number of requests at or
/// below it.
///
/// If there are very many blocks, groups of neighbors replace single blocks.
pub struct Tails {
    blocks: usize,
    /// The number of neighboring blocks in each column.
    step: usize,
    /// The number of columns: `blocks` divided by `step`.
    columns: usize,
    /// The minimum number of groups for an interval.
    enough: u32,
    values: Vec<u64>,
    /// The number of requests at or below a value, by value, then by column. The numbers are
    /// integers, which are exact up to 2^53.
    at_most: Vec<f64>,
}

impl Tails {
    /// Collects the distributions of blocks.
    ///
    /// `alpha` determines how many groups an interval needs.
    pub fn new(alpha: f64, blocks: &[&Visit], of: Distribution) -> Tails {
        let values = values(blocks, of);
        let step = blocks.len().div_ceil(MAX_GROUPS).max(1);
        let columns = (blocks.len() / step).max(1);
        let mut at_most = vec![0.0; values.len() * columns];
        for (i, block) in blocks.iter().enumerate() {
            let column = (i / step).min(columns - 1);
            for (value, count) in block.buckets(of).filter(|(_, n)| *n > 0) {
                let row = values.partition_point(|v| *v < value);
                at_most[row * columns + column] += count as f64;
            }
        }
        for i in columns..at_most.len() {
            at_most[i] += at_most[i - columns];
        }
        Tails {
            blocks: blocks.len(),
            step,
            columns,
            enough: family::blocks_needed(alpha, 1).unwrap_or(u32::MAX),
            values,
            at_most,
        }
    }

    /// Returns the quantile that `per_10_000` in 10,000 requests do not exceed, or `None` if there
    /// are no requests.
    fn quantile(&self, per_10_000: u32) -> Option<At<'_>> {
        let row = self.row(per_10_000)?;
        let all = self.all().iter();
        let fractions = self
            .fractions_above(row)
            .zip(all)
            .map(|(n, all)| n / all.max(1.0));
        let fractions: Vec<f64> = fractions.collect();
        let merged = dependence::merge(&fractions, self.enough);
        let step = self.step as u32;
        let grouping = Grouping {
            groups: merged.values.len() as u32,
            width: merged.width * step,
            independence_distance: if merged.is_dependent() {
                merged.independence_distance * step
            } else {
                1
            },
            unresolved: merged.unresolved,
        };
        Some(At {
            tails: self,
            per_10_000,
            row,
            grouping,
        })
    }

    /// Returns the number of columns. A column is a block or a group of neighboring blocks.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the quantile with each column weighted by its count, or `None` if the total is 0.
    pub fn value(&self, per_10_000: u32, counts: &[u32]) -> Option<f64> {
        let weighted = |row: usize| -> f64 {
            let at_most = &self.at_most[row * self.columns..(row + 1) * self.columns];
            at_most
                .iter()
                .zip(counts)
                .map(|(n, c)| n * f64::from(*c))
                .sum()
        };
        let total = weighted(self.values.len().checked_sub(1)?);
        let rank = (total * f64::from(per_10_000) / 10_000.0).ceil().max(1.0);
        let row = partition(self.values.len(), |row| weighted(row) < rank);
        (total > 0.0).then(|| self.values[row] as f64)
    }

    fn fractions_above(&self, row: usize) -> impl Iterator<Item = f64> {
        let at_most = &self.at_most[row * self.columns..(row + 1) * self.columns];
        self.all()
            .iter()
            .zip(at_most)
            .map(|(all, at_most)| all - at_most)
    }

    /// Returns the number of requests in each column.
    fn all(&self) -> &[f64] {
        &self.at_most[self.at_most.len() - self.columns..]
    }

    fn total(&self) -> f64 {
        let last = self.values.len().checked_sub(1);
        last.map_or(0.0, |row| self.counted(row))
    }

    fn counted(&self, row: usize) -> f64 {
        let at_most = &self.at_most[row * self.columns..(row + 1) * self.columns];
        at_most.iter().sum()
    }

    /// Returns the index of the smallest value that `per_10_000` in 10,000 requests do not exceed.
    ///
    /// Returns `None` if there are no requests.
    fn row(&self, per_10_000: u32) -> Option<usize> {
        let total = self.total();
        let rank = (total * f64::from(per_10_000) / 10_000.0).ceil().max(1.0);
        let row = partition(self.values.len(), |row| self.counted(row) < rank);
        (total > 0.0).then_some(row)
    }
}

/// A quantile of a server's blocks.
struct At<'t> {
    tails: &'t Tails,
    per_10_000: u32,
    row: usize,
    grouping: Grouping,
}

impl At<'_> {
    /// Returns the interval of the quantile at level `1 - alpha`, or `None` if no value exceeds the
    /// quantile.
    ///
    /// The interval contains each value that could be the quantile, judging by the fractions of the
    /// blocks' requests that exceed the value. A value is rejected only if two tests reject it:
    /// empirical likelihood, which follows the skew of the blocks, and Student's t, which is valid
    /// at high confidence levels.
    ///
    /// Sources: Woodruff, *Confidence intervals for medians and other position measures*, Journal
    /// of the American Statistical Association 47 (1952); Owen, *Empirical Likelihood*, 2001, with
    /// Hotelling's calibration (3.4).
    fn interval(&self, alpha: f64) -> Option<Interval> {
        if !has_enough_values(self.tails.total(), self.per_10_000) {
            return None;
        }
        let value = |row: usize| self.tails.values[row] as f64;
        let estimate = value(self.row);
        if !self.has_interval() {
            return Some(Interval::from_single_block(estimate));
        }
        let t = normal::student_upper_quantile(f64::from(self.grouping.groups) - 1.0, alpha / 2.0);
        let accepted = |row: usize, fraction: f64| {
            likelihood::is_mean_zero(&self.excess(row, fraction), t * t)
        };
        // The excess decreases from value to value, so the accepted values have no gaps.
        let (row, rows) = (self.row, self.tails.values.len());
        let low = partition(row, |row| !accepted(row, self.fraction_above()));
        let (fraction, without_stalls) = (self.fraction_above(), self.fraction_without_stalls());
        let beyond = row
            + 1
            + partition(rows - row - 1, |i| {
                let further = row + 1 + i;
                accepted(further, fraction) || accepted(further, without_stalls)
            });
        Some(Interval {
            estimate,
            low: value(low),
            // The next value is the first rejected one. The bound lies between the two.
            high: value(beyond.min(rows - 1)),
            level: Interval::confidence_level(alpha),
        })
    }

    /// Returns true if there are enough blocks, and enough of these blocks contain values above the
    /// quantile.
    fn has_interval(&self) -> bool {
        let chances = self.tails.blocks as u32 / self.grouping.independence_distance;
        chances >= blocks_needed(self.per_10_000) && self.carriers() >= MIN_CARRIERS
    }

    /// Returns the effective number of groups that contain the requests at or above the quantile:
    /// (Σn)² / Σn², where n is the number of these requests in a group (Kish, *Survey Sampling*,
    /// 1965).
    fn carriers(&self) -> f64 {
        // Many requests may take exactly as long as the quantile.
        if self.row == 0 {
            return f64::from(self.grouping.groups);
        }
        let above = self.grouped(self.tails.fractions_above(self.row - 1));
        let squares: f64 = above.iter().map(|n| n * n).sum();
        above.iter().sum::<f64>().powi(2) / squares.max(f64::MIN_POSITIVE)
    }

    /// Returns the fraction of requests that exceed the quantile.
    fn fraction_above(&self) -> f64 {
        f64::from(10_000 - self.per_10_000) / 10_000.0
    }

    /// Returns the fraction of requests that exceed the quantile in blocks without a stall.
    ///
    /// The result assumes that other runs may contain stalls that this run missed, and that all
    /// requests of such stalls exceed the quantile.
    fn fraction_without_stalls(&self) -> f64 {
        let chances = self.tails.blocks as u32 / self.grouping.independence_distance;
        let stalled = if chances < STALLS_SEEN {
            STALLED_FRACTION
        } else {
            0.0
        };
        (self.fraction_above() - stalled) / (1.0 - stalled)
    }

    /// Returns, for each group, the number of requests above a value minus the expected number,
    /// which is `fraction` of the group's requests.
    fn excess(&self, row: usize, fraction: f64) -> Vec<f64> {
        let above = self.tails.fractions_above(row).zip(self.tails.all());
        self.grouped(above.map(|(above, all)| above - fraction * all))
    }

    fn grouped(&self, columns: impl Iterator<Item = f64>) -> Vec<f64> {
        let each = self.grouping.width as usize / self.tails.step;
        let mut sums = vec![0.0; self.grouping.groups as usize];
        let last = sums.len() - 1;
        for (column, value) in columns.enumerate() {
            sums[(column / each).min(last)] += value;
        }
        sums
    }
}

/// Returns the first index of `0..end` at which `before` is false.
///
/// `before` must be true at all lower indexes.
fn partition(end: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = (low + high) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Returns the same quantile of two servers in the same blocks, with the same groups for both.
fn quantiles_in_common(tails: &[Tails; 2], per_10_000: u32) -> Option<[At<'_>; 2]> {
    let [mut a, mut b] = [
        tails[0].quantile(per_10_000)?,
        tails[1].quantile(per_10_000)?,
    ];
    let common = Grouping::common([a.grouping, b.grouping]);
    (a.grouping, b.grouping) = (common, common);
    Some([a, b])
}

/// Returns true if the quantiles of both servers have an interval.
pub fn have_intervals(tails: &[Tails; 2], per_10_000: u32) -> bool {
    quantiles_in_common(tails, per_10_000).is_some_and(|tails| tails.iter().all(At::has_interval))
}

/// Returns the second server's quantile divided by the first server's quantile in the same blocks,
/// at level `1 - alpha`.
///
/// The ratio's interval is computed from the intervals of both quantiles. The correlation between
/// the servers' blocks makes the interval narrower, because blocks in which the machine is slow are
/// slow for both servers.
///
/// Source: Zou, *Toward using confidence intervals to compare correlations*, Psychological Methods
/// 12 (2007).
pub fn ratio(tails: &[Tails; 2], per_10_000: u32, alpha: f64) -> Option<Ratio> {
    let [first, second] = quantiles_in_common(tails, per_10_000)?;
    let [a, b] = [&first, &second].map(|at| at.interval(alpha).map(at_least_1));
    let (a, b) = (a?, b?);
    let common = correlation(
        &first.excess(first.row, first.fraction_above()),
        &second.excess(second.row, second.fraction_above()),
    );
    let have_levels = a.level.min(b.level) > 0.0;
    let interval = quotient(&a, &b, if have_levels { common } else { 0.0 });
    Some(first.grouping.ratio(interval, per_10_000))
}

impl Grouping {
    /// Returns the grouping with larger groups.
    pub fn common([a, b]: [Grouping; 2]) -> Grouping {
        Grouping {
            groups: a.groups.min(b.groups),
            width: a.width.max(b.width),
            independence_distance: a.independence_distance.max(b.independence_distance),
            unresolved: a.unresolved || b.unresolved,
        }
    }

    /// Returns true if blocks depend on each other by more than chance explains.
    pub fn is_dependent(self) -> bool {
        self.independence_distance > 1
    }

    /// Creates a ratio of quantiles from blocks with this grouping.
    ///
    /// A ratio of quantiles has no p-value.
    pub fn ratio(self, interval: Interval, per_10_000: u32) -> Ratio {
        Ratio {
            interval,
            p: f64::NAN,
            values: self.groups,
            width: self.width,
            dependent: self.is_dependent(),
            unresolved: self.unresolved,
            sufficient: interval.level > 0.0,
            assumed: false,
            needed: blocks_needed(per_10_000),
            certainty: Certainty::for_interval(&interval, self.groups, 1, 1.0 - interval.level),
        }
    }
}

/// The percentiles of a [shift function](shift), in units of 1/10,000.
const SHIFT_PARTS: [u32; 12] = [
    1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 9500, 9900, 9990,
];

/// Returns the second server's quantiles divided by the first server's quantiles, for the quantiles
/// at which both servers have intervals.
///
/// The intervals are simultaneous at level `1 - alpha` (Bonferroni).
///
/// Source: the shift function of Doksum, *Annals of Statistics* 2 (1974), as a quotient, at deciles
/// and in the tail (Rousselet, Pernet & Wilcox, *European Journal of Neuroscience* 46, 2017).
pub fn shift(tails: &[Tails; 2], alpha: f64) -> Vec<(u32, Interval)> {
    let has_ratio = |part: u32| {
        tails.iter().all(|t| has_enough_values(t.total(), part)) && have_intervals(tails, part)
    };
    let parts: Vec<u32> = SHIFT_PARTS
        .into_iter()
        .filter(|part| has_ratio(*part))
        .collect();
    let each = alpha / parts.len().max(1) as f64;
    let of = |part| Some((part, ratio(tails, part, each)?.interval));
    parts.into_iter().filter_map(of).collect()
}

/// Replaces times below the clock's resolution of 1 ns by 1 ns.
pub fn at_least_1(of: Interval) -> Interval {
    Interval {
        estimate: of.estimate.max(1.0),
        low: of.low.max(1.0),
        high: of.high.max(1.0),
        level: of.level,
    }
}

/// Returns Pearson's correlation minus one standard error of Fisher's transformation, from 0 to 1.
///
/// With few pairs, the plain correlation would be too optimistic.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() as f64;
    if a.len() != b.len() || a.len() < 4 {
        return 0.0;
    }
    let mean = |v: &[f64]| v.iter().sum::<f64>() / n;
    let (x, y) = (mean(a), mean(b));
    let sum = |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(p, q)| f(p - x, q - y)).sum();
    let [xy, xx, yy]: [f64; 3] = [sum(&|p, q| p * q), sum(&|p, _| p * p), sum(&|_, q| q * q)];
    let r = xy / (xx * yy).sqrt();
    if r.is_finite() {
        (r.min(1.0 - 1e-9).atanh() - 1.0 / (n - 3.0).sqrt())
            .tanh()
            .max(0.0)
    } else {
        0.0
    }
}

/// Returns true if there are enough values for a quantile: at least one of `total` values must
/// exceed the quantile that `per_10_000` in 10,000 values do not exceed.
pub fn has_enough_values(total: f64, per_10_000: u32) -> bool {
    total * f64::from(10_000 - per_10_000) >= 10_000.0
}

/// Returns all values that occur in the blocks, in ascending order.
///
/// The blocks are processed one by one, because the values of all blocks together may need a lot of
/// memory.
fn values(blocks: &[&Visit], of: Distribution) -> Vec<u64> {
    let mut values = Vec::new();
    for block in blocks {
        let counted = block.buckets(of).filter(|(_, n)| *n > 0);
        values.extend(counted.map(|(value, _)| value));
        // A stable sort merges ascending runs quickly.
        values.sort();
        values.dedup();
    }
    values
}
