// SPDX-License-Identifier: Apache-2.0
//! The number of blocks that would resolve the inconclusive comparisons of a run.

use crate::analysis::Verdict;
use crate::outlook::{DECIDING_CHANCE, Open, Outlook, first};
use crate::results::Comparison;
use crate::spending;
use lab_model::{Plan, Run};

/// The number of blocks of a new run that would resolve the open comparisons.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Deciding {
    /// A new run of this many blocks would probably resolve all open comparisons.
    All(u32),
    /// A new run of this many blocks would probably resolve half of the open comparisons. All would need too
    /// many, or an unknown number.
    Half(u32),
    /// A new run of this many blocks, the most that are proposed, may or may not resolve half of the open
    /// comparisons.
    Perhaps(u32),
    /// This many blocks, the most that are proposed, would not resolve half of the open comparisons: that is
    /// improbable, judging by at least [`MIN_BLOCKS_FOR_HARDLY`] blocks.
    Hardly(u32),
    /// Fewer blocks than [`MIN_BLOCKS_FOR_HARDLY`] give no bound; a run of this many would give one.
    TooFew(u32),
}

/// More blocks than these are not proposed, unless this run was allowed more.
const MAX_PROPOSED: u32 = 200;

/// With fewer blocks it is unknown whether more would help.
pub const MIN_BLOCKS_FOR_HARDLY: u32 = 12;

/// Events with a lower chance count as improbable.
const IMPROBABLE: f64 = 0.1;

/// The dependence between comparisons, which share a baseline: 0 none, 1 complete.
const DEPENDENCE: f64 = 0.25;

/// The number of blocks that would resolve the open comparisons of a run; `None` if there are none.
pub fn deciding(comparisons: &[Comparison], run: &Run, plan: &Plan) -> Option<Deciding> {
    let is_open = |c: &&Comparison| matches!(c.verdict, Some(Verdict::Inconclusive { .. }));
    let open: Vec<Option<&Open>> = comparisons
        .iter()
        .filter(is_open)
        .map(|c| c.open.as_ref())
        .collect();
    let relative_alpha = spending::relative_alpha(run, plan);
    let blocks = run.replicate_count() as u32;
    deciding_of(
        &open,
        &Outlook::new(&relative_alpha),
        blocks,
        plan.measure.max_blocks,
    )
}

/// The number of blocks that would resolve the open comparisons of a run of `blocks` blocks; `None` if there
/// are none. A comparison of which nothing is known (`None`) cannot be resolved by any number. `allowed`: the
/// most blocks that this run could have.
pub fn deciding_of(
    open: &[Option<&Open>],
    outlook: &Outlook,
    blocks: u32,
    allowed: u32,
) -> Option<Deciding> {
    if open.is_empty() {
        return None;
    }
    let most = allowed.max(MAX_PROPOSED);
    let chance = |blocks: u32, wanted: usize| {
        let each = open
            .iter()
            .map(|open| open.map_or(0.0, |open| outlook.chance(open, blocks)));
        chance_of_at_least(&each.collect::<Vec<f64>>(), wanted)
    };
    let half = open.len().div_ceil(2);
    let enough = |wanted| first(2, most, |blocks| chance(blocks, wanted) >= DECIDING_CHANCE);
    Some(match enough(open.len()) {
        Some(all) => Deciding::All(all),
        None => match enough(half) {
            Some(half) => Deciding::Half(half),
            None if blocks < MIN_BLOCKS_FOR_HARDLY => Deciding::TooFew(MIN_BLOCKS_FOR_HARDLY),
            None if chance(most, half) < IMPROBABLE => Deciding::Hardly(most),
            None => Deciding::Perhaps(most),
        },
    })
}

/// The probability that at least `wanted` of some events happen, which partly depend on each other: between
/// that of independent events and that of events which always happen together.
fn chance_of_at_least(chances: &[f64], wanted: usize) -> f64 {
    let mut counts = vec![0.0; chances.len() + 1];
    counts[0] = 1.0;
    for (known, chance) in chances.iter().enumerate() {
        for count in (0..=known).rev() {
            counts[count + 1] += counts[count] * chance;
            counts[count] *= 1.0 - chance;
        }
    }
    let independent: f64 = counts[wanted..].iter().sum();
    let mut descending = chances.to_vec();
    descending.sort_unstable_by(|a, b| b.total_cmp(a));
    let together = descending[wanted - 1];
    (1.0 - DEPENDENCE) * independent + DEPENDENCE * together
}
