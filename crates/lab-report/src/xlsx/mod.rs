// SPDX-License-Identifier: Apache-2.0
//! A report as a workbook: numbers as numbers, units in the headings, native charts. Times are in ns
//! and sizes in bytes, just as the analysis has them; a cell without a finite number is empty.

mod charts;
mod sheet;
mod sheets;

use crate::view::View;
use crate::{Error, Report};
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
    let mut workbook = Workbook::new();
    let mut properties =
        DocProperties::new().set_comment(format!("benchlab {}", report.run.lab_version));
    if let Ok(started) = ExcelDateTime::from_timestamp(report.run.started_unix_s as i64) {
        properties = properties.set_creation_datetime(&started);
    }
    workbook.set_properties(&properties);
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
