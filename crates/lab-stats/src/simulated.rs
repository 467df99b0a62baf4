// SPDX-License-Identifier: Apache-2.0
//! Simulated runs, and the smallest true difference that each run detects, in units of a block's
//! standard deviation.

use crate::bootstrap::SplitMix64;
use crate::family;
use crate::sign_flip::{self, Flips, Logs, MergedValues};
use crate::spending::alpha_at;
use lab_model::Plan;
use std::collections::HashSet;

/// The number of simulated runs for each number of blocks.
const RUNS: usize = 300;

/// The simulated numbers of blocks.
///
/// For numbers between them, the detectable difference is interpolated as a power of the number of
/// blocks. For larger numbers, it is inversely proportional to the square root of the number.
const BLOCKS: [u32; 24] = [
    6, 7, 8, 9, 10, 12, 13, 16, 19, 20, 24, 28, 34, 39, 40, 48, 56, 64, 72, 79, 80, 81, 110, 150,
];

/// The number of blocks above which the critical values, on a normal scale, hardly change.
const STABLE_BLOCKS: usize = 24;

/// The maximum difference that is tried, in units of a block's standard deviation.
const MAX_DIFFERENCE: f64 = 10.0;

/// Simulated runs of a plan.
pub struct Simulated {
    /// For each simulated number of blocks: that number, the alpha, and the smallest difference
    /// that each simulated run detects.
    ///
    /// The differences are in ascending order, in units of a block's standard deviation.
    by_blocks: Vec<(u32, f64, Vec<f64>)>,
}

impl Simulated {
    /// Simulates runs with the comparisons of a pilot. Returns runs that follow the plan's stopping
    /// rules, and runs with a fixed number of blocks.
    ///
    /// `alpha_fraction` is the fraction of the plan's alpha that these comparisons may use.
    pub fn as_planned_and_counted(
        pilot: &[Logs],
        plan: &Plan,
        alpha_fraction: f64,
    ) -> [Simulated; 2] {
        let others = Correlated::new(pilot);
        let mut stable = None;
        let mut computed: Vec<(u32, f64, Vec<f64>)> = Vec::new();
        let alphas: [&dyn Fn(u32) -> f64; 2] =
            [&|blocks| alpha_at(plan, blocks), &|_| plan.measure.alpha];
        alphas.map(|alpha| {
            let by_blocks = BLOCKS.iter().map(|&blocks| {
                let alpha = alpha_fraction * alpha(blocks);
                let earlier = computed
                    .iter()
                    .find(|(n, a, _)| (*n, *a) == (blocks, alpha));
                if let Some(earlier) = earlier {
                    return earlier.clone();
                }
                let differences =
                    others.differences(blocks as usize, alpha, plan.seed, &mut stable);
                computed.push((blocks, alpha, differences));
                computed[computed.len() - 1].clone()
            });
            Simulated {
                by_blocks: by_blocks.collect(),
            }
        })
    }

    /// Returns the minimum number of blocks that a run needs to detect a difference with
    /// probability `power`.
    ///
    /// `difference` is in units of a block's standard deviation.
    pub fn blocks(&self, difference: f64, power: f64, most: f64) -> Option<u32> {
        let least = |differences: &[f64]| {
            let rank = (power * differences.len() as f64).ceil() as usize;
            differences[rank.clamp(1, differences.len()) - 1]
        };
        let enough = |(_, _, all): &&(u32, f64, Vec<f64>)| least(all) <= difference;
        let Some(at) = self.by_blocks.iter().position(|f| enough(&f)) else {
            let (last, _, all) = self.by_blocks.last()?;
            let blocks = f64::from(*last) * (least(all) / difference).powi(2);
            return (blocks <= most).then_some(blocks.ceil() as u32);
        };
        let (blocks, alpha, all) = &self.by_blocks[at];
        let Some((before, same, fewer)) = at.checked_sub(1).map(|i| &self.by_blocks[i]) else {
            return Some(*blocks);
        };
        let (far, near) = (least(fewer), least(all));
        if same != alpha || !far.is_finite() || near >= far {
            return Some(*blocks);
        }
        let part = (far / difference).ln() / (far / near).ln();
        let between = f64::from(*before) * (f64::from(*blocks) / f64::from(*before)).powf(part);
        Some(between.ceil() as u32)
    }
}

/// The dependence between the comparisons of a run. It is given by the correlations in a pilot,
/// shrunk toward 0.
///
/// Source: Schäfer & Strimmer, *A shrinkage approach to large-scale covariance matrix estimation*,
/// Statistical Applications in Genetics and Molecular Biology 4 (2005), target D with unit
/// variances.
struct Correlated {
    /// The deviations of each comparison by block of the pilot, standardized so that their squares
    /// add up to 1.
    deviations: Vec<Vec<f64>>,
    /// The fraction of the pilot's correlations that remains after shrinking, from 0 to 1.
    correlated_fraction: f64,
}

impl Correlated {
    fn new(pilot: &[Logs]) -> Correlated {
        let mut distinct: HashSet<Vec<Option<u64>>> = HashSet::new();
        let bits = |logs: &Logs| logs.by_block.iter().map(|l| l.map(f64::to_bits)).collect();
        // Equal comparisons count as one.
        let different = pilot.iter().filter(|logs| distinct.insert(bits(logs)));
        let deviations: Vec<Vec<f64>> = different.map(deviations).collect();
        Correlated {
            correlated_fraction: 1.0 - shrinkage(&deviations),
            deviations,
        }
    }

    /// Draws the values of all comparisons except the first for a simulated run without
    /// differences.
    fn draw(&self, blocks: usize, random: &mut Normal) -> Vec<MergedValues> {
        let pilot = self.deviations.first().map_or(0, Vec::len);
        let common: Vec<Vec<f64>> = (0..blocks).map(|_| random.many(pilot)).collect();
        let (common_weight, own_weight) = (
            self.correlated_fraction.sqrt(),
            (1.0 - self.correlated_fraction).sqrt(),
        );
        let others = self.deviations.iter().skip(1).filter_map(|deviations| {
            let of_block = |common: &Vec<f64>| -> Option<f64> {
                let shared: f64 = deviations.iter().zip(common).map(|(a, b)| a * b).sum();
                Some(common_weight * shared + own_weight * random.next())
            };
            let values: Vec<Option<f64>> = common.iter().map(of_block).collect();
            MergedValues::new(&values, u32::MAX)
        });
        others.collect()
    }

    /// Returns, for each of a few simulated runs, the largest statistic of the other comparisons in
    /// each flip.
    fn greatest(&self, flips: &Flips, blocks: usize, random: &mut Normal) -> Vec<Vec<f64>> {
        let runs = (200 / self.deviations.len().max(1)).clamp(2, 20);
        let mut one = || {
            let drawn = self.draw(blocks, random);
            let drawn: Vec<&MergedValues> = drawn.iter().collect();
            let greatest = flips.greatest(&drawn, &vec![0.0; drawn.len()]);
            greatest.iter().map(|g| g.value).collect()
        };
        (0..runs).map(|_| one()).collect()
    }

    /// Returns the smallest differences that the simulated runs detect, in ascending order.
    fn differences(
        &self,
        blocks: usize,
        alpha: f64,
        seed: u64,
        stable: &mut Option<Vec<f64>>,
    ) -> Vec<f64> {
        let needed = family::blocks_needed(alpha, 1).unwrap_or(u32::MAX);
        // All numbers of blocks use the same random values, so that more blocks never detect less.
        let mut random = Normal(SplitMix64::new(seed ^ 1));
        let runs: Vec<Vec<f64>> = (0..RUNS).map(|_| random.many(150)).collect();
        let flips = Flips::new(blocks.min(STABLE_BLOCKS), seed);
        let others = || {
            self.greatest(
                &flips,
                blocks.min(STABLE_BLOCKS),
                &mut Normal(SplitMix64::new(seed)),
            )
        };
        let few = (blocks <= family::MAX_ENUMERATED_BLOCKS).then(others);
        let limit = match few {
            Some(_) => 0.0,
            None => limit(stable, blocks, alpha, || pooled(others(), &flips, &runs)),
        };
        let most = (alpha * flips.count as f64 + 1e-9) as usize;
        let finds = |run: &[f64], others: Option<&Vec<f64>>, difference: f64| {
            let logs: Vec<Option<f64>> = run.iter().map(|z| Some(z + difference)).collect();
            let Some(merged) = MergedValues::new(&logs, needed).filter(|m| !m.unresolved) else {
                return false;
            };
            match others {
                None => sign_flip::studentized(&merged.values, 0.0) > limit,
                Some(others) => {
                    let statistics = flips.statistics(&merged, 0.0);
                    let observed = statistics[0] * (1.0 - 1e-9);
                    let as_great = statistics
                        .iter()
                        .zip(others)
                        .filter(|(a, b)| a.max(**b) >= observed);
                    as_great.count() <= most
                }
            }
        };
        let mut differences: Vec<f64> = runs
            .iter()
            .enumerate()
            .map(|(i, run)| {
                let others = few.as_ref().map(|few| &few[i % few.len()]);
                min_difference(|difference| finds(&run[..blocks], others, difference))
            })
            .collect();
        differences.sort_unstable_by(f64::total_cmp);
        differences
    }
}

/// Returns the statistics of runs without a difference, in descending order: for each flip of each
/// run, the largest statistic over all comparisons.
fn pooled(others: Vec<Vec<f64>>, flips: &Flips, runs: &[Vec<f64>]) -> Vec<f64> {
    let blocks = flips.blocks();
    let mut all: Vec<f64> = Vec::new();
    for (others, run) in others.iter().zip(runs) {
        let logs: Vec<Option<f64>> = run[..blocks].iter().map(|z| Some(*z)).collect();
        if let Some(merged) = MergedValues::new(&logs, u32::MAX) {
            let statistics = flips.statistics(&merged, 0.0);
            all.extend(statistics.iter().zip(others).map(|(a, b)| a.max(*b)));
        }
    }
    all.sort_unstable_by(|a, b| b.total_cmp(a));
    all
}

/// Returns the critical value of a statistic.
///
/// With at least [`STABLE_BLOCKS`] blocks, the statistics are computed only once and then reused.
fn limit(
    stable: &mut Option<Vec<f64>>,
    blocks: usize,
    alpha: f64,
    make: impl Fn() -> Vec<f64>,
) -> f64 {
    let of = |all: &[f64]| {
        let rank = (alpha * all.len() as f64) as usize;
        all.get(rank).copied().unwrap_or(f64::INFINITY)
    };
    if blocks < STABLE_BLOCKS {
        of(&make())
    } else {
        of(stable.get_or_insert_with(make))
    }
}

/// Returns the smallest difference for which `finds` returns true, or infinity if there is no such
/// difference.
fn min_difference(finds: impl Fn(f64) -> bool) -> f64 {
    if !finds(MAX_DIFFERENCE) {
        return f64::INFINITY;
    }
    let (mut out, mut within) = (0.0, MAX_DIFFERENCE);
    for _ in 0..13 {
        let middle = 0.5 * (out + within);
        if finds(middle) {
            within = middle;
        } else {
            out = middle;
        }
    }
    within
}

/// Returns the standardized deviations of a comparison from its mean.
///
/// A block without a value has a deviation of 0.
fn deviations(logs: &Logs) -> Vec<f64> {
    let values: Vec<f64> = logs.by_block.iter().copied().flatten().collect();
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let all = logs
        .by_block
        .iter()
        .map(|log| log.map_or(0.0, |v| v - mean));
    let all: Vec<f64> = all.collect();
    let length = all.iter().map(|d| d * d).sum::<f64>().sqrt();
    all.iter()
        .map(|d| if length > 0.0 { d / length } else { 0.0 })
        .collect()
}

/// Returns the fraction of the pilot's correlations that is removed, from 0 to 1.
fn shrinkage(deviations: &[Vec<f64>]) -> f64 {
    let n = deviations.first().map_or(0, Vec::len) as f64;
    let (mut variances, mut squares) = (0.0, 0.0);
    for (i, first) in deviations.iter().enumerate() {
        for other in &deviations[..i] {
            let products = first.iter().zip(other).map(|(a, b)| a * b);
            let sum: f64 = products.clone().sum();
            let spread: f64 = products.map(|w| (w - sum / n).powi(2)).sum();
            // The deviations are 1/√(n - 1) times the standardized deviations of the source.
            variances += n / (n - 1.0) * spread;
            squares += sum * sum;
        }
    }
    if squares > 0.0 {
        (variances / squares).min(1.0)
    } else {
        1.0
    }
}

/// A generator of normally distributed values (Box & Muller 1958).
struct Normal(SplitMix64);

impl Normal {
    fn next(&mut self) -> f64 {
        let mut uniform = || (self.0.next() >> 11) as f64 / (1u64 << 53) as f64;
        let radius = (-2.0 * (1.0 - uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * uniform()).cos()
    }

    fn many(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.next()).collect()
    }
}
