// SPDX-License-Identifier: Apache-2.0
//! The rules for stopping a run.

use crate::analysis::Verdict;
use crate::exclusions;
use crate::gate::GateCondition;
use crate::results::compare::Pair;
use crate::results::judge::Basis;
use crate::results::{batches, calls};
use crate::spending::alpha_of_analysis;
use crate::table::{BatchTable, sound_plan};
use lab_model::{Decision, Ending, Measure, Plan, Run};

/// Returns the reason for stopping a run after its latest complete block, or `None` if the run must
/// continue.
///
/// A run may stop:
///
/// - at an interim analysis, if every comparison is resolved or, if a precision is requested, is
///   precise enough;
/// - at the last interim analysis or the last block, because the run is complete;
/// - at any block, if nothing is left to compare.
///
/// A requested precision replaces the resolution of comparisons, because the user asked for narrow
/// intervals, not only for a winner. If this function returns `None` at an interim analysis, the
/// caller must add the analysis to [`Run::looks`].
///
/// A run on multiple targets stops at an interim analysis only if each target's part of the run
/// would stop there.
pub fn stop(run: &Run) -> Option<Ending> {
    let plan = sound_plan(run)?;
    let blocks = run.complete_blocks().count() as u32;
    if exclusions::nothing_left(run, plan) {
        return Some(Ending::Failed);
    }
    let due =
        plan.measure.interim_analyses.contains(&blocks) && !run.interim_analyses.contains(&blocks);
    if due && let Some(ending) = analyze_targets(run, blocks) {
        return Some(ending);
    }
    let latest_analysis = plan.measure.interim_analyses.iter().max();
    let done = blocks >= plan.measure.max_blocks || latest_analysis.is_some_and(|&n| blocks >= n);
    done.then_some(Ending::Blocks)
}

/// Runs an interim analysis of all targets that have something left to compare.
fn analyze_targets(run: &Run, blocks: u32) -> Option<Ending> {
    let compares = |run: &Run, plan: &Plan| {
        let alone = plan.compared().count() < 2 || exclusions::is_alone(run, plan);
        !alone && !exclusions::nothing_left(run, plan)
    };
    let compares = |run: &Run| sound_plan(run).is_some_and(|plan| compares(run, plan));
    let parts = lab_model::parts(run)
        .into_iter()
        .filter(|p| compares(&p.run));
    let parts: Vec<_> = parts.collect();
    let alpha_fraction = 1.0 / parts.len().max(1) as f64;
    let endings: Option<Vec<Ending>> = parts
        .iter()
        .map(|part| analyze(&part.run, sound_plan(&part.run)?, blocks, alpha_fraction))
        .collect();
    endings?.first().copied()
}

fn analyze(run: &Run, plan: &Plan, blocks: u32, alpha_fraction: f64) -> Option<Ending> {
    let table = BatchTable::new(run, plan);
    let basis = Basis::new(
        run,
        plan,
        alpha_fraction * alpha_of_analysis(run, plan, blocks),
    );
    let observed = calls::observed(run);
    let mut pairs = batches::compared(&basis, &table, &observed).pairs;
    let gates = GateCondition::of_plan(plan).unwrap_or_default();
    let is_gated = |pair: &Pair| {
        let mut metrics = gates.iter().filter_map(GateCondition::changed_metric);
        metrics.any(|metric| *metric == pair.comparison.key.metric)
    };
    // The experiment's own metrics do not prolong a run, unless a gate depends on them. They are compared at its end.
    pairs.retain(|pair| {
        let answers =
            pair.comparison.verdict.is_some() && pair.comparison.key.metric == *plan.main_metric();
        answers || is_gated(pair)
    });
    let level = 1.0 - basis.alpha;
    let all = |good: &dyn Fn(&Pair) -> bool| !pairs.is_empty() && pairs.iter().all(good);
    match plan.measure.precision {
        Some(width) => all(&|pair| precise(pair, width)).then_some(Ending::Precise),
        None => all(&|pair| decided(pair, &plan.measure, &gates, level)).then_some(Ending::Decided),
    }
}

/// Returns true if a comparison needs no more blocks.
///
/// A comparison needs more blocks if it relies on the assumption of a normal distribution, or if it
/// is equivalent only within a margin that the control raised. If gates judge the comparison, their
/// decisions replace the verdict.
fn decided(pair: &Pair, measure: &Measure, gates: &[GateCondition], level: f64) -> bool {
    let (ratio, margin) = (pair.comparison.ratio, measure.margin);
    let decisions = gates.iter();
    let decisions = decisions.filter_map(|gate| gate.decide(&pair.comparison, level));
    let decisions: Vec<Decision> = decisions.collect();
    if !decisions.is_empty() {
        return !pair.ratio.assumed && !decisions.contains(&Decision::Inconclusive);
    }
    match pair.comparison.verdict {
        _ if pair.ratio.assumed => false,
        None | Some(Verdict::Inconclusive { .. }) => false,
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
