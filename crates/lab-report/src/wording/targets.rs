// SPDX-License-Identifier: Apache-2.0
//! Sentences about subjects on multiple targets.

use super::verdicts;
use lab_document::say;
use lab_model::{Interval, Metric};

/// A subject's ratio on a target.
pub struct OnTarget {
    /// The subject's name.
    pub subject: String,
    /// The target's title, such as `SQLite`.
    pub target: &'static str,
    /// The ratio to the baseline's value.
    pub ratio: Interval,
}

/// Describes the range of ratios: `The smallest ratio measured is that of ada on PostgreSQL, 0.981 times c's time (…); the
/// largest is …`
pub fn range_over_targets(
    metric: &Metric,
    baseline: &str,
    [min, max]: [OnTarget; 2],
    level: f64,
) -> String {
    let of = |on: &OnTarget| {
        let OnTarget {
            subject, target, ..
        } = on;
        let times = verdicts::ratio(metric, &on.ratio, baseline, level);
        format!("that of {subject} on {target}, {times}")
    };
    format!(
        "The smallest ratio measured is {}; the largest is {}.",
        of(&min),
        of(&max)
    )
}

/// Returns the title of the table of ratios by target.
pub fn ratios_on_targets(baseline: &str, metric: &Metric) -> String {
    let title = say::capital(&metric.title);
    format!("{title} relative to {baseline}, on each target")
}

/// Returns the caption of the table of ratios. `margin` is a percentage such as `2 %`.
pub fn how_to_read_ratios(margin: &str) -> String {
    format!(
        "Geometric means over all points, with simultaneous intervals. Unless a note says otherwise, a ratio below 1 \
         means faster and a ratio above 1 means slower; within 1 ± {margin}, it counts as equivalent."
    )
}

/// Formats the note for a mean over fewer points than the other means, such as `6 of 11 points`.
/// Such means are not comparable.
pub fn fewer_points(points: u32, all: u32) -> String {
    format!("{points} of {all} points")
}
