// SPDX-License-Identifier: Apache-2.0
//! `--gate`: verdicts as an exit code.

use crate::exit;
use lab_stats::Analysed;
use lab_stats::analysis::Verdict;
use std::process::ExitCode;

/// 3 if something is slower than the baseline by more than the margin; else 4 if that is open
/// somewhere, or nothing was compared; else 0.
pub fn gate(parts: &[Analysed]) -> ExitCode {
    let comparisons = || parts.iter().flat_map(|part| &part.analysis.comparisons);
    let any = |is: fn(&Verdict) -> bool| comparisons().any(|c| is(&c.verdict));
    // A little slower may be by more than the margin or by less.
    let open = |v: &Verdict| {
        matches!(
            v,
            Verdict::Inconclusive { .. } | Verdict::SmallButReal { faster: false }
        )
    };
    if any(|v| *v == Verdict::Slower) {
        ExitCode::from(exit::REGRESSION)
    } else if any(open) || comparisons().next().is_none() {
        ExitCode::from(exit::UNDECIDED)
    } else {
        ExitCode::SUCCESS
    }
}
