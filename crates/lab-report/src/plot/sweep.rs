// SPDX-License-Identifier: Apache-2.0
//! Time over a sweep, one line per subject, both axes logarithmic, intervals as bands.

use super::canvas::{self, Area, Drawn, Side, Type, UNIT, words};
use super::colour::of_subject;
use super::{Plot, plain_time};
use crate::Error;
use crate::number::{self, Quantity};
use crate::view::{Group, View};
use lab_stats::analysis::Interval;
use plotters::prelude::*;

const SIZE: (i32, i32) = (680, 400);

/// One plot for each group of points with a sweep.
pub fn plots(view: &View) -> Result<Vec<Option<Plot>>, Error> {
    let groups = view.groups();
    groups
        .iter()
        .filter(|g| g.points.len() > 1)
        .map(|group| plot(view, group))
        .collect()
}

/// A point of a line: the sweep's value, and the time with its bounds in ns.
pub struct Place {
    x: f64,
    time: f64,
    low: f64,
    high: f64,
}

/// What is drawn in one colour, and its name.
pub struct Line {
    pub name: String,
    pub colour: RGBColor,
    pub places: Vec<Place>,
}

impl Place {
    /// Where a logarithmic axis can show it.
    pub fn new(x: f64, time: &Interval) -> Option<Place> {
        let (low, high) = match number::bounded(time) && time.low > 0.0 {
            true => (time.low, time.high),
            false => (time.estimate, time.estimate),
        };
        (x > 0.0 && time.estimate > 0.0).then_some(Place {
            x,
            time: time.estimate,
            low,
            high,
        })
    }
}

impl Line {
    /// With its places in the order of the sweep.
    pub fn new(name: String, colour: RGBColor, mut places: Vec<Place>) -> Line {
        places.sort_by(|a, b| a.x.total_cmp(&b.x));
        Line {
            name,
            colour,
            places,
        }
    }
}

fn plot(view: &View, group: &Group) -> Result<Option<Plot>, Error> {
    let lines = lines(view, group);
    if lines.is_empty() {
        return Ok(None);
    }
    let sweep = view.plan.cases[group.case]
        .sweep
        .clone()
        .unwrap_or_default();
    let name = super::name_of(view, &format!("time-{}", view.group_label(group)));
    let svg = drawing(&name, &lines, &sweep)?;
    let what = format!("time {} against {sweep}", view.words.per_operation);
    let title = super::title_of(view, &view.group_title(group, &what));
    let description = format!(
        "Typical wall time of {}, both axes logarithmic; the bands are intervals. {}",
        view.words.an_operation,
        ends(&lines, &sweep)
    );
    let plot = Plot::new(&name, title, description, svg);
    Ok(Some(plot.of_group(group)))
}

/// Subjects without controls, with the places that a logarithmic axis can show.
fn lines(view: &View, group: &Group) -> Vec<Line> {
    let line = |subject| {
        let places = group.points.iter().filter_map(|&point| {
            let x = view.plan.points[point].x?;
            Place::new(x, &view.cell(subject, point)?.wall_ns)
        });
        let name = view.name(subject).to_string();
        Line::new(name, of_subject(view, subject), places.collect())
    };
    view.shown()
        .into_iter()
        .map(line)
        .filter(|line| !line.places.is_empty())
        .collect()
}

/// The drawing of lines, of which none is empty.
pub fn drawing(name: &str, lines: &[Line], sweep: &str) -> Result<String, Error> {
    canvas::draw(name, SIZE, |area| draw(area, lines, sweep))
}

fn draw(area: &Area, lines: &[Line], sweep: &str) -> Drawn<()> {
    let all = || lines.iter().flat_map(|l| &l.places);
    let least = |of: fn(&Place) -> f64| all().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&Place) -> f64| all().map(of).fold(f64::NEG_INFINITY, f64::max);
    let (x0, x1) = (least(|p| p.x), most(|p| p.x));
    let (y0, y1) = (least(|p| p.low) / 1.25, most(|p| p.high) * 1.25);
    let mut values: Vec<f64> = all().map(|p| p.x).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let names = lines.iter().map(|l| canvas::width_of(&l.name));
    let right = (names.max().unwrap_or(0) + 30).min(SIZE.0 / 3);
    let mut chart = ChartBuilder::on(area)
        .margin_top(10 * UNIT)
        .margin_right(right * UNIT)
        .x_label_area_size(46 * UNIT)
        .y_label_area_size(70 * UNIT)
        .build_cartesian_2d(
            (x0 / 1.05..x1 * 1.05)
                .log_scale()
                .with_key_points(values.clone()),
            (y0..y1)
                .log_scale()
                .with_key_points(canvas::log_ticks(y0, y1)),
        )
        .map_err(words)?;
    canvas::axes(&mut chart, 10, canvas::tick, plain_time)?;
    let (width, height) = (SIZE.0 - right, SIZE.1);
    canvas::name_below(area, sweep, (70, width), height)?;
    for line in lines {
        let colour = line.colour;
        for stretch in stretches(&line.places, &values) {
            let upper = stretch.iter().map(|p| (p.x, p.high));
            let band = upper.chain(stretch.iter().rev().map(|p| (p.x, p.low)));
            let band = Polygon::new(band.collect::<Vec<_>>(), colour.mix(0.22));
            chart.draw_series([band]).map_err(words)?;
            let path = stretch.iter().map(|p| (p.x, p.time));
            let style = colour.stroke_width(2 * UNIT as u32);
            chart
                .draw_series(LineSeries::new(path.clone(), style))
                .map_err(words)?;
            let dots = path.map(|at| Circle::new(at, 3 * UNIT, colour.filled()));
            chart.draw_series(dots).map_err(words)?;
        }
    }
    let ends: Vec<(i32, i32)> = lines
        .iter()
        .map(|l| {
            let last = &l.places[l.places.len() - 1];
            chart.backend_coord(&(last.x, last.time))
        })
        .collect();
    let names = lines.iter().map(|line| (line.name.as_str(), line.colour));
    labels(area, &names.collect::<Vec<_>>(), &ends, (width, SIZE.1))
}

/// Parts without a gap: where a subject failed at a value, its line is broken.
fn stretches<'p>(places: &'p [Place], values: &[f64]) -> Vec<&'p [Place]> {
    let rank = |place: &Place| values.iter().position(|v| *v == place.x);
    places
        .chunk_by(|a, b| rank(a).map(|r| r + 1) == rank(b))
        .collect()
}

/// Names at the lines' ends, moved apart, each with a leader in the line's colour.
pub fn labels(
    area: &Area,
    names: &[(&str, RGBColor)],
    ends: &[(i32, i32)],
    (width, height): (i32, i32),
) -> Drawn<()> {
    let wanted: Vec<i32> = ends.iter().map(|e| e.1).collect();
    let places = canvas::apart(&wanted, 16 * UNIT, (height - 52) * UNIT);
    for ((&(name, colour), end), y) in names.iter().zip(ends).zip(places) {
        let x = (width + 14) * UNIT;
        let leader = vec![(end.0 + 5 * UNIT, end.1), (x, y)];
        area.draw(&PathElement::new(
            leader,
            colour.mix(0.6).stroke_width(UNIT as u32),
        ))
        .map_err(words)?;
        canvas::text(area, name, Type::Label, Side::Right, (x + 4 * UNIT, y))?;
    }
    Ok(())
}

/// `At limit=1000: c 107 µs, ada 108 µs.`
pub fn ends(lines: &[Line], sweep: &str) -> String {
    let last = lines
        .iter()
        .filter_map(|l| l.places.last())
        .map(|p| p.x)
        .fold(f64::NEG_INFINITY, f64::max);
    let at = lines
        .iter()
        .filter_map(|l| l.places.last().filter(|p| p.x == last).map(|p| (l, p)));
    let at = at.map(|(l, p)| {
        let interval = Interval {
            estimate: p.time,
            low: p.low,
            high: p.high,
            level: 1.0,
        };
        format!("{} {}", l.name, number::full(Quantity::Time, &interval))
    });
    format!(
        "At {sweep} {}: {}.",
        canvas::tick(last),
        at.collect::<Vec<_>>().join(", ")
    )
}
