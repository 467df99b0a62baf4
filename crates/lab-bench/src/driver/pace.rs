// SPDX-License-Identifier: Apache-2.0
//! Chooses the number of mirrored pairs of passes per block, so that enough blocks fit into the
//! time of a run.
//!
//! A plan counts only the turns of a block. Starts, warm-up and verification take additional time.
//! With three databases, the additional time is more than twice the time of the turns. The first
//! block is therefore short, and its duration is measured. The following blocks are as long as the
//! remaining time allows. Their length depends only on elapsed time, never on measured results.

use lab_model::Plan;

/// The number of blocks that should fit into the time of a run.
const BLOCKS: u32 = 16;

/// The number of pairs in the first block, as a fraction of the planned number.
const FIRST: f64 = 0.25;

/// The durations of a block in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockTimes {
    /// The total duration.
    pub total_ns: u64,
    /// The duration of all passes. It depends on the number of passes.
    pub passes_ns: u64,
}

/// The number of pairs in each block, as a fraction of the planned number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockPace {
    /// The time of the run in ns, and the target number of blocks. `None` means that blocks have the planned number of
    /// pairs.
    goal: Option<(u64, u32)>,
    fraction: f64,
}

impl BlockPace {
    /// Returns the pace of the first block. Blocks have the planned length if the user specified
    /// the number of pairs or blocks instead of a time.
    pub fn new(plan: &Plan) -> BlockPace {
        let measure = &plan.measure;
        let goal = measure.budget_ns.filter(|_| measure.block_ns.is_some());
        let goal = goal.map(|budget_ns| (budget_ns, BLOCKS.min(measure.max_blocks)));
        BlockPace {
            goal,
            fraction: if goal.is_some() { FIRST } else { 1.0 },
        }
    }

    /// Returns the pace for a host that measures single blocks without knowing the total time of
    /// the run. Blocks have the planned length.
    pub fn planned() -> BlockPace {
        BlockPace {
            goal: None,
            fraction: 1.0,
        }
    }

    /// Returns the number of pairs in a block, at least 1, if the plan has `planned` pairs.
    pub fn pairs(&self, planned: u32) -> u32 {
        ((f64::from(planned) * self.fraction).round() as u32).clamp(1, planned.max(1))
    }

    /// Adapts the pace to the durations of a block.
    ///
    /// `complete` is the number of valid blocks so far, and `spent_ns` is the time that the run has taken.
    pub fn adapt(&mut self, times: BlockTimes, complete: u32, spent_ns: u64) {
        let Some((budget_ns, blocks)) = self.goal else {
            return;
        };
        if times.passes_ns == 0 {
            return;
        }
        // If all target blocks are complete, the remaining time is spent on one more block.
        let left = blocks.saturating_sub(complete).max(1);
        let block_ns = budget_ns.saturating_sub(spent_ns) as f64 / f64::from(left);
        let fixed_ns = times.total_ns.saturating_sub(times.passes_ns) as f64;
        let planned_passes_ns = times.passes_ns as f64 / self.fraction;
        let fraction = (block_ns - fixed_ns) / planned_passes_ns;
        // The fraction must not be zero: the next block's duration shows the effect of a smaller fraction.
        self.fraction = fraction.clamp(0.01, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_model::Measure;

    const SECOND: u64 = 1_000_000_000;

    fn pace(budget_s: Option<u64>, block_s: Option<u64>, max_blocks: u32) -> BlockPace {
        BlockPace::new(&Plan {
            measure: Measure {
                budget_ns: budget_s.map(|s| s * SECOND),
                block_ns: block_s.map(|s| s * SECOND),
                max_blocks,
                ..Measure::default()
            },
            ..Plan::default()
        })
    }

    /// Returns the number of pairs in each block of a simulated run.
    ///
    /// Fixed costs such as starts take `fixed` seconds per block, and each pair takes `pair`
    /// seconds.
    fn run(
        mut pace: BlockPace,
        planned: u32,
        budget: f64,
        pilot: f64,
        (fixed, pair): (f64, f64),
    ) -> Vec<u32> {
        let (mut spent, mut blocks) = (pilot, Vec::new());
        loop {
            let pairs = pace.pairs(planned);
            let passes = pair * f64::from(pairs);
            spent += fixed + passes;
            if spent > budget {
                return blocks;
            }
            blocks.push(pairs);
            let times = BlockTimes {
                total_ns: ((fixed + passes) * 1e9) as u64,
                passes_ns: (passes * 1e9) as u64,
            };
            pace.adapt(times, blocks.len() as u32, (spent * 1e9) as u64);
        }
    }

    #[test]
    fn sixteen_blocks_fit_into_the_time() {
        // Three databases on two cores: 14.5 s plus 2.1 s per pair, with 33 planned pairs.
        let blocks = run(pace(Some(600), Some(24), 80), 33, 600.0, 60.0, (14.5, 2.1));
        assert!((15..=17).contains(&blocks.len()), "{blocks:?}");
        assert!(
            blocks[1..].iter().all(|pairs| (8..=11).contains(pairs)),
            "{blocks:?}"
        );
        // SQLite only.
        let blocks = run(pace(Some(300), Some(8), 80), 40, 300.0, 30.0, (3.4, 0.37));
        assert!((15..=17).contains(&blocks.len()), "{blocks:?}");
        // Cheap blocks stay as planned, and more of them fit.
        let blocks = run(pace(Some(600), Some(8), 80), 20, 600.0, 10.0, (1.0, 0.4));
        assert!(
            blocks.len() > 60 && blocks[2..].iter().all(|pairs| *pairs == 20),
            "{blocks:?}"
        );
        // Starts alone take too long, so blocks have the minimum of one pair.
        let blocks = run(pace(Some(600), Some(24), 80), 33, 600.0, 60.0, (60.0, 2.0));
        assert!(blocks[2..].iter().all(|pairs| *pairs == 1), "{blocks:?}");
    }

    #[test]
    fn requested_numbers_are_kept() {
        for pace in [pace(None, Some(8), 12), pace(Some(600), None, 12)] {
            let mut adapted = pace;
            let times = BlockTimes {
                total_ns: 90 * SECOND,
                passes_ns: 80 * SECOND,
            };
            adapted.adapt(times, 1, 100 * SECOND);
            assert_eq!((pace.pairs(33), adapted.pairs(33)), (33, 33));
        }
    }

    /// Checks that the time lost in a disturbed block shortens the remaining blocks.
    #[test]
    fn lost_time_shortens_the_rest() {
        let after = |spent_s: u64| {
            let mut pace = pace(Some(600), Some(24), 80);
            let times = BlockTimes {
                total_ns: 31 * SECOND,
                passes_ns: 17 * SECOND,
            };
            pace.adapt(times, 1, spent_s * SECOND);
            pace.pairs(33)
        };
        assert!(after(90) > after(250), "{} {}", after(90), after(250));
    }
}
