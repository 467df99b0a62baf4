// SPDX-License-Identifier: Apache-2.0
//! Finds the commits that changed a program's time, by noisy measurements of few commits.
//!
//! [`BisectionSearch`] decides which commit is measured next, and [`judge`] whether a probe is decided.
//! Neither measures anything. `docs/statistics.md` describes the method.
//!
//! Sources: bisection with unreliable answers, whose cost grows with the logarithm of the number of
//! items and of 1 / error: Karp & Kleinberg, *Noisy binary search and its applications*, SODA 2007.
//! Here, an answer is not repeated a fixed number of times, but measured until its interval decides:
//! group-sequential intervals (Jennison & Turnbull, *Group Sequential Methods*, 1999, chapter 9) with
//! equal parts of the allowed error.

mod judgment;
mod probe_values;
mod search;

pub use judgment::{
    ANALYSES, Ends, Half, HalfChange, Judgment, LogInterval, MAX_BLOCKS, interval, judge,
    judge_again, judge_ends, last_look, least_change,
};
pub use probe_values::{BisectedMetric, ProbeValues, probe_values};
pub use search::{BisectionSearch, FoundChange, NextStep, Segment, error_parts, most_probes};
