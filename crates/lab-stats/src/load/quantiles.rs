// SPDX-License-Identifier: Apache-2.0
//! Quantiles of all requests of a run's blocks together, with bootstrap intervals over whole blocks.
//!
//! Quantiles of blocks must not be averaged: where a server stalls for one second in ten, nine blocks'
//! p99 know nothing of it. So the distributions are added up, and what is drawn again is blocks.

use super::visits::{Distribution, Visit};
use crate::analysis::Interval;
use crate::dependence::{self, Merged};
use crate::{bootstrap, family};

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

/// More blocks than this are drawn in groups of neighbours: it bounds the work.
const MOST_GROUPS: usize = 100;

/// The quantiles of a distribution over all of `blocks`, each interval at a level of `1 - alpha`, and how the
/// blocks depend on each other in it.
pub fn quantiles(
    seed: u64,
    alpha: f64,
    blocks: &[&Visit],
    of: Distribution,
) -> (Quantiles, Option<Merged>) {
    let counted = Counted::new(blocks, of);
    let Some(&max) = counted.values.last() else {
        return (Quantiles::default(), None);
    };
    let all = Pooled::new(&counted, blocks.len());
    let total = all.total(&[1.0]);
    let found = all.quantiles(&[1.0]);
    let limits = [0, 3].map(|i| found.map(|values| values[i]));
    let depending = dependence(alpha, &counted, limits);
    let width = depending.as_ref().map_or(1, |m| m.width as usize);
    let pooled = Pooled::new(&counted, width.max(blocks.len().div_ceil(MOST_GROUPS)));
    let intervals = pooled.intervals(seed, alpha);
    let part = |i: usize| {
        let given = intervals.filter(|_| is_given(total, PARTS[i]));
        given.map(|all| all[i])
    };
    let quantiles = Quantiles {
        count: total as u64,
        parts: std::array::from_fn(part),
        max_ns: Some(max),
    };
    (quantiles, depending)
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

/// Distributions of groups of blocks over the values that any of them has.
struct Pooled<'b> {
    groups: usize,
    values: &'b [u64],
    /// How many lie at or below a value: by value, then group. Whole numbers, exact up to 2^53.
    at_most: Vec<f64>,
}

impl Pooled<'_> {
    /// Groups of `width` neighbours; the last has the rest, too.
    fn new(counted: &Counted, width: usize) -> Pooled<'_> {
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
        Pooled {
            groups,
            values,
            at_most,
        }
    }

    /// How many lie at or below the value of a row, where each group counts so often.
    fn counted(&self, row: usize, weights: &[f64]) -> f64 {
        let counts = &self.at_most[row * self.groups..(row + 1) * self.groups];
        counts.iter().zip(weights).map(|(n, w)| n * w).sum()
    }

    fn total(&self, weights: &[f64]) -> f64 {
        let last = self.values.len().checked_sub(1);
        last.map_or(0.0, |row| self.counted(row, weights))
    }

    /// For each of [`PARTS`] the least value that so many in 10,000 do not exceed; `None` of nothing.
    fn quantiles(&self, weights: &[f64]) -> Option<[f64; PARTS.len()]> {
        let total = self.total(weights);
        let mut found = [0.0; PARTS.len()];
        // They ascend, and so do the parts: none lies before the one before.
        let mut low = 0;
        for (value, part) in found.iter_mut().zip(PARTS) {
            let rank = (total * f64::from(part) / 10_000.0).ceil().max(1.0);
            let mut high = self.values.len();
            while low < high {
                let middle = (low + high) / 2;
                if self.counted(middle, weights) < rank {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            *value = *self.values.get(low)? as f64;
        }
        (total > 0.0).then_some(found)
    }

    /// Whole groups are drawn again; what is computed from a draw is the quantiles of all its requests.
    fn intervals(&self, seed: u64, alpha: f64) -> Option<[Interval; PARTS.len()]> {
        bootstrap::intervals(self.groups, seed, alpha, |draws| {
            let weights: Vec<f64> = draws.iter().map(|n| f64::from(*n)).collect();
            self.quantiles(&weights)
        })
    }
}
