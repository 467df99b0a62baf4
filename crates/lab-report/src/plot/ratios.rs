// SPDX-License-Identifier: Apache-2.0
//! Ratios to the baseline with their intervals: a row per point, a dot per subject, a logarithmic axis.

use super::Plot;
use super::canvas::{self, Area, Drawn, Side, Type, UNIT, words};
use super::colour::{BAND, GRID, INK, of_subject};
use crate::view::View;
use crate::{Error, number};
use lab_model::{PointId, SubjectId};
use lab_stats::analysis::Comparison;
use plotters::prelude::*;

const WIDTH: i32 = 880;
const TOP: i32 = 34;
const BOTTOM: i32 = 50;
const LANE: i32 = 11;
const ROW_GAP: i32 = 10;

/// The plot, if something was compared.
pub fn plot(view: &View) -> Result<Option<Plot>, Error> {
    let rows = rows(view);
    if rows.is_empty() {
        return Ok(None);
    }
    let subjects = compared_subjects(view);
    let height = TOP + BOTTOM + rows.len() as i32 * row_height(subjects.len());
    let svg = canvas::draw("ratios", (WIDTH, height), |area| {
        draw(area, view, &rows, &subjects, height)
    })?;
    let title = format!("Time as a multiple of {}'s", view.baseline());
    let description = format!(
        "Ratios of typical wall time to {}, logarithmic; lines are intervals, simultaneous within a row; the band \
         is the margin of {}, within which times count as equivalent. Left is faster.",
        view.baseline(),
        number::level(view.analysis.margin),
    );
    Ok(Some(Plot::new("ratios", title, description, svg)))
}

type Row<'a> = (PointId, Vec<&'a Comparison>);

fn rows<'a>(view: &View<'a>) -> Vec<Row<'a>> {
    let row = |point| {
        let here = view
            .analysis
            .comparisons
            .iter()
            .filter(move |c| c.point == point && c.ratio.estimate > 0.0);
        (point, here.collect::<Vec<_>>())
    };
    let points = view.groups().into_iter().flat_map(|group| group.points);
    points.map(row).filter(|(_, c)| !c.is_empty()).collect()
}

fn compared_subjects(view: &View) -> Vec<SubjectId> {
    let compared = |s: &SubjectId| view.analysis.comparisons.iter().any(|c| c.subject == *s);
    (0..view.plan.subjects.len()).filter(compared).collect()
}

fn row_height(subjects: usize) -> i32 {
    LANE * subjects as i32 + ROW_GAP
}

fn draw(area: &Area, view: &View, rows: &[Row], subjects: &[SubjectId], height: i32) -> Drawn<()> {
    let labels: Vec<String> = rows
        .iter()
        .map(|(point, _)| view.plan.label(*point))
        .collect();
    let left = (labels
        .iter()
        .map(|l| canvas::width_of(l))
        .max()
        .unwrap_or(0)
        + 16)
        .min(WIDTH / 3);
    let (low, high) = span(rows, view.analysis.margin);
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
    let margin = view.analysis.margin;
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
    for (i, (_, comparisons)) in rows.iter().enumerate() {
        for comparison in comparisons {
            let Some(lane) = subjects.iter().position(|&s| s == comparison.subject) else {
                continue;
            };
            let pixels = f64::from(ROW_GAP / 2 + LANE * lane as i32 + LANE / 2);
            let y = i as f64 + pixels / f64::from(row_height(subjects.len()));
            let colour = of_subject(view, comparison.subject);
            let ratio = &comparison.ratio;
            if number::bounded(ratio) {
                let line = vec![(ratio.low.max(low), y), (ratio.high.min(high), y)];
                let line = PathElement::new(line, colour.stroke_width(2 * UNIT as u32));
                chart.draw_series([line]).map_err(words)?;
            }
            chart
                .draw_series([Circle::new(
                    (ratio.estimate, y),
                    7 * UNIT / 2,
                    colour.filled(),
                )])
                .map_err(words)?;
        }
    }
    row_labels(area, &labels, subjects.len(), left)?;
    legend(area, view, subjects, left)?;
    let caption = format!("time / time of {}", view.baseline());
    canvas::text(
        area,
        &caption,
        Type::Small,
        Side::Middle,
        ((left + WIDTH) / 2 * UNIT, (height - 12) * UNIT),
    )
}

/// What the axis shows: all estimates and bounds, 1 with its margin, and a little room.
fn span(rows: &[Row], margin: f64) -> (f64, f64) {
    let (mut low, mut high) = (1.0 - 2.0 * margin, 1.0 + 2.0 * margin);
    for ratio in rows
        .iter()
        .flat_map(|(_, comparisons)| comparisons.iter().map(|c| &c.ratio))
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

fn row_labels(area: &Area, labels: &[String], subjects: usize, left: i32) -> Drawn<()> {
    for (i, label) in labels.iter().enumerate() {
        let top = TOP + i as i32 * row_height(subjects);
        let middle = (top + row_height(subjects) / 2) * UNIT;
        let label = crate::table::cut(label, (left as usize - 8) / 7);
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

fn legend(area: &Area, view: &View, subjects: &[SubjectId], left: i32) -> Drawn<()> {
    let mut x = left + 8;
    for &subject in subjects {
        let dot = Circle::new(
            (x * UNIT, 16 * UNIT),
            4 * UNIT,
            of_subject(view, subject).filled(),
        );
        area.draw(&dot).map_err(words)?;
        let name = crate::table::cut(view.name(subject), 24);
        canvas::text(
            area,
            &name,
            Type::Label,
            Side::Right,
            ((x + 9) * UNIT, 16 * UNIT),
        )?;
        x += canvas::width_of(&name) + 32;
    }
    Ok(())
}
