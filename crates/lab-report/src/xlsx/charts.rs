// SPDX-License-Identifier: Apache-2.0
//! The workbook's native charts, in the subjects' colours.

use crate::view::{Group, View};
use lab_model::SubjectId;
use rust_xlsxwriter::{
    Chart, ChartErrorBars, ChartErrorBarsType, ChartLegendPosition, ChartLine, ChartLineDashType,
    ChartMarker, ChartMarkerType, ChartRange, ChartSolidFill, ChartType, Color,
};

pub fn sweep_chart(view: &View, group: &Group, subjects: &[SubjectId], begin: u32) -> Chart {
    let mut chart = Chart::new(ChartType::ScatterStraightWithMarkers);
    let sweep = view.plan.cases[group.case].sweep.as_deref().unwrap_or("");
    let time = format!("time {}", view.words.per_operation);
    let label = view.group_label(group);
    chart
        .title()
        .set_name(if label.is_empty() { &time } else { &label });
    chart.x_axis().set_name(sweep).set_log_base(10);
    chart
        .y_axis()
        .set_name(&format!("{time} (ns)"))
        .set_log_base(10);
    chart
        .set_width(720)
        .set_height(420)
        .set_alt_text(format!("{time} against {sweep}, both axes logarithmic"));
    let rows = (begin + 1, begin + group.points.len() as u32);
    add_lines(&mut chart, view, "Sweeps", subjects, rows);
    chart
}

/// Throughput against the sweep, which is logarithmic; the table is on the sheet of that name.
pub fn throughput_chart(
    view: &View,
    group: &Group,
    subjects: &[SubjectId],
    (sheet, begin): (&str, u32),
) -> Chart {
    let mut chart = Chart::new(ChartType::ScatterStraightWithMarkers);
    let sweep = view.plan.cases[group.case].sweep.as_deref().unwrap_or("");
    chart
        .title()
        .set_name(&view.group_title(group, "throughput"));
    chart.x_axis().set_name(sweep).set_log_base(2);
    chart
        .y_axis()
        .set_name(&format!("{}s per second", view.words.operation))
        .set_min(0.0);
    chart.set_width(720).set_height(420).set_alt_text(format!(
        "{}s per second against {sweep}",
        view.words.operation
    ));
    let rows = (begin + 1, begin + group.points.len() as u32);
    add_lines(&mut chart, view, sheet, subjects, rows);
    chart
}

/// A series for each subject, of which a sheet has the value and the two halves of its interval.
fn add_lines(
    chart: &mut Chart,
    view: &View,
    sheet: &str,
    subjects: &[SubjectId],
    (first, last): (u32, u32),
) {
    for (i, &subject) in subjects.iter().enumerate() {
        let column = (1 + 3 * i) as u16;
        let range = |c: u16| (sheet, first, c, last, c);
        let colour = colour(view, subject);
        let mut marker = ChartMarker::new();
        marker.set_type(ChartMarkerType::Circle).set_size(6);
        marker.set_format(ChartSolidFill::new().set_color(colour));
        let half = |c: u16| ChartRange::new_from_range(sheet, first, c, last, c);
        let bars = ChartErrorBarsType::Custom(half(column + 2), half(column + 1));
        let series = chart.add_series().set_name(view.name(subject));
        series.set_categories(range(0)).set_values(range(column));
        series
            .set_format(line(view, subject).set_width(1.75))
            .set_marker(&marker);
        series.set_y_error_bars(ChartErrorBars::new().set_type(bars));
    }
}

/// Stacked bars of the parts of a point's time: names in the first column, parts from the fourth.
pub fn part_chart(sheet: &str, title: &str, (first, last): (u32, u32), height: u32) -> Chart {
    let mut chart = Chart::new(ChartType::BarStacked);
    chart.title().set_name(title);
    chart.x_axis().set_name("ns per operation").set_min(0.0);
    chart.y_axis().set_reverse();
    chart.legend().set_position(ChartLegendPosition::Bottom);
    chart
        .set_width(620)
        .set_height(height)
        .set_alt_text(format!("{title}: client's CPU, server's CPU and waiting"));
    for (part, name) in ["client's CPU", "server's CPU", "waiting"]
        .iter()
        .enumerate()
    {
        let column = 3 + part as u16;
        let (r, g, b) = crate::plot::colour_of_part(part);
        let fill = Color::RGB(u32::from(r) << 16 | u32::from(g) << 8 | u32::from(b));
        let series = chart.add_series().set_name(*name);
        series
            .set_format(ChartSolidFill::new().set_color(fill))
            .set_gap(40);
        series
            .set_categories((sheet, first, 0, last, 0))
            .set_values((sheet, first, column, last, column));
    }
    chart
}

pub fn bar_chart(title: &str, unit: &str) -> Chart {
    let mut chart = Chart::new(ChartType::Bar);
    chart.title().set_name(title);
    // A bar chart lies on its side: its x axis is the one of the values.
    chart.x_axis().set_name(unit).set_min(0.0);
    chart.y_axis().set_reverse();
    chart
        .set_width(720)
        .set_height(360)
        .set_alt_text(format!("{title}, {unit}"));
    chart
}

/// A subject's line: of servers that the lab started, the dashes tell those of one language apart.
pub fn line(view: &View, subject: SubjectId) -> ChartLine {
    const DASHES: [ChartLineDashType; 5] = [
        ChartLineDashType::Solid,
        ChartLineDashType::Dash,
        ChartLineDashType::SquareDot,
        ChartLineDashType::RoundDot,
        ChartLineDashType::DashDot,
    ];
    let mut line = ChartLine::new();
    line.set_color(colour(view, subject));
    if view.plan.serving().is_some() {
        let (_, dash) = crate::plot::served::look_of(view, subject);
        line.set_dash_type(DASHES[dash % DASHES.len()]);
    }
    line
}

pub fn colour(view: &View, subject: SubjectId) -> Color {
    let (r, g, b) = match view.plan.serving() {
        Some(_) => crate::plot::served::look_of(view, subject).0,
        None => crate::plot::colour_of(view, subject),
    };
    Color::RGB(u32::from(r) << 16 | u32::from(g) << 8 | u32::from(b))
}
