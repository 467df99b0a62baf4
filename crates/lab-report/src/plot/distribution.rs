// SPDX-License-Identifier: Apache-2.0
//! How the times of all runs of each command are spread: a histogram per command, one above the
//! other on a common logarithmic axis, a panel for each point.

use super::canvas::{self, Area, Drawn, Side, Type, UNIT, words};
use super::colour::{GRID, INK, of_subject};
use super::{Plot, plain_time};
use crate::Error;
use crate::distribution::Distribution;
use crate::number::{self, Quantity};
use crate::table::cut;
use crate::view::{Group, View};
use lab_model::{PointId, SubjectId};
use plotters::prelude::*;

const WIDTH: i32 = 760;
const RIGHT: i32 = 120;
const BINS: usize = 60;
/// Pixels of one command's histogram, and of what lies below all of a panel's.
const LANE: i32 = 46;
const FOOT: i32 = 30;
const HEAD: i32 = 26;

/// One plot for each group of points, of whole commands alone.
pub fn plots(view: &View) -> Result<Vec<Option<Plot>>, Error> {
    if view.commands().is_none() {
        return Ok(Vec::new());
    }
    let groups = view.groups();
    groups.iter().map(|group| plot(view, group)).collect()
}

type Panel = (PointId, Distribution);

fn plot(view: &View, group: &Group) -> Result<Option<Plot>, Error> {
    let spread = |&point: &PointId| Some((point, Distribution::of(view, point)?));
    let panels: Vec<Panel> = group.points.iter().filter_map(spread).collect();
    if panels.is_empty() {
        return Ok(None);
    }
    let name = format!("distribution-{}", view.group_label(group));
    let height = panels.iter().map(height_of).sum();
    let svg = canvas::draw(&name, (WIDTH, height), |area| {
        let mut top = 0;
        for panel in &panels {
            draw(area, view, panel, top)?;
            top += height_of(panel);
        }
        Ok(())
    })?;
    let title = view.group_title(group, "how the times of all runs are spread");
    let plot = Plot::new(&name, title, description(&panels), svg);
    Ok(Some(plot.of_group(group)))
}

fn description(panels: &[Panel]) -> String {
    let beyond: usize = panels.iter().map(|(_, spread)| spread.beyond().0).sum();
    let clipped = match beyond {
        0 => String::new(),
        n => format!(" Runs beyond the ends of the axis, {n}, count in the outermost columns."),
    };
    format!(
        "The height of a column is the number of runs that took so long, on a logarithmic axis of wall \
         time that all commands share; the line below is the interval of the typical time.{clipped}"
    )
}

fn height_of((_, spread): &Panel) -> i32 {
    HEAD + LANE * spread.times.len() as i32 + FOOT
}

/// Names on the left, columns in the middle, typical times on the right.
fn draw(area: &Area, view: &View, (point, spread): &Panel, top: i32) -> Drawn<()> {
    let names = spread
        .times
        .iter()
        .map(|(s, _)| canvas::width_of(view.name(*s)));
    let left = names.max().unwrap_or(0).clamp(20, WIDTH / 4) + 14;
    let frame = Frame { left, top, spread };
    if view.plan.points.len() > 1 {
        let at = (8 * UNIT, (top + 14) * UNIT);
        canvas::text(
            area,
            &view.plan.label(*point),
            Type::Heading,
            Side::Right,
            at,
        )?;
    }
    frame.axis(area)?;
    for (row, (subject, times)) in spread.times.iter().enumerate() {
        frame.columns(area, view, row as i32, *subject, times)?;
        frame.typical(area, view, row as i32, *subject, *point)?;
    }
    Ok(())
}

/// Where a panel's parts lie.
struct Frame<'s> {
    left: i32,
    top: i32,
    spread: &'s Distribution,
}

impl Frame<'_> {
    /// A part of the axis, 0 to 1, in units.
    fn x(&self, part: f64) -> i32 {
        let room = WIDTH - RIGHT - self.left;
        ((f64::from(self.left) + part.clamp(0.0, 1.0) * f64::from(room)) * f64::from(UNIT)) as i32
    }

    /// The foot of a row's columns, in pixels.
    fn foot(&self, row: i32) -> i32 {
        self.top + HEAD + LANE * (row + 1) - 10
    }

    fn axis(&self, area: &Area) -> Drawn<()> {
        let rows = self.spread.times.len() as i32;
        let (begin, end) = (self.top + HEAD, self.top + HEAD + LANE * rows);
        for tick in canvas::log_ticks(self.spread.low, self.spread.high) {
            let x = self.x(self.spread.place(tick));
            line(area, GRID, (x, begin * UNIT), (x, end * UNIT))?;
            let at = (x, (end + 12) * UNIT);
            canvas::text(area, &plain_time(tick), Type::Small, Side::Middle, at)?;
        }
        Ok(())
    }

    fn columns(
        &self,
        area: &Area,
        view: &View,
        row: i32,
        subject: SubjectId,
        times: &[f64],
    ) -> Drawn<()> {
        let counts = self.spread.bins(times, BINS);
        let most = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
        let foot = self.foot(row) * UNIT;
        for (bin, &count) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            let [from, to] = [bin, bin + 1].map(|b| self.x(b as f64 / BINS as f64));
            let height = (count as f64 / most * f64::from((LANE - 16) * UNIT)).ceil() as i32;
            let corners = [(from, foot - height.max(UNIT)), (to - UNIT / 2, foot)];
            let colour = of_subject(view, subject).mix(0.85).filled();
            area.draw(&Rectangle::new(corners, colour)).map_err(words)?;
        }
        let name = cut(view.name(subject), (self.left as usize - 14) / 7 + 1);
        let at = ((self.left - 8) * UNIT, foot - 8 * UNIT);
        canvas::text(area, &name, Type::Label, Side::Left, at)
    }

    /// The interval of the typical time below the columns, with its middle.
    fn typical(
        &self,
        area: &Area,
        view: &View,
        row: i32,
        subject: SubjectId,
        point: PointId,
    ) -> Drawn<()> {
        let Some(time) = view.cell(subject, point).map(|c| c.wall_ns) else {
            return Ok(());
        };
        let y = (self.foot(row) + 4) * UNIT;
        let x = |ns: f64| self.x(self.spread.place(ns.max(1.0)));
        if number::bounded(&time) {
            line(area, INK, (x(time.low), y), (x(time.high), y))?;
        }
        let dot = Circle::new((x(time.estimate), y), 5 * UNIT / 2, INK.filled());
        area.draw(&dot).map_err(words)?;
        let text = number::short(Quantity::Time, &time);
        let at = (
            (WIDTH - RIGHT + 10) * UNIT,
            self.foot(row) * UNIT - 8 * UNIT,
        );
        canvas::text(area, &text, Type::Small, Side::Right, at)
    }
}

fn line(area: &Area, colour: RGBColor, from: (i32, i32), to: (i32, i32)) -> Drawn<()> {
    let style = colour.stroke_width(UNIT as u32);
    area.draw(&PathElement::new(vec![from, to], style))
        .map_err(words)
}
