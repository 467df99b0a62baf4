// SPDX-License-Identifier: Apache-2.0
//! `--gate`: verdicts as an exit code.

use crate::exit;
use lab_stats::Analysed;
use lab_stats::analysis::Verdict;
use lab_stats::load::analysis::{LoadAnalysis, LoadCell, Metric};
use std::process::ExitCode;

/// 3 if something is slower than the baseline by more than the margin; else 4 if that is open
/// somewhere, or nothing was compared; else 0.
pub fn gate(parts: &[Analysed]) -> ExitCode {
    let comparisons = parts.iter().flat_map(|part| &part.analysis.comparisons);
    code(comparisons.map(|c| c.verdict).collect())
}

/// The same of two servers, in every respect in which they are compared. Open is also what could not be
/// compared because of errors.
pub fn of_load(found: &LoadAnalysis) -> ExitCode {
    let verdicts: Vec<Verdict> = found.comparisons.iter().map(|c| c.verdict).collect();
    let slower = verdicts.contains(&Verdict::Slower);
    match !slower && (!found.refusals.is_empty() || hidden(found)) {
        true => ExitCode::from(exit::UNDECIDED),
        false => code(verdicts),
    }
}

/// Whether errors stand where a percentile would.
fn hidden(found: &LoadAnalysis) -> bool {
    let compared = |cell: &LoadCell, metric: Metric| {
        let mut there = found.comparisons.iter().filter(|c| c.point == cell.point);
        there.any(|c| c.metric == metric)
    };
    let mut failing = found.cells.iter().filter(|cell| !cell.errors.is_empty());
    failing.any(|cell| !compared(cell, Metric::P50) || !compared(cell, Metric::P99))
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
