// SPDX-License-Identifier: Apache-2.0
//! Derives a verdict from a ratio's interval.

use crate::analysis::Verdict;
use crate::outlook::{Open, Outlook, logarithm};
use crate::ratio::Ratio;
use lab_model::Interval;
use std::ops::Range;

/// Returns the verdict on a ratio within a margin.
///
/// An inconclusive verdict includes the number of blocks that would resolve it, as predicted by
/// `outlook`. The verdict is always inconclusive if there are too few blocks for the interval's
/// level.
pub fn verdict(ratio: &Ratio, margin: Margin, outlook: &Outlook) -> Verdict {
    decided(ratio, margin).unwrap_or_else(|| Verdict::Inconclusive {
        blocks_needed: outlook.blocks(&open(ratio, margin)),
    })
}

/// Returns the verdict, or `None` if it is inconclusive.
pub fn decided(ratio: &Ratio, margin: Margin) -> Option<Verdict> {
    let Interval { low, high, .. } = ratio.interval;
    let wide = margin.wide;
    if !ratio.supports_verdict() {
        return None;
    }
    Some(if high < 1.0 - wide {
        Verdict::Faster
    } else if low > 1.0 + wide {
        Verdict::Slower
    } else if low >= 1.0 - wide && high <= 1.0 + wide {
        Verdict::Equivalent
    } else if (high < 1.0 || low > 1.0) && !margin.is_raised() {
        Verdict::SmallButReal { faster: high < 1.0 }
    } else {
        return None;
    })
}

/// Collects the data of a comparison that is inconclusive within a margin.
pub fn open(ratio: &Ratio, margin: Margin) -> Open {
    let least = match ratio.needed {
        _ if ratio.sufficient && !ratio.unresolved => 1,
        u32::MAX => u32::MAX,
        needed if ratio.unresolved => 2 * needed * ratio.width,
        needed => needed * ratio.width,
    };
    let mut certainty = ratio.certainty;
    if !ratio.sufficient {
        certainty.error = f64::INFINITY;
    }
    Open {
        estimate: logarithm(ratio.interval.estimate),
        certainty,
        values: (ratio.values, ratio.width),
        least,
        difference: margin.difference_range(),
        equivalence: margin.equivalence_range(),
    }
}

/// The margin of equivalence: ratios within 1 ± `wide` count as equivalent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin {
    /// The margin in use: the requested margin, or the difference between two copies of one program
    /// if this difference is larger. Differences within this margin do not count as real.
    pub wide: f64,
    /// The margin that the user requested. 0.02 means 1 ± 2%.
    pub requested: f64,
}

impl Margin {
    /// Creates a margin that is used as requested.
    pub fn plain(requested: f64) -> Margin {
        Margin {
            wide: requested,
            requested,
        }
    }

    fn is_raised(self) -> bool {
        self.wide > self.requested
    }

    /// Returns the range of log ratios that count as equivalent.
    fn equivalence_range(self) -> Range<f64> {
        (1.0 - self.wide).max(f64::MIN_POSITIVE).ln()..(1.0 + self.wide).ln()
    }

    /// Returns the range of log ratios that an interval must exclude to show a difference.
    fn difference_range(self) -> Range<f64> {
        if self.is_raised() {
            self.equivalence_range()
        } else {
            0.0..0.0
        }
    }
}

/// The side that a ratio favors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// The ratio favors the subject.
    Subject,
    /// The ratio favors the baseline.
    Baseline,
    /// Neither: the two are equivalent.
    Neither,
    /// The data do not favor a side.
    Unknown,
}

/// Returns the side that a ratio favors within a margin.
pub fn ahead(ratio: &Ratio, margin: Margin) -> Ahead {
    match decided(ratio, margin) {
        Some(Verdict::Faster | Verdict::SmallButReal { faster: true }) => Ahead::Subject,
        Some(Verdict::Slower | Verdict::SmallButReal { faster: false }) => Ahead::Baseline,
        Some(Verdict::Equivalent) => Ahead::Neither,
        Some(Verdict::Inconclusive { .. }) | None => Ahead::Unknown,
    }
}
