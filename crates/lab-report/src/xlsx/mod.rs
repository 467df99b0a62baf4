// SPDX-License-Identifier: Apache-2.0
//! A report as a workbook: numbers as numbers, units in the headings, native charts. Times are in ns
//! and sizes in bytes, just as the analysis has them; a cell without a finite number is empty.

mod between;
mod charts;
mod sheet;
mod sheets;

use crate::between::BetweenReport;
use crate::view::View;
use crate::{Error, Report};
use lab_model::Run;
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Workbook};

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

/// The sheet of imported figures, there only if there are any.
pub const IMPORTED: &str = "Imported";

/// The workbook.
pub fn render(report: &Report) -> Result<Vec<u8>, Error> {
    let mut workbook = workbook_of(report.run);
    if let Some(view) = View::new(report) {
        let all = [
            sheets::summary(&view),
            sheets::times(&view),
            sheets::comparisons(&view),
            sheets::fits(&view),
            sheets::factors(&view),
            sheets::resources(&view),
            sheets::cpu(&view),
            sheets::sweeps(&view),
            sheets::conditions(&view),
        ];
        for (name, sheet) in SHEETS.into_iter().zip(all) {
            sheet.write(&mut workbook, name)?;
        }
    }
    let imported = sheets::imported(report);
    if imported.rows.len() > 1 || report.run.plan.is_none() {
        imported.write(&mut workbook, IMPORTED)?;
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
