// SPDX-License-Identifier: Apache-2.0
//! Decides from the blocks of a probe in which half of its range the time changed.

use crate::dependence;
use crate::few_blocks::{self, Deviation};
use crate::order;
use crate::signed_rank;
use lab_model::Interval;
use serde::{Deserialize, Serialize};

/// The numbers of blocks after which a probe is analyzed. Each analysis gets an equal part of the
/// error probability that is allowed for the probe.
pub const ANALYSES: [u32; 20] = [
    4, 6, 8, 11, 15, 20, 28, 40, 56, 80, 112, 160, 224, 320, 448, 640, 896, 1280, 1792, 2560,
];

/// The maximum number of blocks of a probe.
pub const MAX_BLOCKS: u32 = ANALYSES[ANALYSES.len() - 1];

/// The change of the time within one half of a range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Half {
    /// The logarithm of the ratio of the times at the end and at the start of the half.
    pub log_ratio: LogInterval,
    /// The decision whether the time changed within this half.
    pub change: HalfChange,
}

/// An estimate of the logarithm of a ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogInterval {
    /// The Hodges-Lehmann estimate, or the mean of few blocks.
    pub estimate: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// The decision about one half of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HalfChange {
    /// The interval excludes 0, and the estimate is at least the smallest change of interest.
    Changed,
    /// The interval shows that any change is too small to be of interest.
    Unchanged,
    /// More blocks are needed.
    Open,
}

/// The result of analyzing a probe's blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgment {
    /// The half before the probe: from the start of the range to the probe.
    pub before: Half,
    /// The half after the probe: from the probe to the end of the range.
    pub after: Half,
}

impl Judgment {
    /// Returns true if there is a decision about both halves.
    pub fn is_decided(&self) -> bool {
        [self.before, self.after]
            .iter()
            .all(|half| half.change != HalfChange::Open)
    }
}

/// The result of comparing both ends of a range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ends", rename_all = "kebab-case")]
pub enum Ends {
    /// The ends differ.
    Differ,
    /// The ends differ by less than the margin, or not at all.
    Equivalent,
    /// More blocks are needed.
    Open,
}

/// Returns the center of the blocks' values with its interval at level `1 - alpha`.
///
/// With too few blocks for an exact signed-rank interval at this level, the interval is Student's
/// t, which assumes normally distributed values. Neighboring blocks that depend on each other are
/// merged. Returns `None` with fewer than two values.
pub fn interval(values: &[f64], alpha: f64) -> Option<LogInterval> {
    let merged = dependence::merge(values, 4).values;
    if merged.len() < 2 {
        return None;
    }
    let is_exact = signed_rank::values_needed(alpha).is_some_and(|n| merged.len() >= n as usize);
    let found: Interval = if is_exact {
        signed_rank::center(&merged, alpha)?.interval
    } else {
        few_blocks::interval(&merged, alpha, &Deviation::FROM_OWN_BLOCKS, 0.0).0
    };
    Some(LogInterval {
        estimate: found.estimate,
        low: found.low,
        high: found.high,
    })
}

/// Decides whether the two ends of a range differ.
///
/// `logs` contains ln(end / start) for each block. `alpha` is the allowed error probability of all
/// analyses together, and `margin` is the largest relative difference that counts as equivalent.
/// Returns the decision and the interval, or `None` with fewer than two blocks.
pub fn judge_ends(logs: &[f64], alpha: f64, margin: f64) -> Option<(Ends, LogInterval)> {
    let found = interval(logs, alpha / ANALYSES.len() as f64)?;
    let bound = margin.ln_1p();
    let ends = if -bound < found.low && found.high < bound {
        Ends::Equivalent
    } else if excludes_zero(&found) {
        Ends::Differ
    } else {
        Ends::Open
    };
    Some((ends, found))
}

/// Returns the smallest change to search for, as a logarithm. `total` is the difference between the
/// logarithms of the ends.
///
/// The result is the margin or a third of the difference, whichever is smaller.
pub fn min_change(total: f64, margin: f64) -> f64 {
    margin.ln_1p().min(total.abs() / 3.0)
}

/// Decides in which halves of a range the time changed.
///
/// `before` contains ln(probe / start) for each block, and `after` contains ln(end / probe).
/// `least` is the smallest change to search for. A half is unchanged if its change is less than
/// `least` or less than half of the range's change, whichever is larger. `alpha` is the allowed
/// error probability of the probe. Returns `None` with fewer than two blocks.
pub fn judge(before: &[f64], after: &[f64], alpha: f64, least: f64) -> Option<Judgment> {
    // Two halves share the error of each analysis.
    let each = alpha / (2 * ANALYSES.len()) as f64;
    let range: Vec<f64> = before.iter().zip(after).map(|(a, b)| a + b).collect();
    let total = order::median(&range)?.abs();
    let bound = least.max(0.5 * total);
    let half = |values: &[f64]| {
        let log_ratio = interval(values, each)?;
        let is_small = -bound < log_ratio.low && log_ratio.high < bound;
        let change = if excludes_zero(&log_ratio) && log_ratio.estimate.abs() >= least {
            HalfChange::Changed
        } else if is_small {
            HalfChange::Unchanged
        } else {
            HalfChange::Open
        };
        Some(Half { log_ratio, change })
    };
    Some(Judgment {
        before: half(before)?,
        after: half(after)?,
    })
}

/// Decides whether new data confirm a change.
///
/// `logs` contains, for each block, the logarithm of the value after the change divided by the
/// value before it. `alpha` is the allowed error probability of all analyses, and `min_change` is
/// the smallest change of interest. The change is confirmed if its interval excludes 0 and extends
/// at most a third of the estimate to either side. Returns the decision and the interval, or `None`
/// with fewer than two blocks.
pub fn judge_again(logs: &[f64], alpha: f64, min_change: f64) -> Option<(HalfChange, LogInterval)> {
    let found = interval(logs, alpha / ANALYSES.len() as f64)?;
    let width = (found.high - found.estimate).max(found.estimate - found.low);
    let change = if excludes_zero(&found) && 3.0 * width <= found.estimate.abs() {
        HalfChange::Changed
    } else if -min_change < found.low && found.high < min_change {
        HalfChange::Unchanged
    } else {
        HalfChange::Open
    };
    Some((change, found))
}

/// Returns the largest number of blocks in [`ANALYSES`] that does not exceed `blocks`, or 0 if
/// `blocks` is too small for any analysis.
pub fn latest_analysis(blocks: u32) -> u32 {
    let done = ANALYSES.into_iter().filter(|&analysis| analysis <= blocks);
    done.max().unwrap_or(0)
}

fn excludes_zero(interval: &LogInterval) -> bool {
    interval.low > 0.0 || interval.high < 0.0
}
