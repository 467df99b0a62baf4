// SPDX-License-Identifier: Apache-2.0
//! Predicts the number of blocks with which a new run would resolve a run's inconclusive
//! comparisons.

use crate::analysis::Verdict;
use crate::outlook::{DECIDING_CHANCE, Open, Outlook, first};
use crate::results::Comparison;
use crate::spending;
use lab_model::{Plan, Run};

/// The number of blocks with which a new run would resolve the inconclusive comparisons.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Deciding {
    /// The number of blocks with which a new run would probably resolve all inconclusive
    /// comparisons.
    All(u32),
    /// The number of blocks with which a new run would probably resolve half of the inconclusive
    /// comparisons. The number that would resolve all of them is unknown or too large.
    Half(u32),
    /// The maximum number of blocks that is proposed. A new run with this number may or may not
    /// resolve half of the inconclusive comparisons.
    Perhaps(u32),
    /// The maximum number of blocks that is proposed. A new run with this number would probably not
    /// resolve half of the inconclusive comparisons.
    ///
    /// This prediction is made only if the existing run has at least [`MIN_BLOCKS_FOR_HARDLY`]
    /// blocks.
    Hardly(u32),
    /// The number of blocks with which a run would allow a prediction. The existing run has fewer
    /// than [`MIN_BLOCKS_FOR_HARDLY`] blocks, which is too few.
    TooFew(u32),
}

/// The maximum number of blocks that is proposed, unless the existing run was allowed more.
const MAX_PROPOSED: u32 = 200;

/// The minimum number of blocks for the prediction that more blocks would hardly help.
pub const MIN_BLOCKS_FOR_HARDLY: u32 = 12;

/// Events with a lower probability count as improbable.
const IMPROBABLE: f64 = 0.1;

/// The dependence between comparisons, from 0 to 1. Comparisons depend on each other because they
/// share the baseline.
const DEPENDENCE: f64 = 0.25;

/// Returns the number of blocks with which a new run would resolve the inconclusive comparisons of
/// a run, or `None` if all comparisons are resolved.
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

/// Returns the number of blocks with which a new run would resolve the inconclusive comparisons of
/// a run with `blocks` blocks.
///
/// Returns `None` if there are no inconclusive comparisons. A comparison without data (`None`)
/// cannot be resolved by any number of blocks. `allowed` is the maximum number of blocks of the
/// existing run.
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
    let chance = |blocks: u32, required: usize| {
        let each = open
            .iter()
            .map(|open| open.map_or(0.0, |open| outlook.chance(open, blocks)));
        chance_of_at_least(&each.collect::<Vec<f64>>(), required)
    };
    let half = open.len().div_ceil(2);
    let enough = |required| {
        first(2, most, |blocks| {
            chance(blocks, required) >= DECIDING_CHANCE
        })
    };
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

/// Returns the probability that at least `required` of multiple partly dependent events happen.
///
/// The result is interpolated between independent events and completely dependent events.
fn chance_of_at_least(chances: &[f64], required: usize) -> f64 {
    let mut counts = vec![0.0; chances.len() + 1];
    counts[0] = 1.0;
    for (known, chance) in chances.iter().enumerate() {
        for count in (0..=known).rev() {
            counts[count + 1] += counts[count] * chance;
            counts[count] *= 1.0 - chance;
        }
    }
    let independent: f64 = counts[required..].iter().sum();
    let mut descending = chances.to_vec();
    descending.sort_unstable_by(|a, b| b.total_cmp(a));
    let together = descending[required - 1];
    (1.0 - DEPENDENCE) * independent + DEPENDENCE * together
}
