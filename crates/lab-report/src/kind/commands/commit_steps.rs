// SPDX-License-Identifier: Apache-2.0
//! The commits of a range that changed the time.

use crate::parts::scope::Scope;
use crate::wording::commit_steps as wording;
use lab_document::{Cell, Column, Finding, Quantity, Table, Tone};
use lab_model::{Metric, SubjectId, Unit};
use lab_stats::range_steps::{RangeStep, range_steps};

/// Returns the commits at which the time changed, with the size of each change. Returns `None` if
/// there are too few blocks.
pub fn steps(scope: &Scope) -> Option<Vec<RangeStep>> {
    range_steps(scope.run, 1.0 - scope.level())
}

/// Builds the table of all commits in their order, with their times.
pub fn table(scope: &Scope) -> Option<Table> {
    let [point] = scope.points()[..] else {
        return None;
    };
    let columns = wording::COLUMNS;
    let mut table = Table::new(
        wording::COMMITS,
        [
            Column::from(columns[0]),
            Column::from(columns[1]),
            Column::with_unit(columns[2], Unit::Nanoseconds),
            Column::with_unit(columns[3], Unit::Ratio),
        ],
    );
    for subject in scope.compared() {
        let subject_scope = (subject, Some(point));
        let time = scope.interval(subject_scope, &Metric::WALL);
        let ratio = scope
            .comparison(subject_scope, &Metric::WALL)
            .map(|c| c.ratio);
        table.named_row(
            scope.name(subject),
            [
                Cell::from(message(scope, subject)),
                time.map(|time| Quantity::estimate(time, Unit::Nanoseconds))
                    .into(),
                ratio.map(|ratio| Quantity::ratio(&ratio)).into(),
            ],
        );
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Describes each step.
pub fn findings(scope: &Scope, steps: &Option<Vec<RangeStep>>) -> Vec<Finding> {
    let finding = |step: &RangeStep| {
        let tone = if step.low > 1.0 {
            Tone::Worse
        } else if step.high < 1.0 {
            Tone::Better
        } else {
            Tone::Inconclusive
        };
        let text = wording::step(scope, step, message(scope, step.subject));
        Finding::plain(text).with_tone(tone).with_data(step)
    };
    steps.iter().flatten().map(finding).collect()
}

fn message<'a>(scope: &Scope<'a>, subject: SubjectId) -> &'a str {
    let messages = scope.plan.commands().map(|c| &c.commit_messages);
    let message = messages.and_then(|messages| messages.get(subject.index()));
    message.map_or("", String::as_str)
}
