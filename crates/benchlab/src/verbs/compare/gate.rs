// SPDX-License-Identifier: Apache-2.0
//! `--gate`: verdicts as an exit code.

use crate::exit;
use lab_model::Metric;
use lab_stats::analysis::Verdict;
use lab_stats::results::Results;
use std::process::ExitCode;

/// 3 if something is slower than the baseline by more than the margin; else 4 if that is open
/// somewhere, or nothing was compared; else 0.
pub fn gate(results: &Results) -> ExitCode {
    code(verdicts(results))
}

/// The same of two servers, in every respect in which they are compared. Open is also what could not be
/// compared because of errors.
pub fn of_load(results: &Results) -> ExitCode {
    let verdicts = verdicts(results);
    let slower = verdicts.contains(&Verdict::Slower);
    if !slower && (!results.refusals.is_empty() || hidden(results)) {
        ExitCode::from(exit::UNDECIDED)
    } else {
        code(verdicts)
    }
}

fn verdicts(results: &Results) -> Vec<Verdict> {
    results
        .comparisons
        .iter()
        .filter_map(|c| c.verdict)
        .collect()
}

/// Whether errors stand where a percentile would.
fn hidden(results: &Results) -> bool {
    let compared = |point, metric: Metric| {
        let mut there = results.comparisons.iter();
        there.any(|c| c.key.point == Some(point) && c.key.metric == metric)
    };
    let mut failing = results.errors.iter().map(|&(_, point, ..)| point);
    failing.any(|point| !compared(point, Metric::P50) || !compared(point, Metric::P99))
}

fn code(verdicts: Vec<Verdict>) -> ExitCode {
    // A little slower may be by more than the margin or by less.
    let open = |v: &Verdict| {
        matches!(
            v,
            Verdict::Inconclusive { .. } | Verdict::SmallButReal { faster: false }
        )
    };
    if verdicts.contains(&Verdict::Slower) {
        ExitCode::from(exit::REGRESSION)
    } else if verdicts.iter().any(open) || verdicts.is_empty() {
        ExitCode::from(exit::UNDECIDED)
    } else {
        ExitCode::SUCCESS
    }
}
