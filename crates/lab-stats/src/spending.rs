// SPDX-License-Identifier: Apache-2.0
//! The error that each interim analysis, and the end of a run, may make.
//!
//! A run that analyzes its data repeatedly would find a difference by chance more often than its level says.
//! So the interim analyses share the alpha of the plan: the alpha spent by an analysis at block n grows in
//! proportion to n, up to all of it at the last one. Analyses at 10, 20, 40 and 80 blocks thus spend 1/8,
//! 1/8, 1/4 and 1/2. A run that ends for a reason that is not in its ratios (time, number of blocks, the
//! user) spends all that its interim analyses have left. The sum is at most alpha, and so, by Bonferroni's
//! inequality, is the chance of a false statement over the whole run.
//!
//! Source: Lan & DeMets, *Discrete sequential boundaries for clinical trials*, Biometrika 70
//! (1983), with the spending function alpha · t. Bonferroni's inequality in place of the joint
//! distribution of the looks keeps it exact with few blocks, and a little conservative.

use lab_model::{Ending, Plan, Run};

/// The alpha that the comparisons of a run share: that of its interim analysis, if the run stopped at one
/// because of its ratios, or else the alpha that its interim analyses have left.
pub fn alpha(run: &Run, plan: &Plan) -> f64 {
    let blocks = run.complete_blocks().count() as u32;
    match run.ending {
        Some(Ending::Decided | Ending::Precise) => alpha_of_look(run, plan, blocks),
        _ => alpha_left(run, plan),
    }
}

/// The alpha that a run of a plan has left if it ends after `blocks` for a reason that is not in its ratios.
/// More blocks than the last interim analysis has are those of a run with a fixed number of blocks, which has
/// no interim analyses.
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

/// The alpha of a new run of this plan, by its number of blocks / that of this run.
pub(crate) fn relative_alpha(run: &Run, plan: &Plan) -> impl Fn(u32) -> f64 {
    let now = alpha(run, plan);
    move |blocks| {
        if now > 0.0 {
            alpha_at(plan, blocks) / now
        } else {
            1.0
        }
    }
}

/// The fraction of alpha that a plan's interim analyses have spent up to and including block `blocks`, 0 to
/// 1.
pub fn spent(plan: &Plan, blocks: u32) -> f64 {
    match plan.measure.looks.iter().max() {
        Some(&last) if last > 0 => f64::from(blocks.min(last)) / f64::from(last),
        _ => 0.0,
    }
}

/// The alpha that an interim analysis spends: the growth since the one before.
pub(crate) fn alpha_of_look(run: &Run, plan: &Plan, blocks: u32) -> f64 {
    let before = run
        .looks
        .iter()
        .copied()
        .filter(|&n| n < blocks)
        .max()
        .unwrap_or(0);
    plan.measure.alpha * (spent(plan, blocks) - spent(plan, before)).max(0.0)
}

/// The alpha left by the interim analyses that did not stop the run. After the last of them nothing would be
/// left, and [`crate::stopping::stop`] ends the run there; a run that is continued gets that analysis's alpha
/// again.
fn alpha_left(run: &Run, plan: &Plan) -> f64 {
    let last = run.looks.iter().copied().max().unwrap_or(0);
    match 1.0 - spent(plan, last) {
        left if left > 0.0 => plan.measure.alpha * left,
        _ => alpha_of_look(run, plan, last),
    }
}
