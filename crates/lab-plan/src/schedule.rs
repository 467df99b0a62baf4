// SPDX-License-Identifier: Apache-2.0
//! The order of points, subjects and passes in a block. The order depends only on the seed and the
//! block's number, so a repeated block has the same order.

use lab_model::{IdVec, PointId, SubjectId, TargetId};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The order of points, subjects and passes in one block.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    seed: u64,
    block: u32,
}

impl Schedule {
    /// Creates the schedule of a block. `seed` is the seed of the run, and `block` is the number of
    /// the block, from 0.
    pub fn new(seed: u64, block: u32) -> Schedule {
        Schedule { seed, block }
    }

    /// Returns the index of the core for the measuring threads, from 0 to `cores` - 1. It changes
    /// from block to block.
    pub fn core(&self, cores: usize) -> usize {
        (self.seed as usize).wrapping_add(self.block as usize) % cores.max(1)
    }

    /// Returns the points in the order of visits. Points with the same target are adjacent.
    ///
    /// `targets` contains the target of each point.
    pub fn points(&self, targets: &IdVec<PointId, TargetId>) -> Vec<PointId> {
        let mut generator = self.generator(0);
        let mut order: Vec<PointId> = targets.ids().collect();
        order.shuffle(&mut generator);
        let last = targets.iter().max().map_or(0, |target| target.0);
        let mut ranks: IdVec<TargetId, u32> = (0..=last).collect();
        ranks.shuffle(&mut generator);
        order.sort_by_key(|&point| ranks[targets[point]]);
        order
    }

    /// Returns the order in which subjects open a point.
    pub fn openings(&self, point: PointId, subjects: &[SubjectId]) -> Vec<SubjectId> {
        let mut order = subjects.to_vec();
        order.shuffle(&mut self.generator(2 * point.0 + 1));
        order
    }

    /// Returns the passes over a point. There are `pairs` random orders, each followed by its
    /// reverse.
    pub fn passes(
        &self,
        point: PointId,
        subjects: &[SubjectId],
        pairs: u32,
    ) -> impl Iterator<Item = Vec<SubjectId>> + use<> {
        let mut generator = self.generator(2 * point.0 + 2);
        let mut order = subjects.to_vec();
        (0..pairs).flat_map(move |_| {
            order.shuffle(&mut generator);
            let mirror = order.iter().rev().copied().collect();
            [order.clone(), mirror]
        })
    }

    /// Returns a random number generator (Bernstein's ChaCha with 8 rounds). It has an independent
    /// stream for each block and purpose.
    fn generator(&self, purpose: u32) -> ChaCha8Rng {
        let mut generator = ChaCha8Rng::seed_from_u64(self.seed);
        generator.set_stream(u64::from(self.block) << 32 | u64::from(purpose));
        generator
    }
}
