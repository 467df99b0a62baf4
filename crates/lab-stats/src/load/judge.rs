// SPDX-License-Identifier: Apache-2.0
//! Several ratios to the baseline whose intervals hold together.

use crate::analysis::Verdict;
use crate::family;
use crate::ratio::{Level, Ratio, ratio};
use crate::verdict::verdict;

/// A ratio and what it supports.
pub struct Judged {
    /// Estimate, interval and what they rest on.
    pub ratio: Ratio,
    /// How sure it was asked to be.
    pub level: Level,
    /// Holm-adjusted p-value of ratio = 1.
    pub p: f64,
    /// What it supports with its margin.
    pub verdict: Verdict,
}

/// Judges what each of several has, by block: the logarithms of its ratios. The intervals hold together at
/// a level of `1 - alpha` (Bonferroni).
pub fn judge<T>(
    all: Vec<(T, Vec<f64>)>,
    alpha: f64,
    margin: impl Fn(&T) -> f64,
) -> Vec<(T, Judged)> {
    let level = Level {
        alpha,
        family: all.len(),
    };
    let judged = all.into_iter().filter_map(|(who, logs)| {
        let ratio = ratio(&logs, level)?;
        let judged = Judged {
            p: ratio.p,
            verdict: verdict(&ratio, level, margin(&who)),
            ratio,
            level,
        };
        Some((who, judged))
    });
    let mut judged: Vec<(T, Judged)> = judged.collect();
    let p: Vec<f64> = judged.iter().map(|(_, j)| j.ratio.p).collect();
    let adjusted = judged.iter_mut().zip(family::holm(&p));
    adjusted.for_each(|((_, judged), p)| judged.p = p);
    judged
}
