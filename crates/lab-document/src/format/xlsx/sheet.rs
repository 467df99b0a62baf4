// SPDX-License-Identifier: Apache-2.0
//! A sheet that is filled from top to bottom, with text and with tables of typed columns.

use crate::chart::{rgb, tone_number};
use crate::document::{Cell, CellContent, Quantity, Table, Tone, unit_name};
use crate::format::quantity;
use crate::format::text::wrap;
use lab_model::Unit;
use rust_xlsxwriter::{Color, Format, FormatAlign, Worksheet, XlsxError};

/// The maximum length of a line of prose, in characters.
const PROSE: usize = 110;
/// The maximum width of a column, in pixels.
const MAX_WIDTH: u32 = 320;

/// A sheet that is being filled.
pub struct Sheet {
    /// The worksheet, to which all rows are written.
    pub sheet: Worksheet,
    /// The next free row.
    pub row: u32,
    /// Text that spans multiple columns. It is written last, so that it does not affect column widths.
    prose: Vec<(u32, u16, String, Format)>,
}

/// The value of a cell.
#[derive(Clone)]
pub enum CellValue {
    /// Text, which is never treated as a formula.
    Text(String),
    /// A number with its number format.
    Number(f64, String),
    /// An empty cell.
    Blank,
}

impl Sheet {
    /// Creates an empty sheet.
    pub fn new(name: &str) -> Result<Sheet, XlsxError> {
        let mut sheet = Worksheet::new();
        sheet.set_name(name)?;
        Ok(Sheet {
            sheet,
            row: 0,
            prose: Vec::new(),
        })
    }

    /// Adds a heading with a font size in points.
    pub fn heading(&mut self, text: &str, points: f64) -> Result<(), XlsxError> {
        let format = Format::new().set_bold().set_font_size(points);
        self.line(0, text.into(), format);
        Ok(())
    }

    /// Adds wrapped text that starts in the given column.
    pub fn prose(&mut self, text: &str, column: u16) {
        for line in wrap(text, PROSE) {
            self.line(column, line, Format::new());
        }
    }

    /// Adds explanatory text.
    pub fn muted_prose(&mut self, text: &str) {
        for line in wrap(text, PROSE) {
            self.line(0, line, muted());
        }
    }

    /// Adds the lines of a log.
    pub fn log(&mut self, lines: &[String]) {
        for line in lines {
            let fixed = Format::new().set_font_name("Courier New");
            self.line(0, line.clone(), fixed);
        }
    }

    fn line(&mut self, column: u16, text: String, format: Format) {
        self.prose.push((self.row, column, text, format));
        self.row += 1;
    }

    /// Adds an empty row.
    pub fn space(&mut self) {
        self.row += 1;
    }

    /// Writes a value to the current row.
    pub fn put(
        &mut self,
        column: u16,
        value: &CellValue,
        format: &Format,
    ) -> Result<(), XlsxError> {
        match value {
            CellValue::Text(text) => {
                self.sheet
                    .write_string_with_format(self.row, column, excel(text), format)?;
            }
            CellValue::Number(number, shown) => {
                let format = format.clone().set_num_format(shown);
                self.sheet
                    .write_number_with_format(self.row, column, *number, &format)?;
            }
            CellValue::Blank => {}
        }
        Ok(())
    }

    /// Adds a row of values.
    pub fn row_of(&mut self, values: &[CellValue]) -> Result<(), XlsxError> {
        for (column, value) in (0..).zip(values) {
            self.put(column, value, &Format::new())?;
        }
        self.row += 1;
        Ok(())
    }

    /// Adds a row of headings with wrapped text.
    pub fn headings<'h>(
        &mut self,
        headings: impl IntoIterator<Item = &'h str>,
    ) -> Result<(), XlsxError> {
        let format = Format::new()
            .set_bold()
            .set_text_wrap()
            .set_align(FormatAlign::Top);
        for (column, text) in (0..).zip(headings) {
            self.sheet
                .write_string_with_format(self.row, column, excel(text), &format)?;
        }
        self.sheet.set_row_height_pixels(self.row, 40)?;
        self.row += 1;
        Ok(())
    }

    /// Adds a table with its title, its caption and its notes.
    pub fn table(&mut self, table: &Table) -> Result<(), XlsxError> {
        if !table.title.is_empty() {
            self.heading(&table.title, 12.0)?;
        }
        self.muted_prose(&table.caption);
        let columns: Vec<ColumnParts> = (0..table.columns.len())
            .map(|i| ColumnParts::new(table, i))
            .collect();
        let headings: Vec<String> = columns
            .iter()
            .flat_map(|parts| parts.headings(table))
            .collect();
        self.headings(headings.iter().map(String::as_str))?;
        for row in &table.rows {
            let mut column = 0;
            for parts in &columns {
                if let Some(cell) = row.get(parts.column) {
                    let values = parts.values(cell);
                    for (value, index) in values.iter().zip(column..) {
                        self.put(index, value, &tone_format(cell.tone))?;
                    }
                    column += values.len() as u16;
                }
            }
            self.row += 1;
        }
        for note in &table.notes {
            self.muted_prose(note);
        }
        Ok(())
    }

    /// Returns the finished sheet. Each column is as wide as its content.
    pub fn finish(mut self) -> Result<Worksheet, XlsxError> {
        self.sheet.set_autofit_max_width(MAX_WIDTH).autofit();
        for (row, column, text, format) in &self.prose {
            self.sheet
                .write_string_with_format(*row, *column, excel(text), format)?;
        }
        self.sheet.set_landscape().set_print_fit_to_pages(1, 0);
        Ok(self.sheet)
    }
}

/// The sheet columns that represent one column of a table.
struct ColumnParts {
    column: usize,
    /// True if the cells have different units, so that the units need a separate column.
    units: bool,
    bounds: bool,
    notes: bool,
}

impl ColumnParts {
    fn new(table: &Table, column: usize) -> ColumnParts {
        let cells = || table.rows.iter().filter_map(|row| row.get(column));
        let quantities = || cells().filter_map(|cell| cell.content.quantity());
        ColumnParts {
            column,
            units: table.columns[column].unit.is_none() && quantities().next().is_some(),
            bounds: quantities().any(|q| q.bounds().is_some()),
            notes: cells().any(|cell| !cell.note.is_empty()),
        }
    }

    fn headings(&self, table: &Table) -> Vec<String> {
        let column = &table.columns[self.column];
        let title = &column.title;
        let mut headings = vec![match &column.unit {
            Some(unit) => with_unit(title, unit),
            None => title.clone(),
        }];
        if self.units {
            headings.push(format!("{title}: unit"));
        }
        if self.bounds {
            let cells = table.rows.iter().filter_map(|row| row.get(self.column));
            let mut levels = cells
                .filter_map(|cell| cell.content.quantity())
                .filter_map(Quantity::interval)
                .map(|[_, _, level]| level);
            let first = levels.next().unwrap_or(0.0);
            let level = if levels.all(|level| level == first) {
                format!(", {}", quantity::level(first))
            } else {
                String::new()
            };
            headings.extend(["low", "high"].map(|end| format!("{title}: {end}{level}")));
        }
        if self.notes {
            headings.push(format!("{title}: note"));
        }
        headings
    }

    fn values(&self, cell: &Cell) -> Vec<CellValue> {
        let quantity = cell.content.quantity();
        let mut values = vec![match &cell.content {
            CellContent::Empty => CellValue::Blank,
            CellContent::Words(words) => CellValue::Text(words.clone()),
            CellContent::Quantity(quantity) => value(quantity.value, &quantity.unit),
        }];
        if self.units {
            values.push(quantity.map_or(CellValue::Blank, |q| CellValue::Text(unit_name(&q.unit))));
        }
        if self.bounds {
            values.extend(match quantity.and_then(|q| Some((q.bounds()?, &q.unit))) {
                Some(((low, high), unit)) => [value(low, unit), value(high, unit)],
                None => [CellValue::Blank, CellValue::Blank],
            });
        }
        if self.notes {
            values.push(CellValue::Text(cell.note.clone()));
        }
        values
    }
}

/// Converts a number in a unit to a cell value. The cell is blank if the number is not finite.
pub fn value(number: f64, unit: &Unit) -> CellValue {
    if number.is_finite() {
        CellValue::Number(number, number_format(number, unit))
    } else {
        CellValue::Blank
    }
}

/// Returns a number format with about four digits and thousands separators.
fn number_format(number: f64, unit: &Unit) -> String {
    let format = match (unit, number.abs()) {
        (Unit::Share, _) => "0.0 %",
        (_, n) if n >= 1e12 => "0.000E+0",
        (_, n) if n >= 1e3 || n.fract() == 0.0 => "#,##0",
        (_, n) if n >= 100.0 => "0.0",
        (_, n) if n >= 10.0 => "0.00",
        (_, n) if n >= 0.1 => "0.000",
        (_, n) if n >= 1e-3 => "0.0000",
        _ => "0.000E+0",
    };
    format.into()
}

/// Appends the unit to a title: `time (ns)`. Fractions and ratios have no unit.
pub fn with_unit(title: &str, unit: &Unit) -> String {
    match unit {
        Unit::Share | Unit::Ratio => title.into(),
        Unit::Count(name) if title.contains(name.as_ref()) => title.into(),
        _ => format!("{title} ({})", unit_name(unit)),
    }
}

/// Returns the format of explanatory text.
fn muted() -> Format {
    Format::new().set_font_color("#57606A")
}

fn tone_format(tone: Tone) -> Format {
    match tone {
        Tone::Plain => Format::new(),
        tone => Format::new().set_font_color(color(tone_number(tone))),
    }
}

/// Truncates text to the maximum length of a cell, 32,767 characters (Excel specifications and limits).
pub fn excel(text: &str) -> String {
    let legal = |c: &char| (!c.is_control() || *c == '\n') && !matches!(c, '\u{FFFE}' | '\u{FFFF}');
    text.chars().filter(legal).take(32_767).collect()
}

/// Returns a sheet name that is valid in Excel and not in `taken`.
///
/// A name has at most 31 characters, contains none of `[]:*?/\'`, is not `History`, and differs
/// from all other names regardless of case.
pub fn sheet_name(title: &str, taken: &[String]) -> String {
    // An apostrophe is valid in Excel, but the library does not escape it in a chart's cell references.
    let legal = excel(title).replace(['\'', '[', ']', ':', '*', '?', '/', '\\', '\n'], " ");
    let short = |room: usize| -> String {
        // Excel counts UTF-16 code units.
        let mut units = 0;
        let fits = |c: &char| {
            units += c.len_utf16();
            units <= room
        };
        let name: String = legal.chars().take_while(fits).collect();
        name.trim().into()
    };
    let free = |name: &String| {
        let same = |other: &String| other.to_lowercase() == name.to_lowercase();
        !name.is_empty() && !same(&"History".into()) && !taken.iter().any(same)
    };
    let numbered = (2..).map(|n| format!("{} {n}", short(26)).trim().to_owned());
    let mut names = std::iter::once(short(31)).chain(numbered);
    names.find(free).unwrap_or_default()
}

/// Returns the color for a color index.
pub fn color(number: usize) -> Color {
    let (r, g, b) = rgb(number);
    Color::RGB(u32::from(r) << 16 | u32::from(g) << 8 | u32::from(b))
}
