// SPDX-License-Identifier: Apache-2.0
//! Bars with intervals, in panels of one scale each: CPU time per operation, memory, start-up.

use super::Plot;
use super::canvas::{self, Area, Drawn, Side, Type, UNIT, words};
use super::colour::{GRID, INK, of_subject};
use crate::Error;
use crate::number::{self, Quantity};
use crate::view::View;
use lab_model::SubjectId;
use lab_stats::analysis::Interval;
use plotters::prelude::*;

/// The CPU time of an operation: a panel for each case and choice of factors, at the largest value
/// of its sweep.
pub fn cpu(view: &View) -> Result<Option<Plot>, Error> {
    let panels = view.groups().into_iter().filter_map(|group| {
        let point = *group.points.iter().max_by(|a, b| {
            let x = |p: usize| view.plan.points[p].x.unwrap_or(0.0);
            x(**a).total_cmp(&x(**b))
        })?;
        let bars = view
            .shown()
            .into_iter()
            .filter_map(|s| Some((s, view.cell(s, point)?.cpu_ns)));
        Some(Panel {
            title: view.plan.label(point),
            quantity: Quantity::Time,
            bars: bars.collect(),
        })
    });
    let description = format!(
        "Typical CPU time of {}, each panel with its own scale from zero; the lines through the bars' ends \
         are intervals.",
        view.words.an_operation,
    );
    plot(
        "cpu",
        &format!("CPU time {}", view.words.per_operation),
        &description,
        view,
        panels.collect(),
    )
}

/// Memory and start-up.
pub fn memory(view: &View) -> Result<Option<Plot>, Error> {
    let prints = &view.analysis.footprints;
    let panel =
        |title: &str, quantity, of: fn(&lab_stats::analysis::Footprint) -> Interval| Panel {
            title: title.into(),
            quantity,
            bars: view
                .shown()
                .into_iter()
                .filter_map(|s| Some((s, of(prints.iter().find(|p| p.subject == s)?))))
                .collect(),
        };
    let panels = vec![
        panel("resident memory", Quantity::Size, |p| p.rss_bytes),
        panel("peak resident memory", Quantity::Size, |p| p.peak_rss_bytes),
        panel("start-up time", Quantity::Time, |p| p.startup_ns),
    ];
    let description = "Medians over blocks, each panel with its own scale from zero; the lines through the bars' \
                       ends are intervals.";
    plot("memory", "Memory and start-up", description, view, panels)
}

struct Panel {
    title: String,
    quantity: Quantity,
    bars: Vec<(SubjectId, Interval)>,
}

const COLUMNS: usize = 2;
/// Pixels.
pub const PANEL_WIDTH: i32 = 440;
const BAR: i32 = 20;
const HEAD: i32 = 34;

fn plot(
    name: &str,
    title: &str,
    description: &str,
    view: &View,
    panels: Vec<Panel>,
) -> Result<Option<Plot>, Error> {
    let panels: Vec<Panel> = panels.into_iter().filter(|p| !p.bars.is_empty()).collect();
    let Some(most) = panels.iter().map(|p| p.bars.len()).max() else {
        return Ok(None);
    };
    let height = HEAD + BAR * most as i32 + 12;
    let rows = panels.len().div_ceil(COLUMNS) as i32;
    let columns = panels.len().min(COLUMNS) as i32;
    let name = &super::name_of(view, name);
    let svg = canvas::draw(name, (PANEL_WIDTH * columns, height * rows), |area| {
        for (i, panel) in panels.iter().enumerate() {
            let (column, row) = ((i % COLUMNS) as i32, (i / COLUMNS) as i32);
            draw(area, view, panel, (column * PANEL_WIDTH, row * height))?;
        }
        Ok(())
    })?;
    Ok(Some(Plot::new(name, title.into(), description.into(), svg)))
}

/// Names on the left, bars from zero, values on the right of the intervals.
fn draw(area: &Area, view: &View, panel: &Panel, (left, top): (i32, i32)) -> Drawn<()> {
    let names = panel
        .bars
        .iter()
        .map(|(s, _)| canvas::width_of(view.name(*s)));
    let begin = names.max().unwrap_or(0).min(PANEL_WIDTH / 3) + 14;
    let room = PANEL_WIDTH - begin - 100;
    let most = panel
        .bars
        .iter()
        .map(|(_, i)| upper(i))
        .fold(f64::MIN_POSITIVE, f64::max);
    let x = |value: f64| {
        ((f64::from(left + begin) + value / most * f64::from(room)) * f64::from(UNIT)) as i32
    };
    canvas::text(
        area,
        &panel.title,
        Type::Heading,
        Side::Right,
        ((left + 8) * UNIT, (top + 18) * UNIT),
    )?;
    for (i, (subject, interval)) in panel.bars.iter().enumerate() {
        let y = top + HEAD + BAR * i as i32;
        let middle = (y + BAR / 2) * UNIT;
        let name = crate::table::cut(view.name(*subject), (begin as usize - 14) / 7 + 1);
        canvas::text(
            area,
            &name,
            Type::Label,
            Side::Left,
            ((left + begin - 6) * UNIT, middle),
        )?;
        let corners = [
            (x(0.0), (y + 3) * UNIT),
            (x(interval.estimate.max(0.0)), (y + BAR - 3) * UNIT),
        ];
        area.draw(&Rectangle::new(
            corners,
            of_subject(view, *subject).mix(0.85).filled(),
        ))
        .map_err(words)?;
        whisker(area, interval, middle, &x)?;
        let value = number::alone(panel.quantity, interval);
        canvas::text(
            area,
            &value,
            Type::Small,
            Side::Right,
            (x(upper(interval)) + 6 * UNIT, middle),
        )?;
    }
    let axis = vec![
        (x(0.0), (top + HEAD) * UNIT),
        (x(0.0), (top + HEAD + BAR * panel.bars.len() as i32) * UNIT),
    ];
    area.draw(&PathElement::new(axis, GRID.stroke_width(UNIT as u32)))
        .map_err(words)
}

/// The interval as a line.
pub fn whisker(area: &Area, interval: &Interval, y: i32, x: &impl Fn(f64) -> i32) -> Drawn<()> {
    if !number::bounded(interval) {
        return Ok(());
    }
    let (low, high) = (x(interval.low.max(0.0)), x(interval.high));
    let line = |from, to| {
        area.draw(&PathElement::new(
            vec![from, to],
            INK.stroke_width(UNIT as u32),
        ))
        .map_err(words)
    };
    line((low, y), (high, y))?;
    line((low, y - 3 * UNIT), (low, y + 3 * UNIT))?;
    line((high, y - 3 * UNIT), (high, y + 3 * UNIT))
}

/// Where a bar with its interval ends.
pub fn upper(interval: &Interval) -> f64 {
    if number::bounded(interval) {
        interval.high
    } else {
        interval.estimate
    }
}
