// SPDX-License-Identifier: Apache-2.0
//! A native chart of a workbook: its axes, its series and its colours.

use super::sheet::{Sheet, colour, excel, muted};
use crate::chart::drawable;
use crate::document::{Axis, Chart, Line, Scale, Stroke, unit_name};
use lab_model::Unit;
use rust_xlsxwriter::{
    Chart as NativeChart, ChartAxis, ChartAxisCrossing, ChartAxisLabelPosition, ChartFont,
    ChartLegendPosition, ChartLine, ChartLineDashType, ChartMarker, ChartMarkerType, ChartRange,
    ChartSeries, ChartSolidFill, ChartType, Color, XlsxError,
};

/// Pixels.
const WIDTH: u32 = 760;

/// A chart in the making.
pub struct Native {
    chart: NativeChart,
    /// In pixels.
    height: u32,
}

impl Native {
    /// Of a height in pixels.
    pub fn new(kind: ChartType, source: &Chart, height: u32) -> Native {
        let mut chart = NativeChart::new(kind);
        chart.title().set_name(safe(&source.title).as_str());
        chart.title().set_font(ChartFont::new().set_size(12));
        chart.legend().set_position(ChartLegendPosition::Bottom);
        let text: String = excel(&source.caption).chars().take(200).collect();
        chart.set_width(WIDTH).set_height(height).set_alt_text(text);
        Native { chart, height }
    }

    /// With so many bars that lie one below the other: the x axis is the one of the values.
    pub fn horizontal(kind: ChartType, source: &Chart, bars: usize) -> Native {
        let mut native = Native::new(kind, source, 120 + 26 * bars.clamp(2, 60) as u32);
        let small = ChartFont::new().set_size(8).clone();
        let values = native.chart.x_axis();
        values.set_label_position(ChartAxisLabelPosition::High);
        let names = native.chart.y_axis();
        names.set_reverse().set_label_interval(1).set_font(&small);
        names.set_label_position(ChartAxisLabelPosition::Low);
        native
    }

    /// A further series.
    pub fn series(&mut self, name: &str, x: &ChartRange, y: &ChartRange) -> &mut ChartSeries {
        let series = self.chart.add_series().set_name(safe(name).as_str());
        series.set_categories(x).set_values(y)
    }

    /// Names of series that come again are not in the legend again.
    pub fn name_once(&mut self, names: &[&str]) {
        let again = |i: &usize| names[..*i].contains(&names[*i]);
        let again: Vec<usize> = (0..names.len()).filter(again).collect();
        self.chart.legend().delete_entries(&again);
    }

    /// Without a legend.
    pub fn hide_legend(&mut self) {
        self.chart.legend().set_hidden();
    }

    /// The ends and titles of both axes.
    pub fn scale_both(
        &mut self,
        (x, xs): (&Axis, impl Iterator<Item = f64>),
        (y, ys): (&Axis, impl Iterator<Item = f64>),
    ) {
        scaled(self.chart.x_axis(), x, xs);
        scaled(self.chart.y_axis(), y, ys);
    }

    /// Those of the axis of values, where bars lie.
    pub fn scale_values(&mut self, axis: &Axis, values: impl Iterator<Item = f64>) {
        scaled(self.chart.x_axis(), axis, values);
    }

    /// The line at a reference.
    pub fn cross_at(&mut self, reference: f64) {
        let at = ChartAxisCrossing::AxisValue(reference);
        self.chart.x_axis().set_crossing(at);
    }

    /// Puts it below what there is; one without series would be refused.
    pub fn place(&self, page: &mut Sheet, drawn: bool) -> Result<(), XlsxError> {
        if drawn {
            page.chart(&self.chart, self.height)
        } else {
            page.prose("Nothing could be drawn.", 0, &muted())
        }
    }
}

/// How a line of so many points looks.
pub fn draw_line(series: &mut ChartSeries, line: &Line, points: usize) {
    let colour = colour(line.colour);
    let mut format = stroke(colour, 1.75);
    if line.stroke == Stroke::Model {
        format.set_dash_type(ChartLineDashType::Dash).set_width(1.0);
    }
    series.set_format(&mut format);
    let mut marker = ChartMarker::new();
    if line.stroke == Stroke::Measured && points <= 40 {
        marker.set_type(ChartMarkerType::Circle).set_size(6)
    } else {
        marker.set_none()
    };
    series.set_marker(marker.set_format(&mut fill(colour)));
}

/// An axis with its title, its unit and its ends. Numbers of ns and bytes are shown in thousands, millions or
/// thousand millions of them.
fn scaled(native: &mut ChartAxis, axis: &Axis, values: impl Iterator<Item = f64>) {
    let values = values.filter(|v| drawable(axis.scale, *v));
    let (least, most) = values.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), v| {
        (low.min(v), high.max(v))
    });
    let thousands = [2e3, 2e6, 2e9].iter().filter(|step| most >= **step).count();
    let scaled = |names: [&str; 4]| {
        let format = format!("#,##0.###{}", ",".repeat(thousands));
        (Some(names[thousands].to_owned()), format)
    };
    let (name, format) = match &axis.unit {
        Unit::Nanoseconds => scaled(["ns", "µs", "ms", "s"]),
        Unit::Bytes => scaled(["bytes", "kB", "MB", "GB"]),
        Unit::PerSecond(what) if what == "bytes" => scaled(["B/s", "kB/s", "MB/s", "GB/s"]),
        Unit::PerSecond(_) => (Some(unit_name(&axis.unit)), "#,##0".into()),
        Unit::Share => (None, "0 %".into()),
        Unit::Count(_) | Unit::Ratio => (None, "General".into()),
    };
    let title = match name {
        Some(name) => format!("{} ({name})", axis.title),
        None => axis.title.clone(),
    };
    native
        .set_name(safe(&title).as_str())
        .set_num_format(format);
    native.set_major_gridlines_line(ChartLine::new().set_color("#D8DEE4").set_width(0.75));
    match axis.scale {
        Scale::Log if least.is_finite() => {
            let halves = matches!(axis.unit, Unit::Count(_) | Unit::Ratio) && most / least < 200.0;
            let base: f64 = if halves { 2.0 } else { 10.0 };
            native.set_log_base(base as u16);
            native.set_min(base.powf(least.log(base).floor()));
            native.set_max(base.powf(most.log(base).ceil()));
            native.set_crossing(ChartAxisCrossing::Min);
        }
        Scale::Linear if most > 0.0 && least >= 0.0 => {
            // Room for the bounds, too, up to a round number.
            let step = 10f64.powf(most.log10().floor()) / 2.0;
            native.set_min(0).set_max((most / step).ceil() * step);
        }
        _ => {}
    }
}

/// Text for a chart, which takes what begins with `=` or holds `!` for a reference to cells.
fn safe(text: &str) -> String {
    let text: String = excel(text).chars().take(200).collect();
    let text = text.replace('!', "\u{FF01}");
    match text.strip_prefix('=') {
        Some(rest) => format!("\u{2060}={rest}"),
        None => text,
    }
}

/// A line of that width in points.
pub fn stroke(colour: Color, width: f64) -> ChartLine {
    let mut line = ChartLine::new();
    line.set_color(colour).set_width(width);
    line
}

/// A filled area.
pub fn fill(colour: Color) -> ChartSolidFill {
    let mut fill = ChartSolidFill::new();
    fill.set_color(colour);
    fill
}
