// SPDX-License-Identifier: Apache-2.0
//! Quantiles of all requests of a run's blocks together, with intervals from the share of each block's requests that
//! exceed a value.
//!
//! Quantiles of blocks must not be averaged: where a server stalls for one second in ten, nine blocks'
//! p99 know nothing of it. So the distributions are added up, and what scatters is blocks.

use super::visits::{Distribution, Visit};
use crate::analysis::Interval;
use crate::change::quotient;
use crate::dependence::{self, Merged};
use crate::ratio::Ratio;
use crate::{family, likelihood, normal, sign_flip};

/// Quantiles that are given, of 10,000.
pub const PARTS: [u32; 6] = [5000, 7500, 9000, 9900, 9990, 9999];

/// Quantiles of a distribution of times, ns; the highest value of their bucket, so up to 0.1 % too high
/// and never too low.
#[derive(Clone, Debug, Default)]
pub struct Quantiles {
    /// How many values.
    pub count: u64,
    /// Those of [`PARTS`]; `None` where there are too few requests for one.
    pub parts: [Option<Interval>; PARTS.len()],
    /// The greatest: a reading, which has no interval.
    pub max_ns: Option<u64>,
}

impl Quantiles {
    /// The time that so many in 10,000 requests do not exceed.
    pub fn of(&self, per_10_000: u32) -> Option<Interval> {
        let which = PARTS.iter().position(|part| *part == per_10_000)?;
        self.parts[which]
    }
}

/// More blocks than this are taken in groups of neighbours: it bounds the work.
const MOST_GROUPS: usize = 200;

/// What happens in one block of 20 is seen in so many with 95 % certainty: ln 0.05 / ln 0.95.
const SEEN: u32 = 59;

/// An interval is given if so many blocks hold what exceeds the quantile.
const CARRIERS: f64 = 6.0;

/// The fewest blocks of which a quantile has an interval: with so many, blocks whose requests all exceed it would be
/// seen, if there were enough of them to make it greater; or if they were 1 in 20 at the least.
pub fn blocks_needed(per_10_000: u32) -> u32 {
    let part = f64::from(per_10_000.min(9_999)) / 10_000.0;
    ((0.025_f64.ln() / part.ln()).ceil() as u32).min(SEEN)
}

/// The quantiles of a distribution over all of `blocks`, each interval at a level of `1 - alpha`, and how the
/// blocks depend on each other in it. Where the blocks are too few, or too few hold what exceeds a quantile, its
/// interval has the level 0.
pub fn quantiles(alpha: f64, blocks: &[&Visit], of: Distribution) -> (Quantiles, Option<Merged>) {
    let all = Tails::new(alpha, blocks, of);
    let Some(&max) = all.values.last() else {
        return (Quantiles::default(), None);
    };
    let quantiles = Quantiles {
        count: all.total() as u64,
        parts: PARTS.map(|part| all.quantile(part, alpha)),
        max_ns: Some(max),
    };
    (quantiles, all.depending)
}

/// The distributions of a server's blocks, or of groups of them, over the values that any of them has.
pub struct Tails {
    groups: usize,
    /// Blocks in each.
    width: u32,
    /// Chances to see what happens now and then: blocks, or groups of those that depend on each other.
    chances: usize,
    values: Vec<u64>,
    /// How many lie at or below a value: by value, then group. Whole numbers, exact up to 2^53.
    at_most: Vec<f64>,
    /// How blocks depend on each other in what exceeds the median or the p99.
    pub depending: Option<Merged>,
}

impl Tails {
    /// Of blocks, where `alpha` says how many of them have to remain.
    pub fn new(alpha: f64, blocks: &[&Visit], of: Distribution) -> Tails {
        let [tails] = Tails::alike(alpha, [blocks], of);
        tails
    }

    /// The same of several servers, with the same groups for all.
    pub fn alike<const N: usize>(
        alpha: f64,
        servers: [&[&Visit]; N],
        of: Distribution,
    ) -> [Tails; N] {
        let found = servers.map(|blocks| {
            let counted = Counted::new(blocks, of);
            let single = Tails::grouped(&counted, 1, None);
            let limits = [0, 3].map(|i| single.row(PARTS[i]).map(|row| single.values[row] as f64));
            let depending = dependence(alpha, &counted, limits);
            let width = depending.as_ref().map_or(1, |m| m.width as usize);
            let width = width.max(blocks.len().div_ceil(MOST_GROUPS));
            (counted, width, depending)
        });
        let width = found.iter().map(|(_, width, _)| *width).max().unwrap_or(1);
        found.map(|(counted, _, depending)| Tails::grouped(&counted, width, depending))
    }

    /// Groups of `width` neighbours; the last has the rest, too.
    fn grouped(counted: &Counted, width: usize, depending: Option<Merged>) -> Tails {
        let Counted { blocks, values } = counted;
        let groups = (blocks.len() / width.max(1)).max(1);
        let mut at_most = vec![0.0; values.len() * groups];
        for (block, counts) in blocks.iter().enumerate() {
            let group = (block / width.max(1)).min(groups - 1);
            for (value, count) in counts {
                let row = values.partition_point(|v| v < value);
                at_most[row * groups + group] += *count as f64;
            }
        }
        for i in groups..at_most.len() {
            at_most[i] += at_most[i - groups];
        }
        let depends = depending.as_ref().is_some_and(|merged| merged.dependent);
        Tails {
            groups,
            width: width as u32,
            chances: if depends { groups } else { blocks.len() },
            values: values.clone(),
            at_most,
            depending,
        }
    }

    /// The quantile that so many in 10,000 do not exceed, with its interval at a level of `1 - alpha`; `None` where
    /// not one value exceeds it.
    ///
    /// A value lies within the interval unless the shares of requests above it contradict that the quantile's own
    /// share is their mean, both by empirical likelihood, which follows the skew of the blocks, and by Student's t,
    /// which holds at high levels.
    ///
    /// Sources: Woodruff, *Confidence intervals for medians and other position measures*, Journal of the American
    /// Statistical Association 47 (1952); Owen, *Empirical Likelihood*, 2001, with Hotelling's calibration (3.4).
    pub fn quantile(&self, per_10_000: u32, alpha: f64) -> Option<Interval> {
        let row = self.row(per_10_000)?;
        if !is_given(self.total(), per_10_000) {
            return None;
        }
        let value = |row: usize| self.values[row] as f64;
        let estimate = value(row);
        if !self.has_interval(per_10_000) {
            return Some(sign_flip::alone(estimate));
        }
        let t = normal::student_upper_quantile(self.groups as u32 - 1, alpha / 2.0);
        let accepted = |row: usize| likelihood::is_mean_zero(&self.excess(row, per_10_000), t * t);
        // The excess falls from value to value, so what is accepted has no gaps.
        let low = partition(row, |row| !accepted(row));
        let beyond = row + 1 + partition(self.values.len() - row - 1, |i| accepted(row + 1 + i));
        Some(Interval {
            estimate,
            low: value(low),
            // The next value is the first that is contradicted: the bound lies between the two.
            high: value(beyond.min(self.values.len() - 1)),
            level: Interval::level_of(alpha),
        })
    }

    /// For each group how many more requests exceed the quantile than its share of them.
    fn excess_of(&self, per_10_000: u32) -> Option<Vec<f64>> {
        Some(self.excess(self.row(per_10_000)?, per_10_000))
    }

    /// Whether enough blocks were there, and enough of them hold what exceeds the quantile.
    pub fn has_interval(&self, per_10_000: u32) -> bool {
        self.chances >= blocks_needed(per_10_000) as usize && self.carriers(per_10_000) >= CARRIERS
    }

    /// Over how many groups what reaches the quantile is spread: (Σn)² / Σn² (Kish, *Survey Sampling*, 1965).
    fn carriers(&self, per_10_000: u32) -> f64 {
        // Many may take just as long as the quantile.
        let above: Vec<f64> = match self.row(per_10_000) {
            Some(row) if row > 0 => self.above(row - 1).collect(),
            _ => return self.groups as f64,
        };
        let squares: f64 = above.iter().map(|n| n * n).sum();
        above.iter().sum::<f64>().powi(2) / squares.max(f64::MIN_POSITIVE)
    }

    fn above(&self, row: usize) -> impl Iterator<Item = f64> {
        let here = &self.at_most[row * self.groups..(row + 1) * self.groups];
        let all = &self.at_most[self.at_most.len() - self.groups..];
        all.iter().zip(here).map(|(all, here)| all - here)
    }

    fn excess(&self, row: usize, per_10_000: u32) -> Vec<f64> {
        let share = f64::from(10_000 - per_10_000) / 10_000.0;
        let all = &self.at_most[self.at_most.len() - self.groups..];
        let above = self.above(row).zip(all);
        above.map(|(above, all)| above - share * all).collect()
    }

    fn total(&self) -> f64 {
        let last = self.values.len().checked_sub(1);
        last.map_or(0.0, |row| self.counted(row))
    }

    fn counted(&self, row: usize) -> f64 {
        self.at_most[row * self.groups..(row + 1) * self.groups]
            .iter()
            .sum()
    }

    /// Where the least value is that so many in 10,000 do not exceed; `None` of nothing.
    fn row(&self, per_10_000: u32) -> Option<usize> {
        let total = self.total();
        let rank = (total * f64::from(per_10_000) / 10_000.0).ceil().max(1.0);
        let row = partition(self.values.len(), |row| self.counted(row) < rank);
        (total > 0.0).then_some(row)
    }
}

/// The first of `0..end` for which `before` does not hold; it holds up to there.
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

/// Two servers in the same blocks: the second's quantile / the first's, at a level of `1 - alpha`.
///
/// Both intervals are put together, and what the servers' blocks have in common narrows the quotient's: slow blocks
/// of the machine are slow for both.
///
/// Source: Zou, *Toward using confidence intervals to compare correlations*, Psychological Methods 12 (2007).
pub fn ratio(both: &[Tails; 2], per_10_000: u32, alpha: f64) -> Option<Ratio> {
    let [first, second] = both;
    let of = |tails: &Tails| tails.quantile(per_10_000, alpha).map(at_least_1);
    let [a, b] = [of(first)?, of(second)?];
    let excess = |tails: &Tails| tails.excess_of(per_10_000);
    let common = correlation(&excess(first)?, &excess(second)?);
    let known = a.level.min(b.level) > 0.0;
    let interval = quotient(&a, &b, if known { common } else { 0.0 });
    let merged = || both.iter().filter_map(|tails| tails.depending.as_ref());
    Some(Ratio {
        interval,
        p: f64::NAN,
        values: first.groups.min(second.groups) as u32,
        width: first.width.max(second.width),
        dependent: merged().any(|m| m.dependent),
        unresolved: merged().any(|m| m.unresolved),
        sufficient: known,
        assumed: false,
        needed: blocks_needed(per_10_000),
    })
}

/// Percentiles of a [shift function](shift), of 10,000.
const SHIFT: [u32; 12] = [
    1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 9500, 9900, 9990,
];

/// The second's quantiles / the first's, those that have intervals, which hold together at a level of `1 - alpha`
/// (Bonferroni).
///
/// Source: the shift function of Doksum, *Annals of Statistics* 2 (1974), as a quotient, at deciles and in the tail
/// (Rousselet, Pernet & Wilcox, *European Journal of Neuroscience* 46, 2017).
pub fn shift(both: &[Tails; 2], alpha: f64) -> Vec<(u32, Interval)> {
    let known = |part: u32| {
        let mut both = both.iter();
        both.all(|t| t.has_interval(part) && is_given(t.total(), part))
    };
    let known: Vec<u32> = SHIFT.into_iter().filter(|part| known(*part)).collect();
    let each = alpha / known.len().max(1) as f64;
    let of = |part| Some((part, ratio(both, part, each)?.interval));
    known.into_iter().filter_map(of).collect()
}

/// 0 ns lies below the clock's resolution.
pub fn at_least_1(of: Interval) -> Interval {
    Interval {
        estimate: of.estimate.max(1.0),
        low: of.low.max(1.0),
        high: of.high.max(1.0),
        level: of.level,
    }
}

/// Pearson's, less one standard error of Fisher's transformation, 0 to 1: so few pairs must not promise too much.
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

/// Whether at least one of so many values exceeds the quantile that `per_10_000` do not.
pub fn is_given(total: f64, per_10_000: u32) -> bool {
    total * f64::from(10_000 - per_10_000) >= 10_000.0
}

/// How the blocks depend on each other in the part of their requests that exceed a limit, which is what
/// moves a quantile: of several limits, that which asks for the widest groups.
fn dependence(alpha: f64, counted: &Counted, limits: [Option<f64>; 2]) -> Option<Merged> {
    let enough = family::blocks_needed(alpha, 1).unwrap_or(u32::MAX);
    let beyond = |limit: f64| {
        let part = |block: &Vec<(u64, u64)>| {
            let (mut all, mut over) = (0.0, 0.0);
            for (value, count) in block {
                all += *count as f64;
                over += if *value as f64 > limit {
                    *count as f64
                } else {
                    0.0
                };
            }
            (all > 0.0).then(|| over / all)
        };
        let parts: Vec<f64> = counted.blocks.iter().filter_map(part).collect();
        dependence::merge(&parts, enough)
    };
    let merged = limits.into_iter().flatten().map(beyond);
    merged.max_by_key(|m| (m.width, m.unresolved))
}

/// What each block counted.
struct Counted {
    /// Values and how many, of one slice after the other.
    blocks: Vec<Vec<(u64, u64)>>,
    /// The values of all, ascending.
    values: Vec<u64>,
}

impl Counted {
    fn new(blocks: &[&Visit], of: Distribution) -> Counted {
        let counted = |block: &&Visit| block.buckets(of).filter(|(_, n)| *n > 0).collect();
        let blocks: Vec<Vec<(u64, u64)>> = blocks.iter().map(counted).collect();
        let mut values: Vec<u64> = blocks.iter().flatten().map(|(value, _)| *value).collect();
        values.sort_unstable();
        values.dedup();
        Counted { blocks, values }
    }
}
