// SPDX-License-Identifier: Apache-2.0
//! Sentences about threads that share data and about calls that fail: costs, waits and losses.

use lab_document::format::quantity;
use lab_document::say;
use lab_model::Metric;

/// Returns the title of a table of a metric at one point.
pub fn at_point(metric: &Metric, point: &str) -> String {
    format!("{} at {point}", say::capital(&metric.title))
}

/// Returns the title of a table of costs and losses whose columns differ.
pub fn costs_and_losses() -> &'static str {
    "Costs, waits and losses"
}

/// Explains the cells of a table of costs and losses. `level` is the requested confidence level,
/// and `lowest` is the lowest confidence level of the table's intervals.
pub fn how_to_read_losses(level: f64, lowest: f64) -> String {
    let low = if lowest < level {
        format!(", here at only {}", quantity::level(lowest))
    } else {
        String::new()
    };
    format!(
        "Medians over blocks; ranges are {} confidence intervals{low}. The report has the intervals of all times.",
        quantity::level(level)
    )
}

/// Formats the upper bound for the fraction of wrong calls if no wrong call was observed, such as
/// `: at most 0.8 % (95 %)`.
pub fn wrong_at_most(bound: f64, level: f64) -> String {
    format!(
        ": at most {} (at {})",
        say::percent(bound),
        quantity::level(level)
    )
}

/// Describes a loss that happened in only some of a run's blocks, such as `up to 41 % in 3 of 10
/// blocks`. `max` is the maximum over blocks.
pub fn rare_loss(max: &str, blocks: usize, all: usize) -> String {
    let up_to = if blocks == 1 { "" } else { "up to " };
    format!("{up_to}{max} in {blocks} of {}", say::count(all, "block"))
}

/// States that all readings of some losses are 0 for every subject.
pub fn nothing_lost(titles: &[&str]) -> String {
    format!("In this run, no subject had {}.", titles.join(" or "))
}

/// Describes the smallest and the largest value of a metric.
pub fn range_of(metric: &Metric, min: &str, max: &str) -> String {
    format!("{} from {min} to {max}", metric.title)
}
