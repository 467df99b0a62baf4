// SPDX-License-Identifier: Apache-2.0
//! From a ratio's interval to what may be said about it.

use crate::analysis::{Interval, Verdict};
use crate::normal;
use crate::ratio::{Level, Ratio};

/// Estimates above this many blocks say only that it will not be decided.
const MOST_BLOCKS: f64 = 100_000.0;

/// What a ratio supports, with a margin of `margin` (0.02: 1 ± 2 %).
///
/// An interval whose blocks do not suffice for the level supports nothing: it is inconclusive.
pub fn verdict(ratio: &Ratio, level: Level, margin: f64) -> Verdict {
    let Interval { low, high, .. } = ratio.interval;
    if !ratio.supports_verdict() {
        return Verdict::Inconclusive {
            blocks_needed: blocks_needed(ratio, level, margin),
        };
    }
    if high < 1.0 - margin {
        Verdict::Faster
    } else if low > 1.0 + margin {
        Verdict::Slower
    } else if low >= 1.0 - margin && high <= 1.0 + margin {
        Verdict::Equivalent
    } else if high < 1.0 || low > 1.0 {
        Verdict::SmallButReal { faster: high < 1.0 }
    } else {
        Verdict::Inconclusive {
            blocks_needed: blocks_needed(ratio, level, margin),
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
/// where it is: the interval's half width, taken to the level that was asked for, shrinks with
/// the root of their number until it excludes 1 or fits into the margin, whichever is first.
fn blocks_needed(ratio: &Ratio, level: Level, margin: f64) -> Option<u32> {
    let per_comparison = level.alpha / level.family.max(1) as f64;
    let least = crate::family::blocks_needed(level.alpha, level.family)? * ratio.width;
    let least = if ratio.unresolved { 2 * least } else { least };
    if ratio.interval.level <= 0.0 {
        return Some(least);
    }
    let true_alpha = (1.0 - ratio.interval.level) / level.family.max(1) as f64;
    let log = |x: f64| x.max(f64::MIN_POSITIVE).ln();
    let estimate = log(ratio.interval.estimate);
    let half = 0.5 * (log(ratio.interval.high) - log(ratio.interval.low));
    let asked = normal::upper_quantile(per_comparison / 2.0);
    let scaled = half * asked / normal::upper_quantile(true_alpha / 2.0).max(0.1);
    let into_margin = (log(1.0 + margin) - estimate).min(estimate - log(1.0 - margin));
    let wanted = estimate.abs().max(into_margin);
    let blocks = (f64::from(ratio.values * ratio.width) * (scaled / wanted).powi(2)).ceil();
    (blocks <= MOST_BLOCKS).then_some((blocks as u32).max(least))
}
