// SPDX-License-Identifier: Apache-2.0
//! The commits of a range that changed the time, in sentences.

use crate::parts::scope::Scope;
use lab_document::say;
use lab_model::{Interval, Unit};
use lab_stats::range_steps::{MIN_BLOCKS_FOR_STEPS, RangeStep};

/// The title of the table of all commits.
pub const COMMITS: &str = "All commits";

/// The column titles of the table of all commits.
pub const COLUMNS: [&str; 4] = ["commit", "message", "time", "ratio to the first"];

/// Returns the answer: the number of commits that changed the time, and the size of the change.
pub fn answer(scope: &Scope, steps: &Option<Vec<RangeStep>>) -> String {
    let commits = say::count(scope.compared().len().saturating_sub(1), "commit");
    match steps.as_deref() {
        None => format!(
            "Too few blocks to find the commits that changed the time: {MIN_BLOCKS_FOR_STEPS} are needed."
        ),
        Some([]) => format!("None of {commits} is known to have changed the time."),
        Some([step]) => {
            let (value, range) = ratio(scope, step);
            format!(
                "One of {commits} changed the time: {} to {value} times the previous time {range}.",
                scope.name(step.subject)
            )
        }
        Some(steps) => {
            let each: Vec<String> = steps
                .iter()
                .map(|step| {
                    let (value, range) = ratio(scope, step);
                    format!(
                        "{} to {value} times the previous time {range}",
                        scope.name(step.subject)
                    )
                })
                .collect();
            format!(
                "{} of {commits} changed the time: {}.",
                steps.len(),
                say::list(&each)
            )
        }
    }
}

/// Describes a step with the message of its commit.
pub fn step(scope: &Scope, step: &RangeStep, message: &str) -> String {
    let (value, range) = ratio(scope, step);
    let [before, after] = step.commits;
    format!(
        "{} ({message}): the {} starting with it {} {value} times the time of the {} before it {range}.",
        scope.name(step.subject),
        say::count(after, "commit"),
        if after == 1 { "takes" } else { "take" },
        say::count(before, "commit"),
    )
}

fn ratio(scope: &Scope, step: &RangeStep) -> (String, String) {
    let interval = Interval {
        estimate: step.ratio,
        low: step.low,
        high: step.high,
        level: scope.level(),
    };
    let text = say::interval_text(&interval, &Unit::Ratio, scope.level());
    (text.value, text.range)
}
