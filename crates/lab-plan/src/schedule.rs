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
    /// The schedule of block number `block`, from 0, in a run with this seed.
    pub fn new(seed: u64, block: u32) -> Schedule {
        Schedule { seed, block }
    }

    /// The core that measuring threads run on, from 0 to `cores` - 1; it changes from block to block.
    pub fn core(&self, cores: usize) -> usize {
        (self.seed as usize).wrapping_add(self.block as usize) % cores.max(1)
    }

    /// The points in the order of visits, those of a target together. `targets`: the target of each point.
    pub fn points(&self, targets: &[TargetId]) -> Vec<PointId> {
        let mut generator = self.generator(0);
        let mut order: Vec<PointId> = (0..targets.len()).collect();
        order.shuffle(&mut generator);
        let mut places: Vec<TargetId> = (0..=targets.iter().max().copied().unwrap_or(0)).collect();
        places.shuffle(&mut generator);
        order.sort_by_key(|&point| places[targets[point]]);
        order
    }

    /// The order in which subjects open a point.
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
