// SPDX-License-Identifier: Apache-2.0
//! A sheet before it is written: rows of text and numbers, headings that stay in sight, charts.

use rust_xlsxwriter::{Chart, Format, FormatAlign, Workbook, Worksheet, XlsxError};

/// Pixels of a line of text.
const LINE: u32 = 20;

/// Characters that a column of prose is wide.
const PROSE_WIDTH: f64 = 90.0;

/// A sheet before it is written: the first row holds the headings.
#[derive(Default)]
pub struct Sheet {
    /// Rows of cells; the first holds the headings unless this is prose.
    pub rows: Vec<Vec<Value>>,
    /// Columns that stay in sight.
    pub frozen: u16,
    /// Row, column, chart.
    pub charts: Vec<(u32, u16, Chart)>,
    /// Further rows that hold headings.
    pub headings: Vec<usize>,
    /// The first rows are wide text, not a table.
    pub prose: bool,
    /// Columns are no wider than this many characters; `None`: than is usual.
    pub widest: Option<u32>,
}

/// What a cell holds.
pub enum Value {
    /// Text, never a formula.
    Text(String),
    /// A finite number.
    Number(f64),
    /// Nothing.
    Blank,
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        if number.is_finite() {
            Value::Number(number)
        } else {
            Value::Blank
        }
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Value::Number(f64::from(number))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}

impl Sheet {
    /// A table with these headings.
    pub fn new(headings: &[&str], frozen: u16) -> Self {
        let row = headings.iter().map(|h| Value::from(*h)).collect();
        Sheet {
            rows: vec![row],
            frozen,
            ..Sheet::default()
        }
    }

    /// Adds the sheet to a workbook.
    pub fn write(self, workbook: &mut Workbook, name: &str) -> Result<(), XlsxError> {
        let heading = Format::new()
            .set_bold()
            .set_text_wrap()
            .set_align(FormatAlign::Top);
        let number = Format::new().set_num_format("#,##0.####");
        let beside = number.clone().set_align(FormatAlign::Left);
        let wrapped = Format::new().set_text_wrap().set_align(FormatAlign::Top);
        let sheet = workbook.add_worksheet().set_name(name)?;
        for (r, row) in self.rows.iter().enumerate() {
            for (c, value) in row.iter().enumerate() {
                let (r, c) = (r as u32, c as u16);
                let head = r == 0 && !self.prose || self.headings.contains(&(r as usize));
                match value {
                    Value::Text(text) if head => {
                        sheet.write_string_with_format(r, c, excel(text), &heading)?
                    }
                    Value::Text(text) if self.prose => {
                        sheet.write_string_with_format(r, c, excel(text), &wrapped)?
                    }
                    Value::Text(text) => sheet.write_string(r, c, excel(text))?,
                    Value::Number(n) if self.prose && c == 1 => {
                        sheet.write_number_with_format(r, c, *n, &beside)?
                    }
                    Value::Number(n) => sheet.write_number_with_format(r, c, *n, &number)?,
                    Value::Blank => sheet,
                };
            }
        }
        self.set_sizes(sheet)?;
        if !self.prose {
            sheet.set_freeze_panes(1, self.frozen)?;
        }
        for (row, column, chart) in &self.charts {
            sheet.insert_chart(*row, *column, chart)?;
        }
        Ok(())
    }

    fn set_sizes(&self, sheet: &mut Worksheet) -> Result<(), XlsxError> {
        sheet.set_landscape().set_print_fit_to_pages(1, 0);
        let first = (!self.prose).then_some(0);
        for row in first.into_iter().chain(self.headings.iter().copied()) {
            sheet.set_row_height_pixels(row as u32, 3 * LINE)?;
        }
        if self.prose {
            for (r, row) in self.rows.iter().enumerate() {
                if let Some(Value::Text(text)) = row.get(1) {
                    let lines = text.chars().count().div_ceil(PROSE_WIDTH as usize);
                    sheet.set_row_height_pixels(r as u32, LINE * lines.max(1) as u32)?;
                }
            }
        }
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        for c in 0..columns {
            let text = |row: &Vec<Value>| match row.get(c) {
                Some(Value::Text(text)) => text.chars().count(),
                Some(Value::Number(_)) => 11,
                _ => 0,
            };
            // Headings wrap, so they do not make a column wide.
            let cells = self.rows.iter().skip(1).map(text).max().unwrap_or(0);
            sheet.set_column_width(
                c as u16,
                (cells as f64 + 2.0).clamp(11.0, self.most_width()),
            )?;
        }
        Ok(())
    }
}

impl Sheet {
    fn most_width(&self) -> f64 {
        match self.widest {
            Some(width) => f64::from(width),
            None if self.prose => PROSE_WIDTH,
            None => 44.0,
        }
    }
}

/// A cell holds at most 32,767 characters (Excel specifications and limits).
fn excel(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control() || *c == '\n')
        .take(32_767)
        .collect()
}
