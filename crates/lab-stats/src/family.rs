// SPDX-License-Identifier: Apache-2.0
//! Multiple comparisons: the number of blocks needed for Bonferroni's intervals, and the number of
//! sign flips used for max-T.

use crate::signed_rank;

/// The maximum number of blocks for which all sign flips are enumerated. For 12 blocks, there are
/// 2,048 sign flips, because a flip and its opposite are equivalent.
pub(crate) const MAX_ENUMERATED_BLOCKS: usize = 12;

/// The number of sign flips for more than [`MAX_ENUMERATED_BLOCKS`] blocks: the identity, and sign
/// flips drawn at random.
const DRAWN_FLIPS: usize = 2048;

/// Returns the number of sign flips for a number of blocks.
pub(crate) fn flip_count(blocks: usize) -> usize {
    if blocks <= MAX_ENUMERATED_BLOCKS {
        1 << blocks.saturating_sub(1)
    } else {
        DRAWN_FLIPS
    }
}

/// Returns the minimum number of blocks for simultaneous intervals of `family` comparisons at level
/// `1 - alpha`.
///
/// Returns `None` if 1000 blocks do not suffice, as with `alpha` = 0.
pub fn blocks_needed(alpha: f64, family: usize) -> Option<u32> {
    signed_rank::values_needed(alpha / family.max(1) as f64)
}
