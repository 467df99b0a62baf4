// SPDX-License-Identifier: Apache-2.0
//! Response times of a case by percentile, at each part of the servers' own peaks: a panel for each part, on
//! the scale of HdrHistogram's plots.

use super::{Look, dashed, legend, legend_height, looks, name};
use crate::Error;
use crate::content::load::merged;
use crate::load::QUANTILES;
use crate::number;
use crate::plot::canvas::{self, Area, Drawn, Side, Type, UNIT, words};
use crate::plot::colour::GRID;
use crate::plot::load::{Path, path, percentile};
use crate::plot::{Plot, plain_time};
use crate::served::{ServedView, percent_of_peak};
use lab_model::{PointId, SubjectId};
use plotters::prelude::*;

const WIDTH: i32 = 980;
const PANEL: i32 = 370;
const LEFT: i32 = 62;
const COLUMNS: i32 = 5;

/// A curve ends where fewer requests than this lie beyond: what follows is luck.
const BEYOND: f64 = 10.0;

/// Nor does it go farther than this: one in so many.
const RAREST: f64 = 10_000.0;

/// The quantiles that have their intervals drawn.
const SHOWN: [usize; 2] = [0, 3];

/// One part of the peak.
struct Panel {
    title: String,
    curves: Vec<Curve>,
}

struct Curve {
    look: Look,
    path: Path,
    /// Place, low and high.
    intervals: Vec<(f64, f64, f64)>,
}

/// The plot, if there are points at parts of a peak.
pub fn plot(view: &ServedView, case: usize) -> Result<Option<Plot>, Error> {
    let keep_alive = view.usual();
    let parts = view.parts().into_iter().filter_map(|part| {
        let point = *view.at_part(case, keep_alive, part).first()?;
        let panel = Panel {
            title: format!("at {} of its own peak", percent_of_peak(part)),
            curves: curves(view, point),
        };
        Some(panel).filter(|panel| !panel.curves.is_empty())
    });
    let panels: Vec<Panel> = parts.collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let case_name = view.case_name(Some(case));
    let file = format!("latency-{case_name}");
    let lines = looks(view).into_iter();
    let lines: Vec<(String, Look)> = lines.map(|(s, look)| (name(view, s), look)).collect();
    let height = PANEL + legend_height(lines.len(), COLUMNS);
    let svg = canvas::draw(&file, (WIDTH, height), |area| {
        draw(area, &panels)?;
        let place = (LEFT, PANEL + 10);
        legend(area, &lines, place, COLUMNS, WIDTH - LEFT)
    })?;
    let title = format!("{case_name}: response time by percentile");
    let description = "Requests are due whatever became of those before, at a part of what each server served at the \
                       most; time is logarithmic, and each step to the right is ten times rarer. Upright lines are \
                       intervals of p50 and p99. A curve ends where fewer than ten requests lie beyond.";
    let plot = Plot::new(&file, title, description.into(), dashed(svg));
    Ok(Some(plot.of_case(view, case)))
}

fn curves(view: &ServedView, point: PointId) -> Vec<Curve> {
    let all = looks(view).into_iter();
    let curves = all.filter_map(|(subject, look)| curve(view, subject, point, look));
    curves.collect()
}

fn curve(view: &ServedView, subject: SubjectId, point: PointId, look: Look) -> Option<Curve> {
    let cell = view.load.cell(subject, point)?;
    let run = view.common().report.run;
    let slices = run.complete_blocks().flat_map(|block| &block.slices);
    let here = slices.filter(|s| (s.subject, s.point) == (subject, point));
    let counts = merged(here.map(|slice| &slice.response));
    let total: f64 = counts.iter().map(|(_, n)| *n as f64).sum();
    let last = (total / BEYOND).min(RAREST);
    let path: Path = path(&counts)
        .into_iter()
        .filter(|(x, _)| *x <= last)
        .collect();
    let intervals = SHOWN.into_iter().filter_map(|i| {
        let (_, part, of) = QUANTILES[i];
        let time = of(&cell.response).filter(number::bounded)?;
        Some((1.0 / (1.0 - part), time.low, time.high))
    });
    let intervals = intervals.filter(|(x, ..)| *x <= last).collect();
    (path.len() > 1).then_some(Curve {
        look,
        path,
        intervals,
    })
}

fn draw(area: &Area, panels: &[Panel]) -> Drawn<()> {
    let curves = || panels.iter().flat_map(|p| &p.curves);
    let times = || {
        let paths = curves().flat_map(|c| c.path.iter().map(|(_, time)| *time));
        let bounds = curves().flat_map(|c| c.intervals.iter().flat_map(|(_, a, b)| [*a, *b]));
        paths.chain(bounds).filter(|time| *time > 0.0)
    };
    let low = times().fold(f64::INFINITY, f64::min) / 1.15;
    let high = times().fold(low * 2.0, f64::max) * 1.15;
    let right = curves().flat_map(|c| c.path.last()).map(|p| p.0);
    let right = right.fold(10.0, f64::max);
    let width = (WIDTH - LEFT) / panels.len() as i32;
    for (i, panel) in (0..).zip(panels) {
        let begin = if i == 0 { 0 } else { LEFT + i * width };
        let room = if i == 0 { LEFT + width } else { width };
        let place = area.clone().shrink(
            (begin * UNIT, 0),
            ((room * UNIT) as u32, (PANEL * UNIT) as u32),
        );
        draw_panel(&place, panel, (low, high), right, i == 0)?;
    }
    let place = (WIDTH / 2 * UNIT, (PANEL - 10) * UNIT);
    let what = "part of the requests served that took no longer";
    canvas::text(area, what, Type::Small, Side::Middle, place)
}

/// A panel; the first has the numbers of the times beside it.
fn draw_panel(
    area: &Area,
    panel: &Panel,
    (low, high): (f64, f64),
    right: f64,
    first: bool,
) -> Drawn<()> {
    let places: Vec<f64> = [2.0]
        .into_iter()
        .chain((1..10).map(|e| 10f64.powi(e)))
        .filter(|x| *x <= right)
        .collect();
    let left = if first { LEFT } else { 10 };
    let mut chart = ChartBuilder::on(area)
        .margin_top(30 * UNIT)
        .margin_right(12 * UNIT)
        .x_label_area_size(44 * UNIT)
        .y_label_area_size(left * UNIT)
        .build_cartesian_2d(
            (1.0..right * 1.05).log_scale().with_key_points(places),
            (low..high)
                .log_scale()
                .with_key_points(canvas::log_ticks(low, high)),
        )
        .map_err(words)?;
    let times = |y: &f64| match first {
        true => plain_time(*y),
        false => String::new(),
    };
    chart
        .configure_mesh()
        .bold_line_style(GRID.stroke_width(UNIT as u32))
        .light_line_style(TRANSPARENT)
        .axis_style(GRID.stroke_width(UNIT as u32))
        .set_all_tick_mark_size(5 * UNIT)
        .x_label_style(canvas::below())
        .y_label_style(canvas::style(Type::Small, Side::Left))
        .x_label_formatter(&|x| percentile(*x))
        .y_label_formatter(&times)
        .draw()
        .map_err(words)?;
    for curve in panel.curves.iter().rev() {
        let line = LineSeries::new(curve.path.iter().copied(), curve.look.style());
        chart.draw_series(line).map_err(words)?;
        for &(x, low, high) in &curve.intervals {
            let style = curve.look.colour.stroke_width(UNIT as u32);
            let whisker = PathElement::new(vec![(x, low.max(1.0)), (x, high)], style);
            chart.draw_series([whisker]).map_err(words)?;
        }
    }
    let place = ((left + 4) * UNIT, 16 * UNIT);
    canvas::text(area, &panel.title, Type::Heading, Side::Right, place)
}
