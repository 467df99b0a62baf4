// SPDX-License-Identifier: Apache-2.0
//! The log ratios of a run's blocks -> a ratio of times with its simultaneous interval.

use crate::dependence::{self, Merged};
use crate::few_blocks::{self, Deviation};
use crate::outlook::Certainty;
use crate::{family, signed_rank};
use lab_model::Interval;

/// The level that intervals are to have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// 1 - the level at which all intervals of the family hold together.
    pub alpha: f64,
    /// How many comparisons hold together, at least 1.
    pub family: usize,
}

impl Level {
    /// 1 - the level of one interval, so that all hold together (Bonferroni).
    pub(crate) fn each(self) -> f64 {
        self.alpha / self.members()
    }

    fn members(self) -> f64 {
        self.family.max(1) as f64
    }
}

/// A ratio of times and what stands behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Estimate and interval; its level is that of the whole family.
    pub interval: Interval,
    /// Two-sided p-value of ratio = 1, not adjusted.
    pub p: f64,
    /// Values behind it: blocks, or groups of merged blocks.
    pub values: u32,
    /// Blocks in each group; 1 if none were merged.
    pub width: u32,
    /// The blocks depend on each other by more than chance explains.
    pub dependent: bool,
    /// The merged blocks still depend on each other, and there are too few to merge more of them.
    pub unresolved: bool,
    /// There is an interval at the requested level.
    pub sufficient: bool,
    /// It assumes that blocks scatter normally, since they are fewer than `needed`.
    pub assumed: bool,
    /// The fewest values of which an interval assumes symmetry alone.
    pub needed: u32,
    /// How certain it is.
    pub certainty: Certainty,
}

impl Ratio {
    /// A ratio without a verdict, of an interval that was computed in another way.
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
            certainty: Certainty::of_interval(&interval, blocks, 1, 1.0 - interval.level),
        }
    }

    /// With the level that all intervals of a family have together, where each takes its part of `alpha`.
    pub(crate) fn of_family(mut self, alpha: f64) -> Ratio {
        if self.interval.level > 0.0 {
            self.interval.level = Interval::level_of(alpha);
        }
        self
    }

    /// True if the interval has the requested level, so that a verdict may be drawn from it.
    pub fn supports_verdict(&self) -> bool {
        self.sufficient && !self.unresolved
    }
}

/// The ratio whose logarithm in each block is one of `logs`, in the order of time: the
/// Hodges-Lehmann estimate with the signed-rank interval, after merging blocks that depend on
/// each other; of fewer blocks than that needs [`few_blocks::interval`]. `None` without a finite value.
pub fn ratio(logs: &[f64], level: Level) -> Option<Ratio> {
    let merged = merged(logs, level);
    let values = merged.values.len() as u32;
    let needed = family::blocks_needed(level.alpha, level.family).unwrap_or(u32::MAX);
    let (log, p) = match merged.values.as_slice() {
        many if values >= needed => {
            let centre = signed_rank::centre(many, level.each())?;
            (centre.interval, centre.p)
        }
        [] => return None,
        &[only] => (Interval::alone(only), 1.0),
        few => few_blocks::interval(few, level.each(), &Deviation::BY_ITSELF, 0.0),
    };
    let interval = exponentiate(log, level);
    let family = level.members() as u32;
    let certainty = match values {
        1 => Certainty::of_interval(&interval, 1, family, level.alpha),
        _ => Certainty {
            error: Deviation::BY_ITSELF.error(&merged.values, 0.0),
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

/// The finite ones of `logs`, merged where they depend on each other.
pub(crate) fn merged(logs: &[f64], level: Level) -> Merged {
    let finite: Vec<f64> = logs.iter().copied().filter(|v| v.is_finite()).collect();
    let needed = family::blocks_needed(level.alpha, level.family);
    dependence::merge(&finite, needed.unwrap_or(u32::MAX))
}

/// The interval of a logarithm, made at the level of each, as one of a ratio with the level of all.
pub(crate) fn exponentiate(log: Interval, level: Level) -> Interval {
    Interval {
        estimate: log.estimate.exp(),
        low: log.low.exp(),
        high: log.high.exp(),
        level: (1.0 - level.members() * (1.0 - log.level)).max(0.0),
    }
}
