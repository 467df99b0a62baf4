// SPDX-License-Identifier: Apache-2.0
//! Rates over the time under load, slice by slice: served, in an open loop also offered, and errors
//! below where there are any.

use super::colour;
use crate::Error;
use crate::content::load::{Moment, moments};
use crate::load::{LoadView, Series};
use crate::plot::canvas::{self, Area, Drawn, UNIT, words};
use crate::plot::colour::MUTED;
use crate::plot::{Plot, rate_tick};
use plotters::prelude::*;

const WIDTH: i32 = 760;
const LEFT: i32 = 70;
/// Pixels of a panel.
const HEIGHT: i32 = 260;

struct Line {
    name: String,
    colour: RGBColor,
    moments: Vec<Moment>,
}

type Rate = fn(&Moment) -> f64;

/// The plot of a single point, if there is more than one slice.
pub fn plot(view: &LoadView, series: &[Series]) -> Result<Option<Plot>, Error> {
    let line = |s: &Series| Line {
        name: view.label(s.cell.subject, s.cell.point),
        colour: colour(view, s, 0),
        moments: moments(s),
    };
    let lines: Vec<Line> = series
        .iter()
        .map(line)
        .filter(|l| l.moments.len() > 1)
        .collect();
    if view.view.plan.points.len() > 1 || lines.is_empty() {
        return Ok(None);
    }
    let errors = lines
        .iter()
        .flat_map(|l| &l.moments)
        .any(|m| m.errors > 0.0);
    let panels = if errors { 2 } else { 1 };
    let svg = canvas::draw("rate", (WIDTH, HEIGHT * panels), |area| {
        let (upper, lower) = area.split_vertically(HEIGHT * UNIT);
        let offered = view.open().then_some((|m: &Moment| m.offered) as Rate);
        panel(
            &upper,
            "requests served per second",
            &lines,
            |m| m.served,
            offered,
        )?;
        let names: Vec<_> = lines.iter().map(|l| (l.name.clone(), l.colour)).collect();
        let offered = view.open().then(|| ("offered".to_string(), MUTED));
        let names: Vec<_> = names.into_iter().chain(offered).collect();
        canvas::legend(&upper, &names, LEFT + 8)?;
        match errors {
            true => panel(&lower, "errors per second", &lines, |m| m.errors, None),
            false => Ok(()),
        }
    })?;
    let below = if errors {
        " Below: requests that failed."
    } else {
        ""
    };
    let description = format!("Each step is a slice of the load, from zero.{below}");
    let title = "Rate over time".to_string();
    Ok(Some(Plot::new("rate", title, description, svg)))
}

/// Steps of one rate, and of another behind it.
fn panel(area: &Area, title: &str, lines: &[Line], rate: Rate, behind: Option<Rate>) -> Drawn<()> {
    let all = || lines.iter().flat_map(|l| &l.moments);
    let end = all().map(|m| m.to_s).fold(f64::MIN_POSITIVE, f64::max);
    let rates = all().flat_map(|m| [Some(rate(m)), behind.map(|of| of(m))]);
    let top = rates.flatten().fold(f64::MIN_POSITIVE, f64::max) * 1.08;
    let mut chart = ChartBuilder::on(area)
        .margin_top(34 * UNIT)
        .margin_right(28 * UNIT)
        .x_label_area_size(46 * UNIT)
        .y_label_area_size(LEFT * UNIT)
        .build_cartesian_2d(0.0..end, 0.0..top)
        .map_err(words)?;
    let seconds = |s| format!("{} s", canvas::tick(s));
    canvas::axes(&mut chart, 5, seconds, rate_tick)?;
    if let Some(behind) = behind {
        for line in lines {
            let style = MUTED.stroke_width(UNIT as u32);
            chart
                .draw_series(LineSeries::new(steps(line, behind), style))
                .map_err(words)?;
        }
    }
    for line in lines {
        let style = line.colour.stroke_width(2 * UNIT as u32);
        chart
            .draw_series(LineSeries::new(steps(line, rate), style))
            .map_err(words)?;
    }
    let below = format!("{title}, over the time under load");
    canvas::name_below(area, &below, (LEFT, WIDTH), HEIGHT)
}

fn steps(line: &Line, rate: Rate) -> Vec<(f64, f64)> {
    let step = |m: &Moment| [(m.from_s, rate(m)), (m.to_s, rate(m))];
    line.moments.iter().flat_map(step).collect()
}
