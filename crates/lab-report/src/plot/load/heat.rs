// SPDX-License-Identifier: Apache-2.0
//! Where the response times lie from slice to slice, or from point to point of a sweep: the darker, the
//! greater a part of the column's requests.

use super::colour;
use crate::Error;
use crate::content::load::{merged, moments};
use crate::load::{LoadView, Series};
use crate::number::{Quantity, single};
use crate::plot::canvas::{self, Area, Drawn, Side, Type, UNIT, words};
use crate::plot::colour::GRID;
use crate::plot::{Plot, plain_time};
use plotters::prelude::*;

const WIDTH: i32 = 760;
const LEFT: i32 = 70;
const RIGHT: i32 = 24;
const HEAD: i32 = 28;
const FOOT: i32 = 40;
const ROWS: usize = 30;
const ROW: i32 = 7;
const COLUMNS: usize = 48;

/// A map: its name, its colour, and its columns.
struct Map {
    name: String,
    colour: RGBColor,
    columns: Vec<Column>,
    /// What the columns are.
    axis: &'static str,
}

struct Column {
    /// Below the column, where there is room.
    label: String,
    counts: Vec<(u64, u64)>,
}

/// The plot, if there is more than one column.
pub fn plot(view: &LoadView, series: &[Series]) -> Result<Option<Plot>, Error> {
    let maps: Vec<Map> = match view.view.plan.points.len() {
        1 => series.iter().map(|s| over_time(view, s)).collect(),
        _ => over_points(view, series),
    };
    let maps: Vec<Map> = maps.into_iter().filter(|m| m.columns.len() > 1).collect();
    let all = || {
        let columns = maps.iter().flat_map(|m| &m.columns);
        columns.flat_map(|c| c.counts.iter().map(|(value, _)| (*value).max(1) as f64))
    };
    let low = all().fold(f64::INFINITY, f64::min) / 1.05;
    let high = all().fold(0.0, f64::max) * 1.05;
    if low >= high {
        return Ok(None);
    }
    let height = HEAD + ROWS as i32 * ROW + FOOT;
    let svg = canvas::draw("heat", (WIDTH, height * maps.len() as i32), |area| {
        let frames = maps.iter().enumerate();
        frames
            .map(|(i, map)| Frame {
                map,
                top: i as i32 * height,
                low,
                high,
            })
            .try_for_each(|frame| frame.draw(area))
    })?;
    let what = match view.view.plan.points.len() {
        1 => "over time",
        _ => "by the number of connections",
    };
    let description = format!(
        "A column holds the response times of the requests served in a part of the time, or at a point; the darker a \
         field, the greater its part of the column. Time is logarithmic, from {} to {}.",
        single(Quantity::Time, low),
        single(Quantity::Time, high)
    );
    let title = format!("Where the response times lie {what}");
    Ok(Some(Plot::new("heat", title, description, svg)))
}

fn over_time(view: &LoadView, series: &Series) -> Map {
    let each = series.slices.len().div_ceil(COLUMNS).max(1);
    let moments = moments(series);
    let columns = series.slices.chunks(each).zip(moments.chunks(each));
    let column =
        |(slices, moments): (&[&lab_model::Slice], &[crate::content::load::Moment])| Column {
            label: moments.first().map_or(String::new(), |m| {
                format!("{} s", canvas::tick((m.from_s * 100.0).round() / 100.0))
            }),
            counts: merged(slices.iter().map(|slice| &slice.response)),
        };
    Map {
        name: view.label(series.cell.subject, series.cell.point),
        colour: colour(view, series, 0),
        columns: columns.map(column).collect(),
        axis: "time under load",
    }
}

/// A map for each server, with the numbers of connections as columns.
fn over_points(view: &LoadView, series: &[Series]) -> Vec<Map> {
    let mut maps: Vec<Map> = Vec::new();
    for group in view.view.scaling_groups() {
        for subject in view.view.shown() {
            let here = group.points.iter().filter_map(|&point| {
                series
                    .iter()
                    .find(|s| (s.cell.subject, s.cell.point) == (subject, point))
            });
            let column = |s: &Series| {
                let x = view.view.plan.points[s.cell.point].x;
                Column {
                    label: x.map_or(String::new(), canvas::tick),
                    counts: merged(s.slices.iter().map(|slice| &slice.response)),
                }
            };
            maps.push(Map {
                name: view.view.name(subject).to_string(),
                colour: crate::plot::colour::numbered(maps.len()),
                columns: here.map(column).collect(),
                axis: "connections",
            });
        }
    }
    maps
}

/// Where a map's parts lie.
struct Frame<'m> {
    map: &'m Map,
    top: i32,
    low: f64,
    high: f64,
}

impl Frame<'_> {
    fn draw(&self, area: &Area) -> Drawn<()> {
        let name = crate::table::cut(&self.map.name, 80);
        let place = (LEFT * UNIT, (self.top + 14) * UNIT);
        canvas::text(area, &name, Type::Heading, Side::Right, place)?;
        self.axes(area)?;
        for (i, column) in self.map.columns.iter().enumerate() {
            self.column(area, i, column)?;
        }
        Ok(())
    }

    fn x(&self, column: usize) -> i32 {
        let room = f64::from((WIDTH - LEFT - RIGHT) * UNIT);
        LEFT * UNIT + (column as f64 / self.map.columns.len() as f64 * room) as i32
    }

    fn foot(&self) -> i32 {
        (self.top + HEAD + ROWS as i32 * ROW) * UNIT
    }

    /// The part of the axis below a time, 0 to 1.
    fn part(&self, ns: f64) -> f64 {
        ((ns / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }

    fn axes(&self, area: &Area) -> Drawn<()> {
        let height = f64::from(ROWS as i32 * ROW * UNIT);
        for tick in canvas::log_ticks(self.low, self.high) {
            let y = self.foot() - (self.part(tick) * height) as i32;
            let rule = vec![(LEFT * UNIT, y), ((WIDTH - RIGHT) * UNIT, y)];
            area.draw(&PathElement::new(rule, GRID.stroke_width(UNIT as u32)))
                .map_err(words)?;
            let place = ((LEFT - 8) * UNIT, y);
            canvas::text(area, &plain_time(tick), Type::Small, Side::Left, place)?;
        }
        let each = self.map.columns.len().div_ceil(12);
        for (i, column) in self.map.columns.iter().enumerate().step_by(each) {
            let middle = (self.x(i) + self.x(i + 1)) / 2;
            let place = (middle, self.foot() + 12 * UNIT);
            canvas::text(area, &column.label, Type::Small, Side::Middle, place)?;
        }
        let place = ((LEFT + WIDTH - RIGHT) / 2 * UNIT, self.foot() + 30 * UNIT);
        canvas::text(area, self.map.axis, Type::Small, Side::Middle, place)
    }

    fn column(&self, area: &Area, place: usize, column: &Column) -> Drawn<()> {
        let mut rows = [0.0; ROWS];
        for (value, count) in &column.counts {
            let part = self.part((*value).max(1) as f64);
            rows[((part * ROWS as f64) as usize).min(ROWS - 1)] += *count as f64;
        }
        let total: f64 = rows.iter().sum();
        let (left, right) = (self.x(place), self.x(place + 1) - UNIT / 2);
        for (i, count) in rows.iter().enumerate().filter(|(_, n)| **n > 0.0) {
            let foot = self.foot() - i as i32 * ROW * UNIT;
            // One in 10,000 is still seen.
            let dark = (1.0 + (count / total).log10() / 4.5).clamp(0.1, 1.0);
            let corners = [(left, foot - ROW * UNIT + UNIT / 2), (right, foot)];
            let field = Rectangle::new(corners, self.map.colour.mix(dark).filled());
            area.draw(&field).map_err(words)?;
        }
        Ok(())
    }
}
