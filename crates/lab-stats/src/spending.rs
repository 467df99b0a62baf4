// SPDX-License-Identifier: Apache-2.0
//! The error probability available to each interim analysis and to the end of a run (alpha
//! spending).
//!
//! A run that analyzes its data repeatedly would find differences by chance more often than its
//! level allows. The interim analyses therefore share the alpha of the plan. The alpha spent up to
//! block n is proportional to n, and all of it is spent at the last analysis. For example, analyses
//! at 10, 20, 40 and 80 blocks spend 1/8, 1/8, 1/4 and 1/2. A run that ends for a reason unrelated
//! to its ratios (time, number of blocks or the user) spends all alpha that its interim analyses
//! have left. The sum is at most alpha. By Bonferroni's inequality, the probability of a false
//! statement over the whole run is therefore at most alpha, too.
//!
//! Source: Lan & DeMets, *Discrete sequential boundaries for clinical trials*, Biometrika 70
//! (1983), with the spending function alpha · t. Using Bonferroni's inequality instead of the joint
//! distribution of the interim analyses keeps the method exact with few blocks, and slightly
//! conservative.

use lab_model::{Ending, Plan, Run};

/// Returns the alpha that the comparisons of a run share.
///
/// If an interim analysis stopped the run because of its ratios, this is the alpha of that
/// analysis. Otherwise, it is the alpha that the interim analyses have left.
pub fn alpha(run: &Run, plan: &Plan) -> f64 {
    let blocks = run.complete_blocks().count() as u32;
    match run.ending {
        Some(Ending::Decided | Ending::Precise) => alpha_of_analysis(run, plan, blocks),
        _ => alpha_left(run, plan),
    }
}

/// Returns the alpha that is left if a run of a plan ends after `blocks` blocks for a reason
/// unrelated to its ratios.
///
/// If there are more blocks than at the last interim analysis, the run counts as a run with a fixed
/// number of blocks, which has no interim analyses.
pub fn alpha_at(plan: &Plan, blocks: u32) -> f64 {
    let interim_analyses = &plan.measure.interim_analyses;
    let passed = interim_analyses
        .iter()
        .copied()
        .filter(|&n| n <= blocks)
        .max();
    let part = match (passed, interim_analyses.iter().max()) {
        (Some(passed), Some(&last)) if passed < last => 1.0 - spent(plan, passed),
        (Some(_), Some(&last)) if blocks == last => {
            let before = interim_analyses.iter().copied().filter(|&n| n < last).max();
            1.0 - spent(plan, before.unwrap_or(0))
        }
        _ => 1.0,
    };
    plan.measure.alpha * part
}

/// Returns a function that maps the number of blocks of a new run to the alpha of the new run
/// divided by the alpha of `run`.
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

/// Returns the fraction of alpha that a plan's interim analyses have spent up to and including
/// block `blocks`.
pub fn spent(plan: &Plan, blocks: u32) -> f64 {
    match plan.measure.interim_analyses.iter().max() {
        Some(&last) if last > 0 => f64::from(blocks.min(last)) / f64::from(last),
        _ => 0.0,
    }
}

/// Returns the alpha that an interim analysis spends: the increase over the previous analysis.
pub(crate) fn alpha_of_analysis(run: &Run, plan: &Plan, blocks: u32) -> f64 {
    let before = run
        .interim_analyses
        .iter()
        .copied()
        .filter(|&n| n < blocks)
        .max()
        .unwrap_or(0);
    plan.measure.alpha * (spent(plan, blocks) - spent(plan, before)).max(0.0)
}

/// Returns the alpha that is left after the interim analyses that did not stop the run.
///
/// After the last analysis, nothing would be left, but [`crate::stopping::stop`] always stops the
/// run there. A run that is continued nevertheless gets the alpha of that analysis again.
fn alpha_left(run: &Run, plan: &Plan) -> f64 {
    let last = run.interim_analyses.iter().copied().max().unwrap_or(0);
    match 1.0 - spent(plan, last) {
        left if left > 0.0 => plan.measure.alpha * left,
        _ => alpha_of_analysis(run, plan, last),
    }
}
