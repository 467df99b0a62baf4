// SPDX-License-Identifier: Apache-2.0
//! Multiple comparisons: the blocks that Bonferroni's intervals need, and the flips that max-T makes of them.

use crate::signed_rank;

/// Up to this many blocks all flips are enumerated: 2,048, since a flip and its opposite are equivalent.
pub(crate) const MAX_ENUMERATED_BLOCKS: usize = 12;

/// With more blocks this many flips are drawn, including the identity.
const DRAWN_FLIPS: usize = 2048;

/// The number of flips for a number of blocks.
pub(crate) fn flip_count(blocks: usize) -> usize {
    if blocks <= MAX_ENUMERATED_BLOCKS {
        1 << blocks.saturating_sub(1)
    } else {
        DRAWN_FLIPS
    }
}

/// The fewest blocks with which the intervals of `family` comparisons can hold together at level
/// `1 - alpha`. `None` if no number up to 1000 does, as with `alpha` = 0.
pub fn blocks_needed(alpha: f64, family: usize) -> Option<u32> {
    signed_rank::values_needed(alpha / family.max(1) as f64)
}
