// SPDX-License-Identifier: Apache-2.0
//! Two runs side by side: the changes, and other differences between the runs.

use super::changed::ChangedFigure;
use crate::BetweenReport;
use crate::parts::cell::{self, NONE};
use crate::parts::table;
use crate::wording::changes as wording;
use lab_document::say;
use lab_document::{Cell, Column, Quantity, Table};
use lab_model::Unit;
use lab_stats::between::ProgramMatch;

/// Builds the table of changes: the values of both runs and their ratio with its verdict.
pub fn changes(report: &BetweenReport, changes: &[ChangedFigure]) -> Table {
    let columns = [
        Column::from("subject"),
        "metric".into(),
        "first".into(),
        "second".into(),
        Column::with_unit("second / first", Unit::Ratio),
        "program".into(),
    ];
    let between = report.between;
    let mut table = Table::new("What changed", columns);
    let base = between.baseline.as_deref().unwrap_or("");
    table.caption = if between.is_of_loads() {
        "Times and costs in each run, and their change; below 1 is better.".into()
    } else {
        format!("Ratios to {base}'s time in each run, and their change; below 1 is faster.")
    };
    for change in changes {
        let figure = |value| Cell::from(Quantity::estimate(value, change.metric.unit.clone()));
        let [first, second] = [&change.values[0], &change.values[1]].map(figure);
        table.row(vec![
            change.subject.into(),
            change.title.as_str().into(),
            first,
            second,
            cell::judged(&change.change, &change.metric, Some(&change.verdict)),
            match change.program {
                ProgramMatch::Unknown => NONE.into(),
                program => wording::program(program).into(),
            },
        ]);
    }
    let levels = changes.iter().map(|c| c.change.level);
    table.notes.extend(table::level_note(between.level, levels));
    let unmet = between.controls.iter().filter(|c| !c.met);
    table.notes.extend(
        unmet.map(|control| {
            wording::control_changed(&control.point, &control.change, control.margin)
        }),
    );
    table.without_empty_columns()
}

/// Builds the table of operation times in both runs.
pub fn times(report: &BetweenReport) -> Table {
    let columns = [
        Column::from("subject"),
        "point".into(),
        Column::with_unit("first", Unit::Nanoseconds),
        Column::with_unit("second", Unit::Nanoseconds),
        Column::with_unit("second / first", Unit::Ratio),
        "program".into(),
    ];
    let mut table = Table::new("Time of an operation", columns);
    table.caption = "These times depend on the speed of the machine.".into();
    let levels = report.between.times();
    for level in report.between.times() {
        table.row(vec![
            level.subject.as_str().into(),
            level.point.as_str().into(),
            Quantity::estimate(&level.values[0], Unit::Nanoseconds).into(),
            Quantity::estimate(&level.values[1], Unit::Nanoseconds).into(),
            Quantity::ratio(&level.change).into(),
            wording::program(level.program).into(),
        ]);
    }
    let held = levels.map(|l| l.change.level);
    let level = report.between.times_level;
    table.notes.extend(table::level_note(level, held));
    table.without_empty_columns()
}

/// Builds the table of differences between the runs other than the programs.
pub fn differences(report: &BetweenReport) -> Table {
    let mut table = Table::new("Between the runs", ["property", "first run", "second run"])
        .with_caption("Differences between the runs other than the programs.");
    let value = |value: &Option<String>| Cell::from(value.as_deref().unwrap_or(NONE));
    for difference in &report.between.differences {
        let values = [&difference.first, &difference.second].map(value);
        table.named_row(difference.what.as_str(), values);
    }
    table
}

/// Builds the table of the two runs themselves.
pub fn runs(report: &BetweenReport) -> Table {
    let columns = ["run", "file", "began (UTC)", "blocks", "benchlab"];
    let mut table = Table::new("The two runs", columns).with_caption("The sources of the values.");
    for (i, which) in ["first", "second"].into_iter().enumerate() {
        let run = report.runs[i];

        table.row(vec![
            which.into(),
            report.files[i].into(),
            say::minute(run.started_unix_s).into(),
            Quantity::count(report.between.blocks[i].into(), "blocks").into(),
            run.benchlab_version.as_str().into(),
        ]);
    }
    table
}
