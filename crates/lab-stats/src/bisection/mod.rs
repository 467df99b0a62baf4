// SPDX-License-Identifier: Apache-2.0
//! Finds the commits that changed a program's time, from noisy measurements of a few commits.
//!
//! [`BisectionSearch`] chooses the next commit to measure, and [`judge`] decides whether a probe
//! needs more blocks. This module does not measure anything itself. `docs/statistics.md` describes
//! the method.
//!
//! Sources: Karp & Kleinberg, *Noisy binary search and its applications*, SODA 2007, describe a
//! bisection with unreliable answers, whose cost grows with the logarithm of the number of items
//! and of 1 / error. Here, instead of repeating a question a fixed number of times, a commit is
//! measured until its interval allows a decision. The intervals are group-sequential (Jennison &
//! Turnbull, *Group Sequential Methods*, 1999, chapter 9), with equal parts of the allowed error.

mod judgment;
mod probe_values;
mod search;

pub use judgment::{
    ANALYSES, Ends, Half, HalfChange, Judgment, LogInterval, MAX_BLOCKS, interval, judge,
    judge_again, judge_ends, latest_analysis, min_change,
};
pub use probe_values::{BisectedMetric, ProbeValues, probe_values};
pub use search::{BisectionSearch, FoundChange, NextStep, Segment, error_parts, max_probes};
