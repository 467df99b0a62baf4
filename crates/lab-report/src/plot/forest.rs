// SPDX-License-Identifier: Apache-2.0
//! Ratios with their intervals: a row per point, a dot per subject, a logarithmic axis.

use super::Plot;
use super::canvas::{self, Area, Drawn, Side, Type, UNIT, words};
use super::colour::{BAND, GRID, INK};
use crate::{Error, number};
use lab_stats::analysis::Interval;
use plotters::prelude::*;

const WIDTH: i32 = 880;
const TOP: i32 = 34;
const BOTTOM: i32 = 50;
/// Lanes are narrower where there are many.
const LANES: (i32, i32) = (11, 9);
const MANY: usize = 5;
const ROW_GAP: i32 = 10;

/// What is drawn.
pub struct Forest {
    /// The file's name without its ending.
    pub name: String,
    /// What it shows, for a caption.
    pub title: String,
    /// What is drawn how, for a caption.
    pub description: String,
    /// What the axis counts.
    pub axis: String,
    /// Ratios within 1 ± this lie on a band.
    pub margin: f64,
    /// Names and colours; each has its lane in every row.
    pub lanes: Vec<(String, RGBColor)>,
    /// From the top.
    pub rows: Vec<ForestRow>,
}

/// A row.
pub struct ForestRow {
    /// What stands beside it.
    pub label: String,
    /// Its dots.
    pub marks: Vec<Mark>,
}

/// A dot with its line.
pub struct Mark {
    /// Index into [`Forest::lanes`].
    pub lane: usize,
    /// A ratio, its estimate above 0.
    pub interval: Interval,
}

/// The plot, if it has rows.
pub fn plot(forest: Forest) -> Result<Option<Plot>, Error> {
    if forest.rows.is_empty() {
        return Ok(None);
    }
    let height = TOP + BOTTOM + forest.rows.len() as i32 * forest.row_height();
    let svg = canvas::draw(&forest.name, (WIDTH, height), |area| {
        draw(area, &forest, height)
    })?;
    Ok(Some(Plot::new(
        &forest.name,
        forest.title,
        forest.description,
        svg,
    )))
}

impl Forest {
    fn row_height(&self) -> i32 {
        self.lane() * self.lanes.len() as i32 + ROW_GAP
    }

    fn lane(&self) -> i32 {
        match self.lanes.len() > MANY {
            true => LANES.1,
            false => LANES.0,
        }
    }
}

fn draw(area: &Area, forest: &Forest, height: i32) -> Drawn<()> {
    let (rows, margin) = (&forest.rows, forest.margin);
    let left = (rows
        .iter()
        .map(|row| canvas::width_of(&row.label))
        .max()
        .unwrap_or(0)
        + 16)
        .min(WIDTH / 3);
    let (low, high) = span(rows, margin);
    let n = rows.len() as f64;
    let mut chart = ChartBuilder::on(area)
        .margin_top(TOP * UNIT)
        .margin_right(24 * UNIT)
        .x_label_area_size(BOTTOM * UNIT)
        .y_label_area_size(left * UNIT)
        .build_cartesian_2d(
            (low..high)
                .log_scale()
                .with_key_points(canvas::log_ticks(low, high)),
            n..0.0,
        )
        .map_err(words)?;
    let band = [(1.0 - margin, 0.0), (1.0 + margin, n)];
    chart
        .draw_series([Rectangle::new(band, BAND.filled())])
        .map_err(words)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .y_labels(0)
        .bold_line_style(GRID.stroke_width(UNIT as u32))
        .light_line_style(TRANSPARENT)
        .axis_style(GRID.stroke_width(UNIT as u32))
        .set_all_tick_mark_size(5 * UNIT)
        .x_label_style(canvas::below())
        .x_label_formatter(&|x| canvas::tick(*x))
        .draw()
        .map_err(words)?;
    let one = PathElement::new(vec![(1.0, 0.0), (1.0, n)], INK.stroke_width(UNIT as u32));
    chart.draw_series([one]).map_err(words)?;
    for (i, row) in rows.iter().enumerate() {
        for Mark { lane, interval } in &row.marks {
            let Some((_, colour)) = forest.lanes.get(*lane) else {
                continue;
            };
            let pixels = f64::from(ROW_GAP / 2 + forest.lane() * *lane as i32 + forest.lane() / 2);
            let y = i as f64 + pixels / f64::from(forest.row_height());
            if number::bounded(interval) {
                let line = vec![(interval.low.max(low), y), (interval.high.min(high), y)];
                let line = PathElement::new(line, colour.stroke_width(2 * UNIT as u32));
                chart.draw_series([line]).map_err(words)?;
            }
            let dot = Circle::new((interval.estimate, y), 7 * UNIT / 2, colour.filled());
            chart.draw_series([dot]).map_err(words)?;
        }
    }
    row_labels(area, forest, left)?;
    canvas::legend(area, &forest.lanes, left + 8)?;
    canvas::text(
        area,
        &forest.axis,
        Type::Small,
        Side::Middle,
        ((left + WIDTH) / 2 * UNIT, (height - 12) * UNIT),
    )
}

/// What the axis shows: all estimates and bounds, 1 with its margin, and a little room.
fn span(rows: &[ForestRow], margin: f64) -> (f64, f64) {
    let (mut low, mut high) = (1.0 - 2.0 * margin, 1.0 + 2.0 * margin);
    for ratio in rows
        .iter()
        .flat_map(|row| row.marks.iter().map(|m| &m.interval))
    {
        low = low.min(ratio.estimate);
        high = high.max(ratio.estimate);
        if number::bounded(ratio) && ratio.low > 0.0 {
            // A bound far from its estimate would squeeze everything else; it is cut at the edge.
            low = low.min(ratio.low.max(ratio.estimate / 3.0));
            high = high.max(ratio.high.min(ratio.estimate * 3.0));
        }
    }
    (low.max(1e-6) / 1.03, high * 1.03)
}

fn row_labels(area: &Area, forest: &Forest, left: i32) -> Drawn<()> {
    for (i, row) in forest.rows.iter().enumerate() {
        let top = TOP + i as i32 * forest.row_height();
        let middle = (top + forest.row_height() / 2) * UNIT;
        let label = crate::table::cut(&row.label, (left as usize - 8) / 7);
        canvas::text(
            area,
            &label,
            Type::Label,
            Side::Left,
            ((left - 10) * UNIT, middle),
        )?;
        if i > 0 {
            let rule = vec![(left * UNIT, top * UNIT), ((WIDTH - 24) * UNIT, top * UNIT)];
            area.draw(&PathElement::new(
                rule,
                GRID.mix(0.6).stroke_width(UNIT as u32),
            ))
            .map_err(words)?;
        }
    }
    Ok(())
}
