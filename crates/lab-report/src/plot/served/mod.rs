// SPDX-License-Identifier: Apache-2.0
//! The plots of servers that the lab started: what a request costs and what they hold against the baseline,
//! and for each case requests per second and response times.

mod latency;
mod rates;
mod ratios;

use super::Plot;
use super::canvas::{Area, Drawn, UNIT, words};
use super::colour::{limit, numbered};
use crate::content::served::ranked;
use crate::served::ServedView;
use crate::table::cut;
use crate::view::View;
use crate::{Error, File};
use lab_model::SubjectId;
use plotters::prelude::*;

/// Names longer than this would take the room of what they name.
const NAME: usize = 24;

/// All plots that a run supports, in the order in which a report shows them.
pub fn plots(view: &ServedView) -> Result<Vec<Plot>, Error> {
    let mut plots = vec![ratios::memory(view)?, ratios::costs(view)?];
    for case in view.cases() {
        plots.push(rates::plot(view, case, true)?);
        plots.push(rates::plot(view, case, false)?);
        plots.push(latency::plot(view, case)?);
    }
    Ok(plots.into_iter().flatten().collect())
}

/// A server's colour as red, green and blue, and how its line is dashed, from 0 for not at all to 4.
pub fn look_of(view: &View, subject: SubjectId) -> ((u8, u8, u8), usize) {
    let look = Look::of(view, subject);
    (look.colour.rgb(), look.dash)
}

/// The colour of the case of that number, as red, green and blue.
pub fn colour_of_case(case: usize) -> (u8, u8, u8) {
    numbered(case).rgb()
}

/// The plots as files that stand alone.
pub fn files(view: &ServedView) -> Result<Vec<File>, Error> {
    Ok(plots(view)?.into_iter().map(Plot::alone).collect())
}

impl Plot {
    /// Whether it is one of that case's.
    pub fn is_of_case(&self, view: &ServedView, case: usize) -> bool {
        let plan = view.common().plan;
        let first = plan.points.iter().position(|p| p.case == case);
        self.group.is_some() && self.group == first
    }

    /// The same as one of a case's.
    fn of_case(mut self, view: &ServedView, case: usize) -> Plot {
        let plan = view.common().plan;
        self.group = plan.points.iter().position(|p| p.case == case);
        self
    }
}

/// How a server's lines look: the colour is that of its language, the dashes tell servers of one language
/// apart.
#[derive(Clone, Copy)]
struct Look {
    colour: RGBColor,
    /// Index into [`DASHES`].
    dash: usize,
    /// It is the baseline.
    strong: bool,
}

/// Widths of lines, in units of which four are a pixel, and how they are dashed. The library draws no
/// dashes: it is told a width that nothing else has, and the finished drawing gets them.
const DASHES: [(u32, &str); 5] = [
    (8, ""),
    (9, "36 16"),
    (10, "14 12"),
    (7, "4 11"),
    (11, "34 12 5 12"),
];

/// The baseline's.
const STRONG: u32 = 13;

impl Look {
    fn of(view: &View, subject: SubjectId) -> Look {
        let plan = view.plan;
        let is_limit = |&s: &SubjectId| plan.subjects.get(s).is_some_and(|s| s.limit);
        let strong = subject == plan.baseline;
        if is_limit(&subject) {
            return Look {
                colour: limit(),
                dash: 0,
                strong,
            };
        }
        let mut languages: Vec<(&str, Vec<SubjectId>)> = Vec::new();
        for other in plan.compared().filter(|s| !is_limit(s)) {
            let language = plan.subjects[other].language.as_str();
            match languages.iter_mut().find(|(known, _)| *known == language) {
                Some((_, servers)) => servers.push(other),
                None => languages.push((language, vec![other])),
            }
        }
        let place = languages.iter().enumerate().find_map(|(i, (_, servers))| {
            let dash = servers.iter().position(|&s| s == subject)?;
            Some((i, dash % DASHES.len()))
        });
        let (colour, dash) = place.unwrap_or_default();
        Look {
            colour: numbered(colour),
            dash,
            strong,
        }
    }

    fn style(self) -> ShapeStyle {
        let width = match self.strong {
            true => STRONG,
            false => DASHES[self.dash].0,
        };
        self.colour.stroke_width(width)
    }
}

/// A drawing with the dashes that its lines' widths stand for.
fn dashed(mut svg: String) -> String {
    for (width, dashes) in &DASHES[1..] {
        let plain = format!("stroke-width=\"{width}\"");
        let dashed = format!(
            "stroke-width=\"{}\" stroke-dasharray=\"{dashes}\"",
            DASHES[0].0
        );
        svg = svg.replace(&plain, &dashed);
    }
    svg
}

/// A server's name where there is little room.
fn name(view: &ServedView, subject: SubjectId) -> String {
    cut(&view.name(subject), NAME)
}

/// Lines with names below a drawing, in columns, from that place on in pixels.
fn legend(
    area: &Area,
    lines: &[(String, Look)],
    (left, top): (i32, i32),
    columns: i32,
    width: i32,
) -> Drawn<()> {
    use super::canvas::{Side, Type, text};
    for (i, (name, look)) in (0..).zip(lines) {
        let x = left + (i % columns) * (width / columns);
        let y = (top + (i / columns) * ROW) * UNIT;
        // A line of two points would not be drawn as one that has dashes.
        let line = [x, x + 17, x + 34].map(|x| (x * UNIT, y)).to_vec();
        area.draw(&PathElement::new(line, look.style()))
            .map_err(words)?;
        text(area, name, Type::Small, Side::Right, ((x + 40) * UNIT, y))?;
    }
    Ok(())
}

/// The height of a legend's row, in pixels.
const ROW: i32 = 18;

/// The height of a legend.
fn legend_height(lines: usize, columns: i32) -> i32 {
    (lines as i32 + columns - 1) / columns * ROW + 8
}

/// The servers that were measured, and how they look.
fn looks(view: &ServedView) -> Vec<(SubjectId, Look)> {
    let servers = ranked(view).into_iter();
    servers.map(|s| (s, Look::of(view.common(), s))).collect()
}
