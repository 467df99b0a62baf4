// SPDX-License-Identifier: Apache-2.0
//! A report as a workbook: numbers as numbers, units in the headings, native charts. Times are in ns
//! and sizes in bytes, just as the analysis has them; a cell without a finite number is empty.

mod between;
mod charts;
mod commands;
mod load;
mod served;
mod sheet;
mod sheets;
mod targets;

use crate::between::BetweenReport;
use crate::load::LoadView;
use crate::served::ServedView;
use crate::view::View;
use crate::{Error, Report};
use lab_model::Run;
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Workbook};
use sheet::Sheet;

/// The sheets of a measured run, in order.
pub const SHEETS: [&str; 9] = [
    "Summary",
    "Times",
    "Comparisons",
    "Fits",
    "Factors",
    "Resources",
    "CPU",
    "Sweeps",
    "Conditions",
];

/// Beside one sheet for each target, those of a run on several, in order: the targets' come second.
pub const TARGET_SHEETS: [&str; 4] = ["Summary", "Figures", "Resources", "Conditions"];

/// The sheets of whole commands, in order: fits, factors and sweeps only where there are some.
pub const COMMAND_SHEETS: [&str; 9] = [
    "Summary",
    "Commands",
    "Times",
    "Comparisons",
    "Fits",
    "Factors",
    "Uses",
    "Sweeps",
    "Conditions",
];

/// The sheet of imported figures, there only if there are any.
pub const IMPORTED: &str = "Imported";

/// The workbook.
pub fn render(report: &Report) -> Result<Vec<u8>, Error> {
    let mut workbook = workbook_of(report.run);
    let views = View::all(report);
    let sheets = match views.as_slice() {
        [] => Vec::new(),
        [view] => sheets(view),
        many => targets::sheets(many),
    };
    for (name, sheet) in sheets {
        sheet.write(&mut workbook, name)?;
    }
    let imported = sheets::imported(report);
    if imported.rows.len() > 1 || report.run.plan.is_none() {
        imported.write(&mut workbook, IMPORTED)?;
    }
    Ok(workbook.save_to_buffer()?)
}

fn sheets(view: &View) -> Vec<(&'static str, Sheet)> {
    if view.commands().is_none() {
        let all = [
            sheets::summary(view),
            sheets::times(view),
            sheets::comparisons(view),
            sheets::fits(view),
            sheets::factors(view),
            sheets::resources(view),
            sheets::cpu(view),
            sheets::sweeps(view),
            sheets::conditions(view),
        ];
        return SHEETS.into_iter().zip(all).collect();
    }
    let all = [
        sheets::summary(view),
        commands::commands(view),
        sheets::times(view),
        sheets::comparisons(view),
        sheets::fits(view),
        sheets::factors(view),
        commands::uses(view),
        sheets::sweeps(view),
        sheets::conditions(view),
    ];
    let sometimes = ["Comparisons", "Fits", "Factors", "Sweeps"];
    let named = COMMAND_SHEETS.into_iter().zip(all);
    named
        .filter(|(name, sheet)| !sometimes.contains(name) || sheet.rows.len() > 1)
        .collect()
}

/// The workbook of a load run.
pub(crate) fn load(view: &LoadView) -> Result<Vec<u8>, Error> {
    let mut workbook = workbook_of(view.view.run);
    for (name, sheet) in load::sheets(view) {
        sheet.write(&mut workbook, name)?;
    }
    Ok(workbook.save_to_buffer()?)
}

/// The workbook of servers that the lab started.
pub(crate) fn served(view: &ServedView) -> Result<Vec<u8>, Error> {
    let mut workbook = workbook_of(view.common().run);
    for (name, sheet) in served::sheets(view) {
        sheet.write(&mut workbook, name)?;
    }
    Ok(workbook.save_to_buffer()?)
}

/// The workbook of two runs.
pub fn between(report: &BetweenReport) -> Result<Vec<u8>, Error> {
    let mut workbook = workbook_of(report.runs[1]);
    for (name, sheet) in between::sheets(report) {
        sheet.write(&mut workbook, name)?;
    }
    Ok(workbook.save_to_buffer()?)
}

/// An empty one that says what made it and when: the same run gives the same file.
fn workbook_of(run: &Run) -> Workbook {
    let mut properties = DocProperties::new().set_comment(format!("benchlab {}", run.lab_version));
    if let Ok(started) = ExcelDateTime::from_timestamp(run.started_unix_s as i64) {
        properties = properties.set_creation_datetime(&started);
    }
    let mut workbook = Workbook::new();
    workbook.set_properties(&properties);
    workbook
}
