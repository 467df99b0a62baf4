// SPDX-License-Identifier: Apache-2.0
//! Line charts: one line per series, with intervals as bands and names at the ends of the lines.

use super::canvas::{self, Canvas, Dot, DrawResult, Pixel, color_and_dot};
use super::frame::{BOTTOM, LEFT, PlotFrame, room_for};
use super::scale::{Span, reach};
use crate::document::{Band, Line, Lines, Quantity, Scale, Stroke};
use crate::output::Error;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 400.0;
const TOP: f64 = 34.0;
/// The maximum number of points of a line that are drawn as dots. Longer lines have no dots.
const DOTS: usize = 32;
/// The maximum number of values for which an axis has a tick at each value.
const VALUES: usize = 16;

pub fn draw(id: &str, lines: &Lines) -> Result<String, Error> {
    let named = named(lines);
    let right = WIDTH - room_for(named.iter().map(|line| line.name.as_str()));
    let x = Span::new(&lines.x, xs(lines));
    let height = HEIGHT.max(TOP + BOTTOM + 16.0 * named.len() as f64);
    let points = lines
        .lines
        .iter()
        .flat_map(|line| line.points.iter().map(move |p| (line, p)));
    let ys = points.flat_map(|(line, (_, y))| match line.band {
        Band::Shown => reach(y, lines.y.scale),
        Band::Hidden => [y.value; 3],
    });
    let y = Span::new(&lines.y, ys);
    let frame = PlotFrame {
        left: LEFT,
        right,
        top: TOP,
        bottom: height - BOTTOM,
        x,
        y,
    };
    canvas::draw(id, (WIDTH, height), |canvas| {
        frame.axes(canvas, &ticks(lines, &frame.x), (&lines.x, &lines.y))?;
        lines
            .lines
            .iter()
            .try_for_each(|l| band(canvas, &frame, l))?;
        lines
            .lines
            .iter()
            .try_for_each(|l| line(canvas, &frame, l))?;
        let end = |line: &&Line| ends(&frame, line);
        let ends: Vec<Pixel> = named.iter().filter_map(end).collect();
        let names: Vec<_> = named
            .iter()
            .map(|l| (l.name.as_str(), color_and_dot(l.color).0))
            .collect();
        frame.names(canvas, &names, &ends)
    })
}

/// Returns the lines that can be drawn and have a name.
///
/// Among lines with the same name, only the first is returned: for example, the measured line but
/// not its model.
fn named(lines: &Lines) -> Vec<&Line> {
    let mut named: Vec<&Line> = Vec::new();
    for line in &lines.lines {
        let is_named = named.iter().any(|other| other.name == line.name);
        if !is_named && !line.name.is_empty() && line.points.iter().any(|p| drawable(lines, p)) {
            named.push(line);
        }
    }
    named
}

fn drawable(lines: &Lines, (x, y): &(f64, Quantity)) -> bool {
    super::scale::drawable(lines.x.scale, *x) && super::scale::drawable(lines.y.scale, y.value)
}

fn xs(lines: &Lines) -> impl Iterator<Item = f64> {
    let points = lines.lines.iter().flat_map(|line| &line.points);
    points.map(|(x, _)| *x)
}

/// Returns the ticks of the horizontal axis.
///
/// On a logarithmic axis with few measured values, as in a sweep, the ticks are at the measured
/// values.
fn ticks(lines: &Lines, span: &Span) -> Vec<(f64, String)> {
    let measured = lines.lines.iter().filter(|l| l.stroke != Stroke::Model);
    let mut values: Vec<f64> = measured
        .flat_map(|l| l.points.iter().map(|(x, _)| *x))
        .collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    if lines.x.scale == Scale::Log && (2..=VALUES).contains(&values.len()) {
        span.ticks_at(&values)
    } else {
        span.ticks()
    }
}

/// Splits a line into segments, which end at values that cannot be drawn.
fn stretches<'l>(frame: &PlotFrame, line: &'l Line) -> Vec<Vec<(Pixel, &'l Quantity)>> {
    let mut stretches = vec![Vec::new()];
    for (x, y) in &line.points {
        match (frame.pixel(*x, y.value), stretches.last_mut()) {
            (Some(pixel), Some(stretch)) => stretch.push((pixel, y)),
            _ => stretches.push(Vec::new()),
        }
    }
    stretches.retain(|stretch| !stretch.is_empty());
    stretches
}

fn band(canvas: &Canvas, frame: &PlotFrame, line: &Line) -> DrawResult {
    if line.band == Band::Hidden {
        return Ok(());
    }
    let (color, _) = color_and_dot(line.color);
    for stretch in stretches(frame, line) {
        let side = |upper: bool| -> Vec<Pixel> {
            let bound = stretch
                .iter()
                .map(|((x, y), quantity)| match quantity.bounds() {
                    Some((low, high)) => (
                        *x,
                        frame.y_pixel(frame.y.clamped(if upper { high } else { low })),
                    ),
                    None => (*x, *y),
                });
            stepped(line, bound.collect())
        };
        match stretch.as_slice() {
            [((x, _), quantity)] if quantity.bounds().is_some() => {
                let ends = (side(true)[0].1, side(false)[0].1);
                canvas.path(&[(*x, ends.0), (*x, ends.1)], color, 1.0)?;
            }
            _ => {
                let around = side(true).into_iter().chain(side(false).into_iter().rev());
                canvas.area(&around.collect::<Vec<_>>(), color, 0.2)?;
            }
        }
    }
    Ok(())
}

fn line(canvas: &Canvas, frame: &PlotFrame, line: &Line) -> DrawResult {
    let (color, dot) = color_and_dot(line.color);
    for stretch in stretches(frame, line) {
        let pixels: Vec<Pixel> = stretch.iter().map(|(pixel, _)| *pixel).collect();
        match line.stroke {
            Stroke::Model => canvas.dashes(&pixels, color, 1.25)?,
            Stroke::Measured | Stroke::Steps => {
                canvas.path(&stepped(line, pixels.clone()), color, 2.0)?
            }
        }
        let alone = pixels.len() == 1;
        if alone || line.stroke == Stroke::Measured && line.points.len() <= DOTS {
            let radius = if dot == Dot::Disc { 3.0 } else { 3.5 };
            pixels
                .iter()
                .try_for_each(|at| canvas.dot(*at, radius, color, dot))?;
        }
    }
    Ok(())
}

/// Converts points to a step function, which keeps each value until the next point.
pub fn stepped<Y: Clone>(line: &Line, points: Vec<(f64, Y)>) -> Vec<(f64, Y)> {
    if line.stroke != Stroke::Steps {
        return points;
    }
    let corners = points
        .windows(2)
        .flat_map(|pair| [pair[0].clone(), (pair[1].0, pair[0].1.clone())]);
    corners.chain(points.last().cloned()).collect()
}

fn ends(frame: &PlotFrame, line: &Line) -> Option<Pixel> {
    line.points
        .iter()
        .rev()
        .find_map(|(x, y)| frame.pixel(*x, y.value))
}
