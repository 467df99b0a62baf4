// SPDX-License-Identifier: Apache-2.0
//! The answer's chart as a native Excel chart, with its values in a separate sheet.

use super::sheet::{CellValue, Sheet, color, excel, value, with_unit};
use crate::chart::{distribution_lines, drawable, stepped};
use crate::document::{Axis, Bars, Chart, Drawing, Lines, Quantity, Scale};
use crate::format::text::cut;
use crate::format::values::{flame_bars, forest_bars, listed, table, thinned};
use lab_model::Unit;
use rust_xlsxwriter::{
    Chart as NativeChart, ChartAxis, ChartAxisCrossing, ChartAxisLabelPosition, ChartErrorBars,
    ChartErrorBarsType, ChartPoint, ChartRange, ChartSeries, ChartSolidFill, ChartType, XlsxError,
};

/// The maximum number of points of a line.
const POINTS: usize = 400;

/// Inserts a chart into a page, and its values into the sheet of chart data.
///
/// A heat map is inserted as a table.
pub fn insert(page: &mut Sheet, data: &mut Sheet, chart: &Chart) -> Result<(), XlsxError> {
    match &chart.drawing {
        Drawing::Lines(lines) => draw_lines(page, data, chart, lines)?,
        Drawing::Distribution(distribution) => {
            draw_lines(page, data, chart, &rarity(distribution_lines(distribution)))?;
        }
        Drawing::Forest(forest) => {
            draw_bars(
                page,
                data,
                chart,
                &forest_bars(forest),
                Some(forest.reference),
            )?;
        }
        Drawing::Bars(bars) => draw_bars(page, data, chart, bars, None)?,
        Drawing::Flame(flame) => draw_bars(page, data, chart, &flame_bars(flame), None)?,
        Drawing::Heat(_) => return page.table(&table(chart)),
    }
    page.muted_prose(&chart.caption);
    Ok(())
}

fn draw_lines(
    page: &mut Sheet,
    data: &mut Sheet,
    chart: &Chart,
    lines: &Lines,
) -> Result<(), XlsxError> {
    let mut native = named(ChartType::ScatterStraightWithMarkers, chart);
    let [x, y] = [&lines.x, &lines.y].map(|axis| with_unit(&axis.title, &axis.unit));
    let mut is_drawn = false;
    for line in listed(lines) {
        let points = line.points.iter().cloned();
        let points =
            points.filter(|(x, y)| drawable(lines.x.scale, *x) && drawable(lines.y.scale, y.value));
        let points = thinned(&stepped(line, points.collect()), POINTS);
        if points.is_empty() {
            continue;
        }
        let rows = points
            .iter()
            .map(|(x, y)| [vec![value(*x, &lines.x.unit)], with_errors(y)].concat());
        let columns = block(data, &line.name, &[&x, &y, "below", "above"], rows)?;
        let series = native.add_series().set_name(safe(&line.name).as_str());
        series.set_categories(&columns[0]).set_values(&columns[1]);
        series.set_format(rust_xlsxwriter::ChartLine::new().set_color(color(line.color)));
        show_errors(series, &columns, ChartSeries::set_y_error_bars);
        is_drawn = true;
    }
    scale(native.x_axis(), &lines.x);
    scale(native.y_axis(), &lines.y);
    insert_chart(page, native, 21, is_drawn)
}

fn draw_bars(
    page: &mut Sheet,
    data: &mut Sheet,
    chart: &Chart,
    bars: &Bars,
    reference: Option<f64>,
) -> Result<(), XlsxError> {
    let mut native = named(ChartType::Bar, chart);
    let total = with_unit(&bars.axis.title, &bars.axis.unit);
    let mut group = "";
    let rows = bars.rows.iter().map(|row| {
        if !row.group.is_empty() {
            group = &row.group;
        }
        let name = [group, &row.name].map(|name| cut(name, 36));
        let name = name.join(": ").trim_start_matches(": ").to_owned();
        [vec![CellValue::Text(name)], with_errors(&row.total)].concat()
    });
    let rows: Vec<Vec<CellValue>> = rows.collect();
    let height = 6 + 4 * rows.len().clamp(2, 60) as u32 / 3;
    let is_drawn = !rows.is_empty();
    let columns = block(
        data,
        &chart.title,
        &["name", &total, "below", "above"],
        rows.into_iter(),
    )?;
    let fills = bars.rows.iter().map(|row| {
        let mut fill = ChartSolidFill::new();
        ChartPoint::new().set_format(fill.set_color(color(row.color)))
    });
    let fills: Vec<ChartPoint> = fills.collect();
    let series = native
        .add_series()
        .set_name(safe(&bars.axis.title).as_str());
    series.set_categories(&columns[0]).set_values(&columns[1]);
    series.set_points(&fills).set_gap(40);
    show_errors(series, &columns, ChartSeries::set_x_error_bars);
    native.legend().set_hidden();
    native
        .y_axis()
        .set_reverse()
        .set_label_position(ChartAxisLabelPosition::Low);
    scale(native.x_axis(), &bars.axis);
    if let Some(reference) = reference.filter(|at| drawable(bars.axis.scale, *at)) {
        native
            .x_axis()
            .set_crossing(ChartAxisCrossing::AxisValue(reference));
    }
    insert_chart(page, native, height, is_drawn)
}

fn named(kind: ChartType, source: &Chart) -> NativeChart {
    let mut chart = NativeChart::new(kind);
    chart.title().set_name(safe(&source.title).as_str());
    let caption: String = excel(&source.caption).chars().take(200).collect();
    chart.set_width(760).set_alt_text(caption);
    chart
}

/// Inserts a chart below the existing content. The chart is `rows` rows tall.
///
/// The library rejects a chart without series.
fn insert_chart(
    page: &mut Sheet,
    mut chart: NativeChart,
    rows: u32,
    is_drawn: bool,
) -> Result<(), XlsxError> {
    if !is_drawn {
        page.muted_prose("Nothing could be drawn.");
        return Ok(());
    }
    chart.set_height(20 * rows);
    page.sheet.insert_chart(page.row, 0, &chart)?;
    page.row += rows + 1;
    Ok(())
}

/// Writes rows under headings, and returns the cell ranges of the columns.
fn block(
    data: &mut Sheet,
    title: &str,
    headings: &[&str; 4],
    rows: impl Iterator<Item = Vec<CellValue>>,
) -> Result<[ChartRange; 4], XlsxError> {
    data.heading(title, 12.0)?;
    data.headings(headings.iter().copied())?;
    let first = data.row;
    for row in rows {
        data.row_of(&row)?;
    }
    let last = data.row.max(first + 1) - 1;
    data.space();
    Ok([0, 1, 2, 3]
        .map(|column| ChartRange::new_from_range(super::CHART_DATA, first, column, last, column)))
}

/// Returns a value, followed by the distances to its lower and upper bound.
fn with_errors(quantity: &Quantity) -> Vec<CellValue> {
    let errors = match quantity.bounds() {
        Some((low, high)) => {
            [quantity.value - low, high - quantity.value].map(|error| value(error, &quantity.unit))
        }
        None => [CellValue::Blank, CellValue::Blank],
    };
    [vec![value(quantity.value, &quantity.unit)], errors.to_vec()].concat()
}

fn show_errors(
    series: &mut ChartSeries,
    columns: &[ChartRange; 4],
    set: for<'s> fn(&'s mut ChartSeries, &ChartErrorBars) -> &'s mut ChartSeries,
) {
    let errors = ChartErrorBarsType::Custom(columns[3].clone(), columns[2].clone());
    set(series, ChartErrorBars::new().set_type(errors));
}

/// Sets the title, the number format and the scale of an axis.
fn scale(native: &mut ChartAxis, axis: &Axis) {
    let (format, log_base) = match axis.unit {
        Unit::Share => ("0 %", 10),
        Unit::Ratio | Unit::Count(_) => ("General", 2),
        _ => ("#,##0", 10),
    };
    native.set_name(safe(&with_unit(&axis.title, &axis.unit)).as_str());
    native.set_num_format(format);
    if axis.scale == Scale::Log {
        native
            .set_log_base(log_base)
            .set_crossing(ChartAxisCrossing::Min);
    }
}

/// Converts cumulative fractions to rarities, because a native axis cannot spread out percentages
/// near 100 %.
///
/// The rarity of a fraction is 1 / (1 - fraction).
fn rarity(lines: Lines) -> Lines {
    if lines.x.scale != Scale::Percentiles {
        return lines;
    }
    let title = "1 / (1 - cumulative fraction)";
    let mut rarity = Lines {
        x: Axis::new(title, Unit::Ratio, Scale::Log),
        ..lines
    };
    for (fraction, _) in rarity.lines.iter_mut().flat_map(|line| &mut line.points) {
        *fraction = 1.0 / (1.0 - *fraction);
    }
    rarity
}

/// Makes text safe for a chart, which interprets text as a cell reference if it begins with `=` or contains `!`.
fn safe(text: &str) -> String {
    let text: String = excel(text).chars().take(200).collect();
    let text = text.replace('!', "\u{FF01}");
    match text.strip_prefix('=') {
        Some(rest) => format!("\u{2060}={rest}"),
        None => text,
    }
}
