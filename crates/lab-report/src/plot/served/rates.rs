// SPDX-License-Identifier: Apache-2.0
//! Requests per second of a case against the number of connections: a line for each server, a ring where the
//! generator was the limit.

use super::{Look, dashed, looks, name};
use crate::Error;
use crate::number;
use crate::plot::canvas::{self, Drawn, Side, Type, UNIT, words};
use crate::plot::colour::{GRID, PAPER};
use crate::plot::{Plot, rate_tick, sweep};
use crate::served::ServedView;
use lab_stats::load::analysis::LoadCell;
use plotters::prelude::*;

const SIZE: (i32, i32) = (760, 470);
const LEFT: i32 = 70;

/// A server's line.
struct Line<'a> {
    name: String,
    look: Look,
    /// In the order of the sweep.
    places: Vec<(f64, &'a LoadCell)>,
}

/// The plot, if there are two points or more.
pub fn plot(view: &ServedView, case: usize, keep_alive: bool) -> Result<Option<Plot>, Error> {
    let plan = view.common().plan;
    let points = view.closed(case, keep_alive);
    let lines = looks(view).into_iter().map(|(subject, look)| {
        let places = points.iter().filter_map(|&point| {
            let cell = view.load.cell(subject, point)?;
            Some((plan.connections(point).max(1) as f64, cell))
        });
        Line {
            name: name(view, subject),
            look,
            places: places.collect(),
        }
    });
    let lines: Vec<Line> = lines.filter(|line| line.places.len() > 1).collect();
    if lines.is_empty() {
        return Ok(None);
    }
    let case_name = view.case_name(Some(case));
    let kind = if keep_alive { "" } else { "-reconnecting" };
    let file = format!("throughput-{case_name}{kind}");
    let svg = dashed(canvas::draw(&file, SIZE, |area| draw(area, &lines))?);
    let title = format!(
        "{case_name}: requests per second against connections {}",
        match keep_alive {
            true => "kept alive",
            false => "with a new one for each request",
        }
    );
    let limited = match lines
        .iter()
        .any(|l| l.places.iter().any(|(_, c)| c.saturated))
    {
        true => " Rings: the generator was the limit there, not the server.",
        false => "",
    };
    let limit = match view.measured().into_iter().any(|s| view.is_limit(s)) {
        true => " The limit shows what the machine allows.",
        false => "",
    };
    let description = format!(
        "From zero; the number of connections is logarithmic; upright lines are intervals. Colours are languages, \
         dashes tell servers of one apart, and the thick line is the baseline, {}.{limit}{limited}",
        view.common().baseline()
    );
    let plot = Plot::new(&file, title, description, svg);
    Ok(Some(plot.of_case(view, case)))
}

fn draw(area: &canvas::Area, lines: &[Line]) -> Drawn<()> {
    let all = || lines.iter().flat_map(|l| &l.places);
    let mut values: Vec<f64> = all().map(|(x, _)| *x).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let (x0, x1) = (values[0], values[values.len() - 1]);
    let top = all()
        .map(|(_, cell)| upper(cell))
        .fold(f64::MIN_POSITIVE, f64::max)
        * 1.06;
    let names = lines.iter().map(|l| canvas::width_of(&l.name));
    let right = (names.max().unwrap_or(0) + 30).min(SIZE.0 / 3);
    let mut chart = ChartBuilder::on(area)
        .margin_top(10 * UNIT)
        .margin_right(right * UNIT)
        .x_label_area_size(46 * UNIT)
        .y_label_area_size(LEFT * UNIT)
        .build_cartesian_2d(
            (x0 / 1.08..x1 * 1.08)
                .log_scale()
                .with_key_points(values.clone()),
            0.0..top,
        )
        .map_err(words)?;
    chart
        .configure_mesh()
        .bold_line_style(GRID.stroke_width(UNIT as u32))
        .light_line_style(TRANSPARENT)
        .axis_style(GRID.stroke_width(UNIT as u32))
        .y_labels(7)
        .set_all_tick_mark_size(5 * UNIT)
        .x_label_style(canvas::below())
        .y_label_style(canvas::style(Type::Small, Side::Left))
        .x_label_formatter(&|x| canvas::tick(*x))
        .y_label_formatter(&|y| rate_tick(*y))
        .draw()
        .map_err(words)?;
    let (width, height) = (SIZE.0 - right, SIZE.1);
    let place = ((LEFT + width) / 2 * UNIT, (height - 12) * UNIT);
    canvas::text(area, "connections", Type::Small, Side::Middle, place)?;
    for line in lines.iter().rev() {
        let colour = line.look.colour;
        let path = line.places.iter().map(|(x, cell)| (*x, rate(cell)));
        let series = LineSeries::new(path, line.look.style());
        chart.draw_series(series).map_err(words)?;
        for (x, cell) in &line.places {
            let served = &cell.served_per_s;
            if number::bounded(served) {
                let bounds = vec![(*x, served.low.max(0.0)), (*x, served.high)];
                let whisker = PathElement::new(bounds, colour.stroke_width(UNIT as u32));
                chart.draw_series([whisker]).map_err(words)?;
            }
            let at = (*x, rate(cell));
            let dot = Circle::new(at, 5 * UNIT / 2, colour.filled());
            chart.draw_series([dot]).map_err(words)?;
            if cell.saturated {
                let hole = Circle::new(at, 3 * UNIT / 2, PAPER.filled());
                chart.draw_series([hole]).map_err(words)?;
            }
        }
    }
    let ends: Vec<(i32, i32)> = lines
        .iter()
        .filter_map(|line| line.places.last())
        .map(|(x, cell)| chart.backend_coord(&(*x, rate(cell))))
        .collect();
    let named = lines.iter().map(|l| (l.name.as_str(), l.look.colour));
    sweep::labels(area, &named.collect::<Vec<_>>(), &ends, (width, height))
}

fn rate(cell: &LoadCell) -> f64 {
    cell.served_per_s.estimate
}

fn upper(cell: &LoadCell) -> f64 {
    let served = &cell.served_per_s;
    match number::bounded(served) {
        true => served.high,
        false => served.estimate,
    }
}
