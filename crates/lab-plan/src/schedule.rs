// SPDX-License-Identifier: Apache-2.0
//! The order of everything in a block, from the seed alone, so that a redone block is the same.

use lab_model::{PointId, SubjectId, TargetId};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The schedule of one block.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    seed: u64,
    block: u32,
}

impl Schedule {
    /// The schedule of a block, from 0, of a run with this seed.
    pub fn new(seed: u64, block: u32) -> Schedule {
        Schedule { seed, block }
    }

    /// Which of so many cores the measuring threads run on: another one in each block.
    pub fn core(&self, cores: usize) -> usize {
        (self.seed as usize).wrapping_add(self.block as usize) % cores.max(1)
    }

    /// The points in the order in which they are visited, those of a target after one another; given
    /// is the target of each.
    pub fn points(&self, targets: &[TargetId]) -> Vec<PointId> {
        let mut generator = self.generator(0);
        let mut order: Vec<PointId> = (0..targets.len()).collect();
        order.shuffle(&mut generator);
        let mut places: Vec<TargetId> = (0..=targets.iter().max().copied().unwrap_or(0)).collect();
        places.shuffle(&mut generator);
        order.sort_by_key(|&point| places[targets[point]]);
        order
    }

    /// The subjects in the order in which they open a point.
    pub fn openings(&self, point: PointId, subjects: &[SubjectId]) -> Vec<SubjectId> {
        let mut order = subjects.to_vec();
        order.shuffle(&mut self.generator(2 * point as u32 + 1));
        order
    }

    /// The passes over a point: `pairs` times a random order and then its reverse.
    pub fn passes(
        &self,
        point: PointId,
        subjects: &[SubjectId],
        pairs: u32,
    ) -> impl Iterator<Item = Vec<SubjectId>> + use<> {
        let mut generator = self.generator(2 * point as u32 + 2);
        let mut order = subjects.to_vec();
        (0..pairs).flat_map(move |_| {
            order.shuffle(&mut generator);
            let mirror = order.iter().rev().copied().collect();
            [order.clone(), mirror]
        })
    }

    /// Independent streams of one generator (Bernstein's ChaCha with 8 rounds): one per block and use.
    fn generator(&self, purpose: u32) -> ChaCha8Rng {
        let mut generator = ChaCha8Rng::seed_from_u64(self.seed);
        generator.set_stream(u64::from(self.block) << 32 | u64::from(purpose));
        generator
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_mirrored_and_complete() {
        let passes: Vec<_> = Schedule::new(7, 3).passes(2, &[0, 1, 4], 40).collect();
        assert_eq!(passes.len(), 80);
        for pair in passes.chunks(2) {
            let mut mirror = pair[1].clone();
            mirror.reverse();
            assert_eq!(pair[0], mirror);
            mirror.sort();
            assert_eq!(mirror, [0, 1, 4]);
        }
    }

    #[test]
    fn the_points_of_a_target_follow_one_another() {
        let targets = [0, 1, 2, 0, 1, 2, 0, 1, 2];
        let firsts: std::collections::HashSet<_> = (0..20)
            .map(|block| {
                let order = Schedule::new(5, block).points(&targets);
                let mut visited: Vec<_> = order.iter().map(|&p| targets[p]).collect();
                visited.dedup();
                assert_eq!((order.len(), visited.len()), (9, 3));
                visited[0]
            })
            .collect();
        assert_eq!(firsts.len(), 3);
    }

    #[test]
    fn every_order_comes_up_about_equally_often() {
        let mut counts = std::collections::HashMap::new();
        for block in 0..50 {
            for pass in Schedule::new(1, block).passes(0, &[0, 1, 2], 60).step_by(2) {
                *counts.entry(pass).or_insert(0) += 1;
            }
        }
        assert_eq!(counts.len(), 6);
        // 3000 draws, 500 each; the standard deviation of a count is 20.
        assert!(
            counts.values().all(|&n| (400..600).contains(&n)),
            "{counts:?}"
        );
    }

    #[test]
    fn a_block_has_the_same_schedule_whenever_it_is_run_and_another_than_the_next() {
        let schedule = |block| {
            let s = Schedule::new(9, block);
            (
                s.points(&[0; 20]),
                s.passes(1, &[0, 1, 2, 3], 5).collect::<Vec<_>>(),
            )
        };
        assert_eq!(schedule(4), schedule(4));
        assert_ne!(schedule(4), schedule(5));
        assert_ne!(Schedule::new(9, 4).core(2), Schedule::new(9, 5).core(2));
    }
}
