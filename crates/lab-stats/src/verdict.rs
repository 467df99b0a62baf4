// SPDX-License-Identifier: Apache-2.0
//! From a ratio's interval to what may be said about it.

use crate::analysis::{Interval, Verdict};
use crate::ratio::Ratio;

/// Estimates above this many blocks say only that it will not be decided.
const MOST_BLOCKS: f64 = 100_000.0;

/// What a ratio supports within a margin.
///
/// An interval whose blocks do not suffice for the level supports nothing: it is inconclusive.
pub fn verdict(ratio: &Ratio, margin: Margin) -> Verdict {
    let Interval { low, high, .. } = ratio.interval;
    let Margin { wide, wanted } = margin;
    let open = || Verdict::Inconclusive {
        blocks_needed: blocks_needed(ratio, wide),
    };
    if !ratio.supports_verdict() {
        return open();
    }
    if high < 1.0 - wide {
        Verdict::Faster
    } else if low > 1.0 + wide {
        Verdict::Slower
    } else if low >= 1.0 - wide && high <= 1.0 + wide {
        Verdict::Equivalent
    } else if (high < 1.0 || low > 1.0) && wide <= wanted {
        Verdict::SmallButReal { faster: high < 1.0 }
    } else {
        open()
    }
}

/// Differences within 1 ± `wide` are of no consequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin {
    /// The margin that was asked for, or more: how far two copies of one program differed. Within that, no
    /// difference is taken for real.
    pub wide: f64,
    /// The margin that was asked for (0.02: 1 ± 2 %).
    pub wanted: f64,
}

impl Margin {
    /// As it was asked for.
    pub fn plain(wanted: f64) -> Margin {
        Margin {
            wide: wanted,
            wanted,
        }
    }
}

/// Who a verdict says is ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// The subject.
    Subject,
    /// The baseline.
    Baseline,
    /// Neither: they are equivalent.
    Neither,
    /// It does not say.
    Unknown,
}

/// Who `verdict` says is ahead.
pub fn ahead(verdict: &Verdict) -> Ahead {
    match verdict {
        Verdict::Faster | Verdict::SmallButReal { faster: true } => Ahead::Subject,
        Verdict::Slower | Verdict::SmallButReal { faster: false } => Ahead::Baseline,
        Verdict::Equivalent => Ahead::Neither,
        Verdict::Inconclusive { .. } => Ahead::Unknown,
    }
}

/// The blocks with which the interval would be narrow enough to decide, if the estimate stays
/// where it is: the interval's half width shrinks with the root of their number until it excludes 1
/// or fits into the margin, whichever is first.
fn blocks_needed(ratio: &Ratio, margin: f64) -> Option<u32> {
    let least = (ratio.needed != u32::MAX).then_some(ratio.needed * ratio.width)?;
    let least = if ratio.unresolved { 2 * least } else { least };
    if !ratio.sufficient {
        return Some(least);
    }
    let log = |x: f64| x.max(f64::MIN_POSITIVE).ln();
    let estimate = log(ratio.interval.estimate);
    let half = 0.5 * (log(ratio.interval.high) - log(ratio.interval.low));
    let into_margin = (log(1.0 + margin) - estimate).min(estimate - log(1.0 - margin));
    let wanted = estimate.abs().max(into_margin);
    let blocks = (f64::from(ratio.values * ratio.width) * (half / wanted).powi(2)).ceil();
    (blocks <= MOST_BLOCKS).then_some((blocks as u32).max(least))
}
