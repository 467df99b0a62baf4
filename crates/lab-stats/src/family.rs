// SPDX-License-Identifier: Apache-2.0
//! Several comparisons at once: Holm's p-values, and the blocks that Bonferroni's intervals need.

use crate::signed_rank;

/// Holm's adjusted p-values, in the order of `p`.
///
/// Source: Holm, *A simple sequentially rejective multiple test procedure*, Scandinavian Journal
/// of Statistics 6 (1979); the same as R's `p.adjust(p, "holm")`.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut by_size: Vec<usize> = (0..p.len()).collect();
    by_size.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut greatest: f64 = 0.0;
    for (done, &i) in by_size.iter().enumerate() {
        greatest = greatest.max(p[i] * (p.len() - done) as f64).min(1.0);
        adjusted[i] = greatest;
    }
    adjusted
}

/// The fewest blocks with which the intervals of `family` comparisons can hold together at level
/// `1 - alpha`. `None` if no number up to 1000 does, as with `alpha` = 0.
pub fn blocks_needed(alpha: f64, family: usize) -> Option<u32> {
    signed_rank::values_needed(alpha / family.max(1) as f64)
}
