// SPDX-License-Identifier: Apache-2.0
//! `--gate`: verdicts as an exit code.

use crate::exit;
use lab_stats::analysis::{Analysis, Verdict};
use std::process::ExitCode;

/// 3 if something is slower than the baseline by more than the margin; else 4 if that is open
/// somewhere, or nothing was compared; else 0.
pub fn gate(analysis: &Analysis) -> ExitCode {
    let any = |is: fn(&Verdict) -> bool| analysis.comparisons.iter().any(|c| is(&c.verdict));
    // A little slower may be by more than the margin or by less.
    let open = |v: &Verdict| {
        matches!(
            v,
            Verdict::Inconclusive { .. } | Verdict::SmallButReal { faster: false }
        )
    };
    if any(|v| *v == Verdict::Slower) {
        ExitCode::from(exit::REGRESSION)
    } else if any(open) || analysis.comparisons.is_empty() {
        ExitCode::from(exit::UNDECIDED)
    } else {
        ExitCode::SUCCESS
    }
}
