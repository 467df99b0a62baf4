// SPDX-License-Identifier: Apache-2.0
//! How many blocks would decide what a run leaves open.

use crate::analysis::Verdict;
use crate::blocks_needed::DECIDING_CHANCE;
use crate::normal;
use crate::results::Comparison;

/// What more blocks would decide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Deciding {
    /// A new run of so many blocks would probably decide all open comparisons.
    All(u32),
    /// A new run of so many blocks would probably decide half of the open comparisons. All would need too many, or an
    /// unknown number.
    Half(u32),
    /// More blocks would hardly decide any.
    Hardly,
}

/// More blocks than these are not proposed, unless this run was allowed more.
const MOST_BLOCKS: u32 = 200;

/// Of all comparisons that are not decided; `None` if all are. `allowed`: the most blocks that this run could have.
pub fn deciding(comparisons: &[Comparison], allowed: u32) -> Option<Deciding> {
    let open = comparisons.iter().filter_map(|c| match c.verdict {
        Some(Verdict::Inconclusive { blocks_needed }) => Some(blocks_needed),
        _ => None,
    });
    let mut needed: Vec<u32> = open.map(|blocks| blocks.unwrap_or(u32::MAX)).collect();
    needed.sort_unstable();
    let [all, half] = [
        for_all(*needed.last()?, needed.len()),
        needed[needed.len() / 2],
    ];
    let most = allowed.max(MOST_BLOCKS);
    Some(match (all <= most, half <= most) {
        (true, _) => Deciding::All(all),
        (_, true) => Deciding::Half(half),
        _ => Deciding::Hardly,
    })
}

/// The blocks that all of so many comparisons need, where each needs at most `blocks` by itself: what may fail is
/// shared among them (Bonferroni).
fn for_all(blocks: u32, comparisons: usize) -> u32 {
    let reserve = |fails: f64| normal::upper_quantile(0.025) + normal::upper_quantile(fails);
    let fails = 1.0 - DECIDING_CHANCE;
    let more = reserve(fails / comparisons as f64) / reserve(fails);
    (f64::from(blocks) * more.powi(2)).ceil() as u32
}
