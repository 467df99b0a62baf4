// SPDX-License-Identifier: Apache-2.0
//! Chooses the number of process sets of a run, and the number of blocks that each set serves, so
//! that intervals are as narrow as possible in a given time.
//!
//! The process is the unit of replication: the value of a set of processes is the mean of its
//! blocks' log ratios. Its variance is σp² + σb² / k, where σp² is the variance between processes,
//! σb² is the variance between blocks of one process, and k is the number of blocks. (Kalibera &
//! Jones, *Rigorous benchmarking in reasonable time*, ISMM 2013, choose the same numbers from the
//! same variances and costs.)

use crate::load::visits::Visits;
use crate::normal;
use lab_model::Run;

/// The maximum number of blocks that a set of processes serves.
pub const MAX_BLOCKS: u32 = 16;
/// The minimum number of sets.
///
/// Fewer sets do not show the variance between processes.
const MIN_SETS: u32 = 2;
/// The maximum number of sets whose intervals assume normally distributed values.
///
/// With slightly more sets, the intervals need no such assumption but are wider.
pub const MAX_ASSUMED_SETS: u32 = 5;
/// The minimum number of sets for intervals that do not assume normally distributed values and are
/// not much wider.
const MIN_EXACT_SETS: u32 = 12;
/// The half-width of an interval from 12 or more sets, in standard errors, if there are a handful
/// of comparisons.
const EXACT_FACTOR: f64 = 3.2;
/// The error probability of each comparison, if there are a handful of comparisons.
const ALPHA: f64 = 0.01;

/// The variance components of the logarithm of a ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variances {
    /// The variance between processes.
    pub process: f64,
    /// The variance between the blocks of a process.
    pub block: f64,
}

/// The number of process sets of a run, and the number of blocks of each set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Design {
    /// The number of sets of processes.
    pub sets: u32,
    /// The number of blocks that each set serves.
    pub blocks: u32,
}

/// The time needed for a set of processes and its blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// The time to start the processes of a set and to warm them up, in s.
    pub set_s: f64,
    /// The time of a block, in s.
    pub block_s: f64,
}

impl Variances {
    /// The variances that are assumed before any variance is measured: processes vary as much as
    /// blocks.
    pub const UNKNOWN: Variances = Variances {
        process: 1.0,
        block: 1.0,
    };

    /// Estimates the variances from the log ratios of comparisons by set and block, pooled over the
    /// comparisons.
    ///
    /// Returns `None` if no set has two blocks, or if there is only one set.
    pub fn estimate(comparisons: &[Vec<Vec<f64>>]) -> Option<Variances> {
        let (mut within, mut within_freedom) = (0.0, 0.0);
        let (mut between, mut between_freedom, mut blocks, mut sets) = (0.0, 0.0, 0.0, 0.0);
        for comparison in comparisons {
            let filled: Vec<&Vec<f64>> = comparison.iter().filter(|set| !set.is_empty()).collect();
            let means: Vec<f64> = filled.iter().map(|set| mean(set)).collect();
            for (set, center) in filled.iter().zip(&means) {
                within += set.iter().map(|x| (x - center).powi(2)).sum::<f64>();
                within_freedom += set.len() as f64 - 1.0;
                blocks += 1.0 / set.len() as f64;
                sets += 1.0;
            }
            let center = mean(&means);
            between += means.iter().map(|m| (m - center).powi(2)).sum::<f64>();
            between_freedom += (means.len() as f64 - 1.0).max(0.0);
        }
        if within_freedom < 1.0 || between_freedom < 1.0 {
            return None;
        }
        let block = within / within_freedom;
        // The variance of a set's mean also includes the variance of its blocks.
        let process = (between / between_freedom - block * blocks / sets).max(0.0);
        Some(Variances { process, block })
    }
}

impl Design {
    /// Chooses the design with the narrowest intervals for the remaining time in s, given the sets
    /// that are already done.
    ///
    /// Returns `None` if there is not enough time for the minimum number of sets with one block
    /// each. `max_sets` is the maximum number of sets of the run.
    pub fn choose(
        cost: Cost,
        variances: Variances,
        remaining_s: f64,
        done_sets: u32,
        max_sets: u32,
    ) -> Option<Design> {
        let most = max_sets.saturating_sub(done_sets);
        let allowed = |all: u32| {
            all >= MIN_SETS && (all <= MAX_ASSUMED_SETS || all >= MIN_EXACT_SETS.min(max_sets))
        };
        let designs = (1..=most)
            .filter(|sets| allowed(sets + done_sets))
            .filter_map(|sets| {
                let fitting = (remaining_s / f64::from(sets) - cost.set_s) / cost.block_s;
                let blocks = (fitting.floor() as u32).min(MAX_BLOCKS);
                (fitting >= 1.0).then_some(Design { sets, blocks })
            });
        designs.min_by(|a, b| {
            let width = |d: &Design| half_width(variances, done_sets + d.sets, d.blocks);
            width(a).total_cmp(&width(b))
        })
    }
}

/// Returns the half-width of an interval for the logarithm of a ratio.
fn half_width(variances: Variances, sets: u32, blocks: u32) -> f64 {
    let variance = (variances.process + variances.block / f64::from(blocks)) / f64::from(sets);
    let factor = if sets >= MIN_EXACT_SETS {
        EXACT_FACTOR
    } else {
        normal::student_upper_quantile(f64::from(sets - 1), ALPHA / 2.0)
    };
    factor * variance.sqrt()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Returns the number of process sets whose blocks count, and the number of blocks of the last set.
pub fn sets_done(run: &Run) -> (u32, u32) {
    let replicates = run.replicates();
    let last = replicates.iter().max().copied();
    let blocks = replicates.iter().filter(|set| Some(**set) == last).count();
    (run.replicate_count() as u32, blocks as u32)
}

/// Returns the variances of the logarithm of the servers' cost per request divided by the
/// baseline's cost.
///
/// Returns `None` if the run has too few sets, or if its sets have too few blocks.
pub fn observed(run: &Run) -> Option<Variances> {
    let plan = run.plan()?;
    let visits = Visits::new(run, plan);
    let mut comparisons = Vec::new();
    for point in plan.points.ids().filter(|&point| !plan.is_open(point)) {
        for subject in plan.compared().filter(|&s| s != plan.baseline) {
            let pair = [subject, plan.baseline];
            comparisons.push(visits.logs_by_set(pair, point, |v| v.server_ns_per_request()));
        }
    }
    Variances::estimate(&comparisons)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHEAP: Cost = Cost {
        set_s: 0.1,
        block_s: 2.0,
    };
    const DEAR: Cost = Cost {
        set_s: 20.0,
        block_s: 2.0,
    };

    #[test]
    fn a_process_serves_multiple_blocks_if_warm_up_is_expensive() {
        let unknown = Variances::UNKNOWN;
        let cheap = Design::choose(CHEAP, unknown, 30.0, 0, 12).unwrap();
        assert_eq!((cheap.sets, cheap.blocks), (12, 1));
        let dear = Design::choose(DEAR, unknown, 150.0, 0, 12).unwrap();
        assert!(dear.sets <= 5 && dear.blocks >= 3, "{dear:?}");
        assert_eq!(Design::choose(DEAR, unknown, 40.0, 0, 12), None);
    }

    #[test]
    fn processes_serve_many_blocks_only_if_blocks_vary() {
        let steady_processes = Variances {
            process: 0.0,
            block: 1.0,
        };
        let steady_blocks = Variances {
            process: 1.0,
            block: 0.01,
        };
        let [many, few] = [steady_processes, steady_blocks]
            .map(|v| Design::choose(DEAR, v, 110.0, 0, 12).unwrap());
        assert!(
            few.sets >= many.sets && few.blocks <= many.blocks,
            "{many:?} {few:?}"
        );
    }

    #[test]
    fn variances_of_processes_and_blocks_are_separated() {
        let set = |level: f64| vec![level - 0.01, level + 0.01];
        let comparison = vec![set(-0.1), set(0.1), set(0.0)];
        let found = Variances::estimate(&[comparison]).unwrap();
        assert!((found.block - 0.0002).abs() < 1e-9, "{found:?}");
        assert!((found.process - (0.01 - 0.0001)).abs() < 1e-9, "{found:?}");
        assert_eq!(Variances::estimate(&[vec![vec![0.1], vec![0.2]]]), None);
        assert_eq!(Variances::estimate(&[]), None);
    }
}
