// SPDX-License-Identifier: Apache-2.0
//! Estimates a ratio of times, with a simultaneous interval, from the log ratios of a run's blocks.

use crate::dependence::{self, Merged};
use crate::few_blocks::{self, Deviation};
use crate::outlook::Certainty;
use crate::{family, signed_rank};
use lab_model::Interval;

/// The simultaneous confidence level of a family of intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// 1 minus the simultaneous level of the family.
    pub alpha: f64,
    /// The number of comparisons in the family, at least 1.
    pub family: usize,
}

impl Level {
    /// Returns 1 minus the confidence level of each single interval (Bonferroni).
    pub(crate) fn each(self) -> f64 {
        self.alpha / self.members()
    }

    fn members(self) -> f64 {
        self.family.max(1) as f64
    }
}

/// A ratio of times with its statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The estimate and its interval. The interval's level holds simultaneously for the whole
    /// family.
    pub interval: Interval,
    /// The two-sided p-value of the hypothesis that the ratio is 1, not adjusted for other
    /// comparisons.
    pub p: f64,
    /// The number of values. Each value is a block or a group of merged blocks.
    pub values: u32,
    /// The number of blocks in each group, or 1 if no blocks were merged.
    pub width: u32,
    /// True if the blocks depend on each other by more than chance explains.
    pub dependent: bool,
    /// True if the merged blocks still depend on each other, but are too few to be merged further.
    pub unresolved: bool,
    /// True if the interval has the requested level.
    pub sufficient: bool,
    /// True if the interval assumes normally distributed blocks, because there are fewer than
    /// `needed` values.
    pub assumed: bool,
    /// The minimum number of values for an interval that assumes only a symmetric distribution.
    pub needed: u32,
    /// The precision of the estimate, from which the number of blocks needed for a verdict is
    /// predicted.
    pub certainty: Certainty,
}

impl Ratio {
    /// Creates a ratio without a verdict from an interval that another method computed.
    pub(crate) fn without_verdict(interval: Interval, blocks: u32) -> Ratio {
        Ratio {
            interval,
            p: f64::NAN,
            values: blocks,
            width: 1,
            dependent: false,
            unresolved: false,
            sufficient: interval.level > 0.0,
            assumed: false,
            needed: 0,
            certainty: Certainty::for_interval(&interval, blocks, 1, 1.0 - interval.level),
        }
    }

    /// Sets the confidence level to the simultaneous level of a family, each of whose intervals
    /// uses a fraction of `alpha`.
    pub(crate) fn of_family(mut self, alpha: f64) -> Ratio {
        if self.interval.level > 0.0 {
            self.interval.level = Interval::confidence_level(alpha);
        }
        self
    }

    /// Returns true if the interval has the requested level, so that it supports a verdict.
    pub fn supports_verdict(&self) -> bool {
        self.sufficient && !self.unresolved
    }
}

/// Estimates a ratio from its logarithm in each block, in chronological order.
///
/// The estimate is the Hodges-Lehmann estimate with the signed-rank interval, after blocks that
/// depend on each other are merged. If there are too few blocks for a signed-rank interval,
/// [`few_blocks::interval`] is used. Returns `None` if no value is finite.
pub fn ratio(logs: &[f64], level: Level) -> Option<Ratio> {
    let merged = merged(logs, level);
    let values = merged.values.len() as u32;
    let needed = family::blocks_needed(level.alpha, level.family).unwrap_or(u32::MAX);
    let (log, p) = match merged.values.as_slice() {
        many if values >= needed => {
            let center = signed_rank::center(many, level.each())?;
            (center.interval, center.p)
        }
        [] => return None,
        &[only] => (Interval::from_single_block(only), 1.0),
        few => few_blocks::interval(few, level.each(), &Deviation::FROM_OWN_BLOCKS, 0.0),
    };
    let interval = exponentiate(log, level);
    let family = level.members() as u32;
    let certainty = match values {
        1 => Certainty::for_interval(&interval, 1, family, level.alpha),
        _ => Certainty {
            error: Deviation::FROM_OWN_BLOCKS.error(&merged.values, 0.0),
            freedom: f64::from(values) - 1.0,
            borrowed: 0.0,
            family,
            alpha: level.alpha,
        },
    };
    Some(Ratio {
        interval,
        certainty,
        p,
        values,
        width: merged.width,
        dependent: merged.is_dependent(),
        unresolved: merged.unresolved,
        sufficient: values > 1,
        assumed: values < needed,
        needed,
    })
}

/// Returns the finite values of `logs`, merged if they depend on each other.
pub(crate) fn merged(logs: &[f64], level: Level) -> Merged {
    let finite: Vec<f64> = logs.iter().copied().filter(|v| v.is_finite()).collect();
    let needed = family::blocks_needed(level.alpha, level.family);
    dependence::merge(&finite, needed.unwrap_or(u32::MAX))
}

/// Converts the interval of a log ratio at the level of one comparison to the interval of the ratio
/// at the level of the family.
pub(crate) fn exponentiate(log: Interval, level: Level) -> Interval {
    Interval {
        estimate: log.estimate.exp(),
        low: log.low.exp(),
        high: log.high.exp(),
        level: (1.0 - level.members() * (1.0 - log.level)).max(0.0),
    }
}
