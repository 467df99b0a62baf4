// SPDX-License-Identifier: Apache-2.0
//! The result of a gate, and its exit code.

use crate::exit;
use lab_model::Metric;
use lab_stats::analysis::Verdict;
use lab_stats::results::Results;
use std::process::ExitCode;

/// The result of a gate, ordered from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateResult {
    /// Nothing is worse than the gate allows.
    Passed,
    /// The data is inconclusive.
    Inconclusive,
    /// Something is worse than the gate allows.
    Failed,
}

impl From<GateResult> for ExitCode {
    fn from(result: GateResult) -> ExitCode {
        match result {
            GateResult::Passed => ExitCode::SUCCESS,
            GateResult::Inconclusive => ExitCode::from(exit::UNDECIDED),
            GateResult::Failed => ExitCode::from(exit::REGRESSION),
        }
    }
}

/// Judges the comparisons with the baseline.
///
/// Fails if a subject is slower than the baseline by more than the margin. Otherwise the gate is inconclusive
/// if a comparison with the baseline is, or if a subject was excluded.
pub fn gate(results: &Results) -> GateResult {
    let verdicts = verdicts(results);
    if !verdicts.contains(&Verdict::Slower) && !results.refusals.is_empty() {
        GateResult::Inconclusive
    } else {
        of_verdicts(&verdicts)
    }
}

/// Judges compared servers over all metrics in which they are compared.
///
/// The gate is also inconclusive if a metric could not be compared because of errors.
pub fn load_gate(results: &Results) -> GateResult {
    if !verdicts(results).contains(&Verdict::Slower) && hides_percentiles(results) {
        GateResult::Inconclusive
    } else {
        gate(results)
    }
}

fn verdicts(results: &Results) -> Vec<Verdict> {
    results
        .comparisons
        .iter()
        .filter_map(|c| c.verdict)
        .collect()
}

/// Returns true if a point with errors lacks a comparison of its p50 or p99.
fn hides_percentiles(results: &Results) -> bool {
    let compared = |point, metric: Metric| {
        let mut comparisons = results.comparisons.iter();
        comparisons.any(|c| c.key.point == Some(point) && c.key.metric == metric)
    };
    let mut failing = results.errors.iter().map(|&(_, point, ..)| point);
    failing.any(|point| !compared(point, Metric::P50) || !compared(point, Metric::P99))
}

fn of_verdicts(verdicts: &[Verdict]) -> GateResult {
    // Small but real: the difference may be larger or smaller than the margin.
    let is_open = |v: &Verdict| {
        matches!(
            v,
            Verdict::Inconclusive { .. } | Verdict::SmallButReal { faster: false }
        )
    };
    if verdicts.contains(&Verdict::Slower) {
        GateResult::Failed
    } else if verdicts.iter().any(is_open) || verdicts.is_empty() {
        GateResult::Inconclusive
    } else {
        GateResult::Passed
    }
}
