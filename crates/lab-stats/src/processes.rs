// SPDX-License-Identifier: Apache-2.0
//! Estimates from other tools' files, with the process as the unit of replication.
//!
//! Values within one process depend on its memory layout, its compiled code and its machine state,
//! so they say nothing about the variation between processes.

use crate::analysis::Verdict;
use crate::change;
use crate::order;
use crate::outlook::{Outlook, SAME_ALPHA};
use crate::ratio::{Level, Ratio, ratio};
use crate::verdict::{Margin, verdict};
use lab_model::{Direction, ImportedSeries, Interval};

/// 1 minus the level of intervals.
pub const ALPHA: f64 = 0.05;

/// The equivalence margin of verdicts.
pub const MARGIN: f64 = 0.02;

/// Returns the interquartile mean of the values of each process.
pub fn values(series: &ImportedSeries) -> Vec<f64> {
    let processes = series.processes.iter();
    processes
        .filter_map(|values| order::interquartile_mean(values))
        .collect()
}

/// Returns the typical value over all processes with its interval.
///
/// The interval has level 0 if there is only one process, or if a value is not positive. Returns
/// `None` without values.
pub fn typical(series: &ImportedSeries) -> Option<Interval> {
    let values = values(series);
    let level = Level {
        alpha: ALPHA,
        family: 1,
    };
    if values.len() > 1 && values.iter().all(|value| *value > 0.0) {
        return ratio(&logs(&values), level).map(|found| found.interval);
    }
    order::median(&values).map(Interval::from_single_block)
}

/// The change from one series to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessChange {
    /// The second value divided by the first.
    pub ratio: Interval,
    /// The change as a ratio of costs: below 1 is better. It is the inverse of `ratio` for rates.
    pub cost: Interval,
    /// The two-sided p-value of the hypothesis that nothing changed, not adjusted for other
    /// comparisons.
    pub p: f64,
    /// The verdict. `None` means that one of the two series has only one process, or that neither
    /// lower nor higher values of the metric are better.
    pub verdict: Option<Verdict>,
}

/// Returns the change of a metric between two series.
///
/// The intervals are simultaneous over `family` comparisons. Returns `None` if a value is not
/// positive, because there is then no ratio.
pub fn changed(
    first: &ImportedSeries,
    second: &ImportedSeries,
    family: usize,
) -> Option<ProcessChange> {
    let sides = [values(first), values(second)];
    if sides
        .iter()
        .any(|side| side.is_empty() || side.iter().any(|value| *value <= 0.0))
    {
        return None;
    }
    let level = Level {
        alpha: ALPHA,
        family,
    };
    let is_rate = first.metric.better == Direction::More;
    let costs = sides.map(|side| {
        let sign = if is_rate { -1.0 } else { 1.0 };
        logs(&side)
            .into_iter()
            .map(|log| sign * log)
            .collect::<Vec<f64>>()
    });
    let has_processes = costs.iter().all(|side| side.len() > 1);
    let found = change::change(&costs[0], &costs[1], level)?;
    let cost = match has_processes {
        true => found.interval,
        false => Interval::from_single_block(found.interval.estimate),
    };
    let is_judged = has_processes && first.metric.better != Direction::Neither;
    Some(ProcessChange {
        ratio: if is_rate { inverse(&cost) } else { cost },
        cost,
        p: if has_processes { found.p } else { f64::NAN },
        verdict: is_judged.then(|| judge(&found)),
    })
}

fn judge(found: &Ratio) -> Verdict {
    verdict(found, Margin::plain(MARGIN), &Outlook::new(SAME_ALPHA))
}

fn logs(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.ln()).collect()
}

fn inverse(interval: &Interval) -> Interval {
    Interval {
        estimate: 1.0 / interval.estimate,
        low: 1.0 / interval.high,
        high: 1.0 / interval.low,
        level: interval.level,
    }
}
