// SPDX-License-Identifier: Apache-2.0
//! The workbook's native charts, in the subjects' colours.

use crate::view::{Group, View};
use lab_model::SubjectId;
use rust_xlsxwriter::{
    Chart, ChartErrorBars, ChartErrorBarsType, ChartLine, ChartMarker, ChartMarkerType, ChartRange,
    ChartSolidFill, ChartType, Color,
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
    let (first, last) = (begin + 1, begin + group.points.len() as u32);
    for (i, &subject) in subjects.iter().enumerate() {
        let column = (1 + 3 * i) as u16;
        let range = |c: u16| ("Sweeps", first, c, last, c);
        let colour = colour(view, subject);
        let mut marker = ChartMarker::new();
        marker.set_type(ChartMarkerType::Circle).set_size(6);
        marker.set_format(ChartSolidFill::new().set_color(colour));
        let half = |c: u16| ChartRange::new_from_range("Sweeps", first, c, last, c);
        let bars = ChartErrorBarsType::Custom(half(column + 2), half(column + 1));
        let series = chart.add_series().set_name(view.name(subject));
        series.set_categories(range(0)).set_values(range(column));
        series
            .set_format(ChartLine::new().set_color(colour).set_width(1.75))
            .set_marker(&marker);
        series.set_y_error_bars(ChartErrorBars::new().set_type(bars));
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

pub fn colour(view: &View, subject: SubjectId) -> Color {
    let (r, g, b) = crate::plot::colour_of(view, subject);
    Color::RGB(u32::from(r) << 16 | u32::from(g) << 8 | u32::from(b))
}
