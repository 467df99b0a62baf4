// SPDX-License-Identifier: Apache-2.0
//! Charts as native ones: what they draw is on a sheet of its own, where it can be read and changed.

use super::native::{self, Native};
use super::sheet::{CellValue, Sheet, colour, muted, sheet_name, value, with_unit};
use crate::chart::{distribution_lines, drawable, heat_shares, panels, reach, stepped};
use crate::document::*;
use crate::format::text::cut;
use crate::format::values::{flame_bars, forest_bars, thinned};
use lab_model::Unit;
use rust_xlsxwriter::{
    ChartErrorBars, ChartErrorBarsType, ChartPoint, ChartRange, ChartType,
    ConditionalFormat2ColorScale, Format, Worksheet, XlsxError,
};

/// Points of a curve at the most.
const POINTS: usize = 400;

/// The sheet of what the charts draw.
pub struct Data {
    name: &'static str,
    page: Sheet,
    /// The names of all sheets so far.
    names: Vec<String>,
    /// Heat maps.
    maps: Vec<Worksheet>,
}

/// Columns under headings, by their numbers.
type Columns = Box<dyn Fn(u16) -> ChartRange>;

impl Data {
    /// With the names of other sheets that there will be.
    pub fn new(name: &'static str, others: &[&str]) -> Result<Data, XlsxError> {
        let names = others.iter().chain([&name]).map(|name| (*name).to_owned());
        Ok(Data {
            name,
            page: Sheet::new(name)?,
            names: names.collect(),
            maps: Vec::new(),
        })
    }

    /// A name for a further sheet.
    pub fn sheet_name(&mut self, title: &str) -> String {
        let name = sheet_name(title, &self.names);
        self.names.push(name.clone());
        name
    }

    /// The sheets of heat maps, and that of data, if any chart has some.
    pub fn finish(self) -> Result<Vec<Worksheet>, XlsxError> {
        let mut sheets = self.maps;
        if self.page.row > 0 {
            sheets.push(self.page.finish()?);
        }
        Ok(sheets)
    }

    /// Adds a chart to a page, with its caption below it.
    pub fn insert(&mut self, page: &mut Sheet, chart: &Chart) -> Result<(), XlsxError> {
        match &chart.drawing {
            Drawing::Lines(lines) => self.lines(page, chart, lines)?,
            Drawing::Bars(bars) => self.bars(page, chart, bars)?,
            Drawing::Forest(forest) => {
                let bars = forest_bars(forest);
                self.bar_panel(page, chart, &bars, &bars.rows, Some(forest.reference))?;
            }
            Drawing::Heat(maps) => self.heat(page, chart, maps)?,
            Drawing::Distribution(distribution) => {
                self.lines(page, chart, &rarer(distribution_lines(distribution)))?;
            }
            Drawing::Flame(flame) => {
                let bars = flame_bars(flame);
                self.bar_panel(page, chart, &bars, &bars.rows, None)?;
            }
        }
        page.prose(&chart.caption, 0, &muted())
    }

    /// Writes a block: headings above, rows below.
    fn block(
        &mut self,
        title: &str,
        headings: &[&str],
        rows: &[Vec<CellValue>],
    ) -> Result<Columns, XlsxError> {
        self.page.heading(title, 12.0)?;
        self.page.headings(headings.iter().copied())?;
        let first = self.page.row;
        for row in rows {
            self.page.row_of(row.iter(), &Format::new())?;
        }
        let last = self.page.row.max(first + 1) - 1;
        self.page.space();
        let name = self.name;
        Ok(Box::new(move |column| {
            ChartRange::new_from_range(name, first, column, last, column)
        }))
    }

    fn lines(&mut self, page: &mut Sheet, chart: &Chart, lines: &Lines) -> Result<(), XlsxError> {
        let mut native = Native::new(ChartType::ScatterStraight, chart, 420);
        let x = with_unit(&lines.x.title, &lines.x.unit);
        let y = with_unit(&lines.y.title, &lines.y.unit);
        let mut names: Vec<&str> = Vec::new();
        for line in &lines.lines {
            let points = line
                .points
                .iter()
                .filter(|(x, y)| drawable(lines.x.scale, *x) && drawable(lines.y.scale, y.value));
            let points = thinned(&stepped(line, points.cloned().collect()), POINTS);
            let rows = points.iter().map(|(x, y)| {
                let [below, above] = match line.band {
                    Band::Shown => halves(y),
                    Band::Hidden => [CellValue::Blank, CellValue::Blank],
                };
                let point = [value(*x, &lines.x.unit), value(y.value, &lines.y.unit)];
                point.into_iter().chain([below, above]).collect()
            });
            let rows: Vec<Vec<CellValue>> = rows.collect();
            if rows.is_empty() {
                continue;
            }
            let title = format!("{}: {}", chart.title, line.name);
            let columns = self.block(&title, &[&x, &y, "below", "above"], &rows)?;
            names.push(&line.name);
            let series = native.series(&line.name, &columns(0), &columns(1));
            native::draw_line(series, line, rows.len());
            if line.band == Band::Shown && line.stroke == Stroke::Measured {
                let bars = ChartErrorBarsType::Custom(columns(3), columns(2));
                let mut thin = native::stroke(colour(line.colour), 0.75);
                series.set_y_error_bars(ChartErrorBars::new().set_type(bars).set_format(&mut thin));
            }
        }
        native.name_once(&names);
        let points = || lines.lines.iter().flat_map(|line| &line.points);
        let xs = points().map(|(x, _)| *x);
        let ys = points().flat_map(|(_, y)| reach(y, lines.y.scale));
        native.scale_both((&lines.x, xs), (&lines.y, ys));
        native.place(page, !names.is_empty())
    }

    /// A chart for all rows, or one for each panel where panels have scales of their own.
    fn bars(&mut self, page: &mut Sheet, chart: &Chart, bars: &Bars) -> Result<(), XlsxError> {
        let (panels, have_own_scales) = panels(bars);
        let all_rows = [bars.rows.as_slice()];
        for rows in if have_own_scales {
            panels.as_slice()
        } else {
            &all_rows
        } {
            let group = rows.first().map_or("", |row| row.group.as_str());
            let title = if have_own_scales && !group.is_empty() {
                format!("{}: {group}", chart.title)
            } else {
                chart.title.clone()
            };
            let chart = Chart {
                title,
                ..chart.clone()
            };
            self.bar_panel(page, &chart, bars, rows, None)?;
        }
        Ok(())
    }

    fn bar_panel(
        &mut self,
        page: &mut Sheet,
        chart: &Chart,
        bars: &Bars,
        rows: &[BarRow],
        reference: Option<f64>,
    ) -> Result<(), XlsxError> {
        let unit = &bars.axis.unit;
        let total = with_unit(&bars.axis.title, unit);
        let parts = bars.parts.iter().map(|(name, _)| with_unit(name, unit));
        let parts: Vec<String> = parts.collect();
        let mut headings = vec!["name", &total, "below", "above"];
        headings.extend(parts.iter().map(String::as_str));
        let columns = self.block(&chart.title, &headings, &bar_cells(bars, rows))?;
        let kind = if bars.parts.is_empty() {
            ChartType::Bar
        } else {
            ChartType::BarStacked
        };
        let mut native = Native::horizontal(kind, chart, rows.len());
        if bars.parts.is_empty() {
            let points = rows.iter().map(|row| {
                let mut fill = native::fill(colour(row.colour));
                ChartPoint::new().set_format(&mut fill)
            });
            let points: Vec<ChartPoint> = points.collect();
            let intervals = ChartErrorBarsType::Custom(columns(3), columns(2));
            let series = native.series(&bars.axis.title, &columns(0), &columns(1));
            series.set_points(&points).set_gap(40);
            series.set_x_error_bars(ChartErrorBars::new().set_type(intervals));
            native.hide_legend();
        }
        for (column, (name, number)) in (4..).zip(&bars.parts) {
            let series = native.series(name, &columns(0), &columns(column));
            series.set_gap(40);
            series.set_format(&mut native::fill(colour(*number)));
        }
        let totals = rows
            .iter()
            .flat_map(|row| reach(&row.total, bars.axis.scale));
        native.scale_values(&bars.axis, totals.chain(reference));
        if let Some(reference) = reference.filter(|at| drawable(bars.axis.scale, *at)) {
            native.cross_at(reference);
        }
        native.place(page, !rows.is_empty())
    }

    /// A sheet of tables whose cells are coloured by the part of their column's values.
    fn heat(&mut self, page: &mut Sheet, chart: &Chart, maps: &HeatMaps) -> Result<(), XlsxError> {
        let name = self.sheet_name(&chart.title);
        let reference = format!("{}: see the sheet \u{201c}{name}\u{201d}.", chart.title);
        page.prose(&reference, 0, &Format::new())?;
        let mut sheet = Sheet::new(&name)?;
        sheet.heading(&chart.title, 14.0)?;
        sheet.prose(&chart.caption, 0, &muted())?;
        let (rows, shares) = heat_shares(maps);
        let axis = with_unit(&maps.axis.title, &maps.axis.unit);
        for (map, columns) in maps.maps.iter().zip(shares) {
            sheet.space();
            let heading = format!(
                "{}: part of the values of each column ({})",
                map.name, maps.columns
            );
            sheet.heading(&heading, 11.0)?;
            let labels = map.columns.iter().map(|column| column.label.as_str());
            sheet.headings(std::iter::once(axis.as_str()).chain(labels))?;
            let first = sheet.row;
            for (i, from) in rows.iter().enumerate().rev() {
                let share = |column: &[f64]| {
                    if column[i] > 0.0 {
                        value(column[i], &Unit::Share)
                    } else {
                        CellValue::Blank
                    }
                };
                sheet.put(0, &value(*from, &maps.axis.unit), &muted())?;
                let shares: Vec<CellValue> = columns.iter().map(|c| share(c)).collect();
                for (place, share) in (1..).zip(&shares) {
                    sheet.put(place, share, &Format::new())?;
                }
                sheet.row += 1;
            }
            if !columns.is_empty() {
                let scale = ConditionalFormat2ColorScale::new()
                    .set_minimum_color("#F5F7F9")
                    .set_maximum_color(colour(map.colour));
                let (row, column) = (sheet.row - 1, columns.len() as u16);
                let page = &mut sheet.sheet;
                page.add_conditional_format(first, 1, row, column, &scale)?;
            }
        }
        self.maps.push(sheet.finish()?);
        Ok(())
    }
}

/// Names, lengths with their intervals, and parts.
fn bar_cells(bars: &Bars, rows: &[BarRow]) -> Vec<Vec<CellValue>> {
    let unit = &bars.axis.unit;
    let part = |row: &BarRow, part: usize| {
        let values = row.parts.iter().filter(|p| p.part == part);
        value(values.map(|p| p.value.value).sum(), unit)
    };
    let other = |row: &BarRow| !row.group.is_empty() && row.group != rows[0].group;
    let several = rows.iter().any(other);
    let mut group = "";
    let cells = rows.iter().map(|row| {
        if several && !row.group.is_empty() {
            group = &row.group;
        }
        let [below, above] = halves(&row.total);
        let name = CellValue::Text(full_name(group, &row.name));
        let parts = (0..bars.parts.len()).map(|i| part(row, i));
        let row = [name, value(row.total.value, unit), below, above];
        row.into_iter().chain(parts).collect()
    });
    cells.collect()
}

/// Where shares are spread out towards 1, which no native axis can do, how rare is what lies beyond.
fn rarer(lines: Lines) -> Lines {
    if lines.x.scale != Scale::Percentiles {
        return lines;
    }
    let title = "1 / (1 - part of all that is no greater)";
    let mut rarer = Lines {
        x: Axis::new(title, Unit::Ratio, Scale::Log),
        ..lines
    };
    for (share, _) in rarer.lines.iter_mut().flat_map(|line| &mut line.points) {
        *share = 1.0 / (1.0 - *share);
    }
    rarer
}

/// How far the bounds are below and above a value.
fn halves(quantity: &Quantity) -> [CellValue; 2] {
    match quantity.bounds() {
        Some((low, high)) => {
            let halves = [quantity.value - low, high - quantity.value];
            halves.map(|half| value(half, &quantity.unit))
        }
        None => [CellValue::Blank, CellValue::Blank],
    }
}

/// A row's name behind its group's, both cut.
fn full_name(group: &str, name: &str) -> String {
    let name = cut(name, 36);
    match group {
        "" => name,
        group => format!("{}: {name}", cut(group, 24)),
    }
}
