// SPDX-License-Identifier: Apache-2.0
//! Several comparisons at once: the blocks that Bonferroni's intervals need.

use crate::signed_rank;

/// The fewest blocks with which the intervals of `family` comparisons can hold together at level
/// `1 - alpha`. `None` if no number up to 1000 does, as with `alpha` = 0.
pub fn blocks_needed(alpha: f64, family: usize) -> Option<u32> {
    signed_rank::values_needed(alpha / family.max(1) as f64)
}
