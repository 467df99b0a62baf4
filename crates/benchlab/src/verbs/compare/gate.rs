// SPDX-License-Identifier: Apache-2.0
//! `--gate`: verdicts as an exit code.

use crate::exit;
use lab_model::Metric;
use lab_stats::analysis::Verdict;
use lab_stats::results::Results;
use std::process::ExitCode;

/// 3 if a subject is slower than the baseline by more than the margin; else 4 if that is inconclusive somewhere, or
/// something was not compared; else 0.
pub fn gate(results: &Results) -> ExitCode {
    let verdicts = verdicts(results);
    if !verdicts.contains(&Verdict::Slower) && !results.refusals.is_empty() {
        ExitCode::from(exit::UNDECIDED)
    } else {
        exit_code(verdicts)
    }
}

/// The same for two servers, over all metrics in which they are compared; also 4 where errors kept a metric from being
/// compared.
pub fn load_gate(results: &Results) -> ExitCode {
    if !verdicts(results).contains(&Verdict::Slower) && hides_percentiles(results) {
        ExitCode::from(exit::UNDECIDED)
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

/// Whether a point with errors has no comparison of its p50 or its p99.
fn hides_percentiles(results: &Results) -> bool {
    let compared = |point, metric: Metric| {
        let mut comparisons = results.comparisons.iter();
        comparisons.any(|c| c.key.point == Some(point) && c.key.metric == metric)
    };
    let mut failing = results.errors.iter().map(|&(_, point, ..)| point);
    failing.any(|point| !compared(point, Metric::P50) || !compared(point, Metric::P99))
}

fn exit_code(verdicts: Vec<Verdict>) -> ExitCode {
    // Small but real: it may be more than the margin or less.
    let is_open = |v: &Verdict| {
        matches!(
            v,
            Verdict::Inconclusive { .. } | Verdict::SmallButReal { faster: false }
        )
    };
    if verdicts.contains(&Verdict::Slower) {
        ExitCode::from(exit::REGRESSION)
    } else if verdicts.iter().any(is_open) || verdicts.is_empty() {
        ExitCode::from(exit::UNDECIDED)
    } else {
        ExitCode::SUCCESS
    }
}
