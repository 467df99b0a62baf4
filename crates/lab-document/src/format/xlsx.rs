// SPDX-License-Identifier: Apache-2.0
//! A document as an Excel workbook: the answer with its chart, a sheet for each section, and all rows as data.
//!
//! Numbers are numeric cells in the unit of their heading, and text never becomes a formula.

mod answer_chart;
mod sheet;

use self::sheet::{CellValue, Sheet, excel, sheet_name, value};
use super::tidy::{COLUMNS, Field, fields};
use super::values;
use crate::document::{Document, Finding, Item, Row, Section};
use crate::output::{Error, Format as OutputFormat, Rendered};
use lab_model::Unit;
use rust_xlsxwriter::{DocProperties, Format, Workbook, Worksheet, XlsxError};

/// The Excel format.
pub const FORMAT: OutputFormat = OutputFormat {
    name: "xlsx",
    extension: "xlsx",
    title: "Workbook (XLSX)",
    is_folder: false,
    shows_history: true,
    suits: |_| true,
    render: |document, _| {
        render(document)
            .map(Rendered::Bytes)
            .map_err(|error| Error::new("workbook", error))
    },
};

/// The name of the first sheet.
const ANSWER: &str = "Answer";
/// The name of the sheet of the tidy rows.
const DATA: &str = "Data";
/// The name of the sheet with the values of the answer's chart.
const CHART_DATA: &str = "Chart data";

/// Renders the workbook. Returns an error if the library fails.
pub fn render(document: &Document) -> Result<Vec<u8>, XlsxError> {
    let mut names = [ANSWER, DATA, CHART_DATA].map(String::from).to_vec();
    let mut chart_data = Sheet::new(CHART_DATA)?;
    let mut sheets = vec![answer(document, &mut chart_data)?];
    for section in document.sections.iter().filter(|s| !s.is_empty()) {
        let name = sheet_name(&section.title, &names);
        let mut page = Sheet::new(&name)?;
        page.sheet.set_freeze_panes(1, 0)?;
        write(&mut page, section, 14.0)?;
        sheets.push(page.finish()?);
        names.push(name);
    }
    sheets.push(data(&document.rows)?);
    if chart_data.row > 0 {
        sheets.push(chart_data.finish()?);
    }
    let mut workbook = Workbook::new();
    let made = format!("benchlab {}", document.benchlab_version);
    let properties = DocProperties::new()
        .set_title(excel(&document.title))
        .set_comment(excel(&made));
    workbook.set_properties(&properties);
    for sheet in sheets {
        workbook.push_worksheet(sheet);
    }
    workbook.save_to_buffer()
}

fn answer(document: &Document, chart_data: &mut Sheet) -> Result<Worksheet, XlsxError> {
    let mut page = Sheet::new(ANSWER)?;
    let top = super::top(document);
    page.heading(&top.headline, 16.0)?;
    page.muted_prose(&top.about);
    page.space();
    let answer = &document.answer;
    let (open, gates) = (answer.open_findings(), document.gate_findings());
    for finding in top.findings.iter().chain(&open).chain(&gates) {
        self::finding(&mut page, finding);
    }
    page.space();
    if let Some(table) = &answer.table {
        page.table(table)?;
    }
    for chart in [&answer.chart, &answer.distribution].into_iter().flatten() {
        answer_chart::insert(&mut page, chart_data, chart)?;
    }
    page.muted_prose(&document.source);
    page.finish()
}

fn finding(page: &mut Sheet, finding: &Finding) {
    let label = match finding.label.as_str() {
        "" => String::new(),
        label => format!("{label}: "),
    };
    page.prose(&format!("{label}{}", finding.text), 0);
}

/// Writes a section, with its heading in the given font size (in points), and then its subsections.
///
/// A chart is written as a table of its values.
fn write(page: &mut Sheet, section: &Section, points: f64) -> Result<(), XlsxError> {
    page.heading(&section.title, points)?;
    for item in &section.items {
        match item {
            Item::Paragraph(text) => page.prose(text, 0),
            Item::List(texts) => {
                for text in texts {
                    page.prose(&format!("• {text}"), 0);
                }
            }
            Item::Facts(facts) => {
                for (name, text) in facts {
                    page.put(0, &CellValue::Text(name.clone()), &Format::new())?;
                    page.prose(text, 1);
                }
            }
            Item::Table(table) => page.table(table)?,
            Item::Chart(chart) => page.table(&values::table(chart))?,
            Item::Finding(finding) => self::finding(page, finding),
            Item::Log(lines) => page.log(lines),
        }
        page.space();
    }
    for part in section.sections.iter().filter(|s| !s.is_empty()) {
        write(page, part, f64::max(points - 2.0, 11.0))?;
    }
    Ok(())
}

/// Writes all rows to a sheet with a filter. Each value is in the unit that the next column names.
fn data(rows: &[Row]) -> Result<Worksheet, XlsxError> {
    let mut page = Sheet::new(DATA)?;
    page.headings(COLUMNS)?;
    for row in rows {
        let values = fields(row).map(|field| match field {
            Field::Words(words) => CellValue::Text(words),
            Field::Number(number) => value(number, &Unit::Ratio),
            Field::Empty => CellValue::Blank,
        });
        page.row_of(&values)?;
    }
    page.sheet.set_freeze_panes(1, 2)?;
    let last = page.row.max(2) - 1;
    page.sheet
        .autofilter(0, 0, last, COLUMNS.len() as u16 - 1)?;
    page.finish()
}
