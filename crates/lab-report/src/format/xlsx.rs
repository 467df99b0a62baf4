// SPDX-License-Identifier: Apache-2.0
//! A document as a workbook: the answer first, a sheet for each section, every figure as tidy data, native
//! charts. Numbers are numbers in ns, bytes and the like, as their headings say; text never becomes a formula.

mod charts;
mod native;
mod sheet;

use super::tidy::{COLUMNS, Field, fields};
use crate::Error;
use crate::document::{Document, Finding, Item, Row, Section};
use charts::Data;
use rust_xlsxwriter::{DocProperties, Format, Workbook, Worksheet, XlsxError};
use sheet::{CellValue, Sheet, excel, muted, value};

/// The first sheet.
pub const ANSWER: &str = "Answer";
/// The sheet of the tidy rows.
pub const DATA: &str = "Data";
/// The sheet of what the charts draw.
pub const CHART_DATA: &str = "Chart data";

/// The workbook. Error: its library refused something.
pub fn render(document: &Document) -> Result<Vec<u8>, Error> {
    let mut charts = Data::new(CHART_DATA, &[ANSWER, DATA])?;
    let mut sheets = vec![answer(document, &mut charts)?];
    for section in document.sections.iter().filter(|s| !s.is_empty()) {
        let name = charts.sheet_name(&section.title);
        let mut page = Sheet::new(&name)?;
        page.sheet.set_freeze_panes(1, 0)?;
        write(&mut page, section, 14.0, &mut charts)?;
        sheets.push(page.finish()?);
    }
    sheets.push(data(&document.rows)?);
    sheets.extend(charts.finish()?);
    let mut workbook = Workbook::new();
    let made = format!("benchlab {}", document.lab_version);
    let properties = DocProperties::new()
        .set_title(excel(&document.title))
        .set_comment(excel(&made));
    workbook.set_properties(&properties);
    sheets
        .into_iter()
        .for_each(|sheet| workbook.push_worksheet(sheet));
    Ok(workbook.save_to_buffer()?)
}

fn answer(document: &Document, charts: &mut Data) -> Result<Worksheet, XlsxError> {
    let mut page = Sheet::new(ANSWER)?;
    let plain = Format::new();
    page.heading(&document.title, 16.0)?;
    page.prose(&document.question, 0, &plain)?;
    page.prose(&document.made, 0, &muted())?;
    page.space();
    let answer = &document.answer;
    answer
        .findings
        .iter()
        .try_for_each(|f| finding(&mut page, f))?;
    if let Some(undecided) = &answer.undecided {
        page.prose(&format!("Not decided: {undecided}"), 0, &plain)?;
    }
    page.space();
    if let Some(chart) = &answer.chart {
        charts.insert(&mut page, chart)?;
    }
    page.prose(&document.source, 0, &muted())?;
    page.finish()
}

fn finding(page: &mut Sheet, finding: &Finding) -> Result<(), XlsxError> {
    let label = match finding.label.as_str() {
        "" => String::new(),
        label => format!("{label}: "),
    };
    page.prose(&format!("{label}{}", finding.text), 0, &Format::new())
}

/// A section with its heading of that size in points, its parts below it.
fn write(
    page: &mut Sheet,
    section: &Section,
    points: f64,
    charts: &mut Data,
) -> Result<(), XlsxError> {
    page.heading(&section.title, points)?;
    for item in &section.items {
        match item {
            Item::Paragraph(text) => page.prose(text, 0, &Format::new())?,
            Item::List(texts) => {
                for text in texts {
                    page.prose(&format!("• {text}"), 0, &Format::new())?;
                }
            }
            Item::Facts(facts) => {
                for (name, text) in facts {
                    page.put(0, &CellValue::Text(name.clone()), &Format::new())?;
                    page.prose(text, 1, &Format::new())?;
                }
            }
            Item::Table(table) => page.table(table)?,
            Item::Chart(chart) => charts.insert(page, chart)?,
            Item::Finding(finding) => self::finding(page, finding)?,
            Item::Log(lines) => {
                let fixed = Format::new().set_font_name("Courier New");
                for line in lines {
                    page.sheet
                        .write_string_with_format(page.row, 0, excel(line), &fixed)?;
                    page.row += 1;
                }
            }
        }
        page.space();
    }
    let parts = section.sections.iter().filter(|s| !s.is_empty());
    for part in parts {
        write(page, part, f64::max(points - 2.0, 11.0), charts)?;
    }
    Ok(())
}

/// Every row, with a filter; values are in the unit beside them.
fn data(rows: &[Row]) -> Result<Worksheet, XlsxError> {
    let mut page = Sheet::new(DATA)?;
    page.headings(COLUMNS)?;
    for row in rows {
        let values = fields(row).map(|field| match field {
            Field::Words(words) => CellValue::Text(words),
            Field::Number(number) => value(number, &lab_model::Unit::Ratio),
            Field::Empty => CellValue::Blank,
        });
        page.row_of(values.iter(), &Format::new())?;
    }
    page.sheet.set_freeze_panes(1, 2)?;
    page.sheet
        .autofilter(0, 0, page.row.max(2) - 1, COLUMNS.len() as u16 - 1)?;
    page.finish()
}
