// SPDX-License-Identifier: Apache-2.0
//! When a run may stop, and what error each look and the end of it may make.
//!
//! A run that looks at its data several times would find a difference by chance more often than
//! its level says. So the looks share the alpha of the plan: the part spent by a look at block n
//! grows in proportion to n, up to all of it at the last look. Looks at 10, 20, 40 and 80 blocks
//! thus spend 1/8, 1/8, 1/4 and 1/2. A run that ends for a reason that is not in its ratios (time,
//! number of blocks, the reader) spends all that its looks have left. The sum is at most alpha,
//! and so, by Bonferroni's inequality, is the chance of a false statement over the whole run.
//!
//! Source: Lan & DeMets, *Discrete sequential boundaries for clinical trials*, Biometrika 70
//! (1983), with the spending function alpha · t. Bonferroni's inequality in place of the joint
//! distribution of the looks keeps it exact with few blocks, and a little conservative.

use crate::analysis::Verdict;
use crate::refusals;
use crate::results::batches;
use crate::results::compare::Pair;
use crate::results::observed::Observed;
use crate::table::{Table, sound_plan};
use lab_model::{Ending, Measure, Plan, Run};

/// Whether a run may stop after its latest complete block: at a look, because every comparison is
/// decided or, where a precision is wanted, as precise as that; at the last look or the last
/// block, because nothing is left to do; at any block, because nothing is left to compare.
///
/// A wanted precision takes the place of being decided: the reader asked for narrow intervals,
/// not only for a winner. A look at which this is `None` belongs into [`Run::looks`].
///
/// A run on several targets stops at a look that would stop each of its parts.
pub fn stop(run: &Run) -> Option<Ending> {
    let plan = sound_plan(run)?;
    let blocks = run.complete_blocks().count() as u32;
    if refusals::nothing_left(run, plan) {
        return Some(Ending::Failed);
    }
    let due = plan.measure.looks.contains(&blocks) && !run.looks.contains(&blocks);
    if due && let Some(ending) = look_at_all(run, blocks) {
        return Some(ending);
    }
    let last_look = plan.measure.looks.iter().max();
    let done = blocks >= plan.measure.max_blocks || last_look.is_some_and(|&n| blocks >= n);
    done.then_some(Ending::Blocks)
}

/// The alpha that the comparisons of a run may use, all together: that of its look,
/// if it stopped at one because of what it saw, or else all that its looks have left.
pub fn alpha(run: &Run, plan: &Plan) -> f64 {
    let blocks = run.complete_blocks().count() as u32;
    match run.ending {
        Some(Ending::Decided | Ending::Precise) => alpha_of_look(run, plan, blocks),
        _ => alpha_left(run, plan),
    }
}

/// The alpha that a run of a plan has left if it ends after `blocks` for a reason that is not in its ratios. More
/// blocks than the last look has are those of a run that was asked for so many, and looks at nothing before.
pub fn alpha_at(plan: &Plan, blocks: u32) -> f64 {
    let looks = &plan.measure.looks;
    let passed = looks.iter().copied().filter(|&n| n <= blocks).max();
    let part = match (passed, looks.iter().max()) {
        (Some(passed), Some(&last)) if passed < last => 1.0 - spent(plan, passed),
        (Some(_), Some(&last)) if blocks == last => {
            let before = looks.iter().copied().filter(|&n| n < last).max();
            1.0 - spent(plan, before.unwrap_or(0))
        }
        _ => 1.0,
    };
    plan.measure.alpha * part
}

/// The part of alpha that a plan's looks have spent up to and with block `blocks`, 0 to 1.
pub fn spent(plan: &Plan, blocks: u32) -> f64 {
    match plan.measure.looks.iter().max() {
        Some(&last) if last > 0 => f64::from(blocks.min(last)) / f64::from(last),
        _ => 0.0,
    }
}

/// What a look finds in those parts that have something left to compare.
fn look_at_all(run: &Run, blocks: u32) -> Option<Ending> {
    let compares =
        |run: &Run, plan: &Plan| plan.compared().count() > 1 && !refusals::nothing_left(run, plan);
    let compares = |run: &Run| sound_plan(run).is_some_and(|plan| compares(run, plan));
    let parts = lab_model::parts(run)
        .into_iter()
        .filter(|p| compares(&p.run));
    let parts: Vec<_> = parts.collect();
    let share = 1.0 / parts.len().max(1) as f64;
    let endings: Option<Vec<Ending>> = parts
        .iter()
        .map(|part| look(&part.run, sound_plan(&part.run)?, blocks, share))
        .collect();
    endings?.first().copied()
}

fn look(run: &Run, plan: &Plan, blocks: u32, share: f64) -> Option<Ending> {
    let table = Table::new(run, plan);
    let basis = batches::basis(run, plan, share * alpha_of_look(run, plan, blocks));
    let told = Observed::readings(run);
    let mut pairs = batches::compared(&basis, &table, &told).pairs;
    // Metrics of the experiment's own are compared at the end, and prolong no run.
    pairs.retain(|pair| {
        pair.comparison.verdict.is_some() && pair.comparison.key.metric == *plan.answer()
    });
    let all = |good: &dyn Fn(&Pair) -> bool| !pairs.is_empty() && pairs.iter().all(good);
    match plan.measure.precision {
        Some(width) => all(&|pair| precise(pair, width)).then_some(Ending::Precise),
        None => all(&|pair| decided(pair, &plan.measure)).then_some(Ending::Decided),
    }
}

/// What rests on an assumption decides nothing. Equivalence within a margin that the control raised is true, but not what was asked; and that
/// a subject is a little slower does not tell a gate by how much.
fn decided(pair: &Pair, measure: &Measure) -> bool {
    let (ratio, margin) = (pair.comparison.ratio, measure.margin);
    match pair.comparison.verdict {
        _ if pair.ratio.assumed => false,
        None | Some(Verdict::Inconclusive { .. }) => false,
        Some(Verdict::SmallButReal { faster: false }) => !measure.gate,
        Some(Verdict::Equivalent) => ratio.low >= 1.0 - margin && ratio.high <= 1.0 + margin,
        _ => true,
    }
}

fn precise(pair: &Pair, width: f64) -> bool {
    let ratio = pair.comparison.ratio;
    pair.ratio.supports_verdict()
        && !pair.ratio.assumed
        && ratio.high <= ratio.estimate * (1.0 + width)
        && ratio.low >= ratio.estimate * (1.0 - width)
}

/// What a look spends: the growth since the look before.
fn alpha_of_look(run: &Run, plan: &Plan, blocks: u32) -> f64 {
    let before = run
        .looks
        .iter()
        .copied()
        .filter(|&n| n < blocks)
        .max()
        .unwrap_or(0);
    plan.measure.alpha * (spent(plan, blocks) - spent(plan, before)).max(0.0)
}

/// What the looks that went on have left. After the last one nothing would be: [`stop`] ends a run
/// there. A file that goes on nevertheless gets that look's own alpha again.
fn alpha_left(run: &Run, plan: &Plan) -> f64 {
    let last = run.looks.iter().copied().max().unwrap_or(0);
    match 1.0 - spent(plan, last) {
        left if left > 0.0 => plan.measure.alpha * left,
        _ => alpha_of_look(run, plan, last),
    }
}
