// SPDX-License-Identifier: Apache-2.0
//! Heat maps: each column shows a distribution of values. A darker cell contains a larger fraction of its column's
//! values.

use super::canvas::{self, Canvas, DrawResult, TextAnchor, Type, fit};
use super::color::INK;
use super::frame::LEFT;
use super::scale::Span;
use crate::document::{HeatColumn, HeatMap, HeatMaps};
use crate::format::quantity;
use crate::output::Error;
use lab_model::Unit;
use plotters::style::RGBColor;

const WIDTH: f64 = 760.0;
const RIGHT: f64 = WIDTH - 24.0;
const TOP: f64 = 26.0;
const HEAD: f64 = 26.0;
const FOOT: f64 = 28.0;
/// The number of rows of a continuous axis.
const BINS: usize = 30;
/// The height of all rows of a map.
const BODY: f64 = 210.0;
/// The maximum height of a row.
const MAX_ROW: f64 = 21.0;
/// The maximum number of rows that are labeled.
const MAX_LABELS: usize = 8;

pub fn draw(id: &str, heat: &HeatMaps) -> Result<String, Error> {
    let maps: Vec<&HeatMap> = heat.maps.iter().filter(|m| !m.columns.is_empty()).collect();
    let rows = HeatRows::new(heat);
    let height = HEAD + rows.total_height() + FOOT;
    let bottom = TOP + height * maps.len() as f64;
    canvas::draw(id, (WIDTH, bottom + 16.0), |canvas| {
        canvas.text(
            &fit(&heat.axis.title, WIDTH / 2.0),
            Type::Small,
            TextAnchor::Right,
            (8.0, 12.0),
        )?;
        shades(canvas)?;
        for (i, map) in maps.iter().enumerate() {
            let top = TOP + height * i as f64;
            let panel = HeatPanel {
                map,
                rows: &rows,
                foot: top + HEAD + rows.total_height(),
            };
            canvas.heading(&map.name, (LEFT, top + 13.0), RIGHT - LEFT)?;
            panel.axes(canvas)?;
            for (i, column) in map.columns.iter().enumerate() {
                panel.column(canvas, i, column)?;
            }
        }
        let position = ((LEFT + RIGHT) / 2.0, bottom + 4.0);
        canvas.text(
            &fit(&heat.columns, WIDTH),
            Type::Small,
            TextAnchor::Middle,
            position,
        )
    })
}

/// Returns the opacity of a cell, 0 to 1, for its fraction of the column's values.
///
/// A fraction of 1 in 10,000 is still visible.
fn darkness(position: f64) -> f64 {
    (1.0 + position.log10() / 4.5).clamp(0.1, 1.0)
}

/// Draws the legend that explains the shades.
fn shades(canvas: &Canvas) -> DrawResult {
    let shades = [
        (0.001, "0.1 %"),
        (0.01, "1 %"),
        (0.1, "10 %"),
        (1.0, "100 % of a column"),
    ];
    let mut x = RIGHT - 330.0;
    for (position, word) in shades {
        let corners = ((x, 7.0), (x + 14.0, 17.0));
        canvas.rectangle(corners, INK, darkness(position))?;
        canvas.text(word, Type::Small, TextAnchor::Right, (x + 19.0, 12.0))?;
        x += 66.0;
    }
    Ok(())
}

struct HeatPanel<'m> {
    map: &'m HeatMap,
    rows: &'m HeatRows,
    /// The bottom edge of the rows, in pixels.
    foot: f64,
}

impl HeatPanel<'_> {
    /// Returns the left edge of a column.
    fn across(&self, column: usize) -> f64 {
        LEFT + column as f64 / self.map.columns.len() as f64 * (RIGHT - LEFT)
    }

    fn axes(&self, canvas: &Canvas) -> DrawResult {
        for (above, word) in self.rows.ticks() {
            let y = self.foot - above;
            if matches!(self.rows, HeatRows::Bins(_)) {
                canvas.rule((LEFT, y), (RIGHT, y))?;
            }
            canvas.text(&word, Type::Small, TextAnchor::Left, (LEFT - 8.0, y))?;
        }
        let mut free = f64::NEG_INFINITY;
        for (i, column) in self.map.columns.iter().enumerate() {
            let middle = (self.across(i) + self.across(i + 1)) / 2.0;
            let word = fit(&column.label, 120.0);
            let half = canvas::width_of(&word) / 2.0;
            if middle - half > free {
                canvas.text(
                    &word,
                    Type::Small,
                    TextAnchor::Middle,
                    (middle, self.foot + 12.0),
                )?;
                free = middle + half + 8.0;
            }
        }
        Ok(())
    }

    fn column(&self, canvas: &Canvas, index: usize, column: &HeatColumn) -> DrawResult {
        let rows = self.rows.counts(column);
        let total: f64 = rows.iter().sum();
        let height = self.rows.height();
        let gap = if self.map.columns.len() > 200 {
            0.0
        } else {
            0.5
        };
        let (left, right) = (self.across(index), self.across(index + 1) - gap);
        let color: RGBColor = canvas::color_and_dot(self.map.color).0;
        for (i, count) in rows.iter().enumerate().filter(|(_, n)| **n > 0.0) {
            let foot = self.foot - i as f64 * height;
            let corners = ((left, foot - height + 0.5), (right, foot));
            canvas.rectangle(corners, color, darkness(count / total))?;
        }
        Ok(())
    }
}

/// The rows of all maps, from bottom to top.
enum HeatRows {
    /// Equally tall parts of a continuous axis.
    Bins(Span),
    /// A row for each value.
    Values { values: Vec<f64>, unit: Unit },
}

impl HeatRows {
    fn new(heat: &HeatMaps) -> HeatRows {
        if let Some(values) = heat.row_values() {
            let unit = heat.axis.unit.clone();
            return HeatRows::Values { values, unit };
        }
        let columns = heat.maps.iter().flat_map(|map| &map.columns);
        let values = columns.flat_map(|column| column.counts.iter().map(|(value, _)| *value));
        HeatRows::Bins(Span::new(&heat.axis, values))
    }

    /// Returns the height of a row in pixels.
    fn height(&self) -> f64 {
        match self {
            HeatRows::Bins(_) => BODY / BINS as f64,
            HeatRows::Values { values, .. } => (BODY / values.len() as f64).min(MAX_ROW),
        }
    }

    /// Returns the height of all rows in pixels.
    fn total_height(&self) -> f64 {
        match self {
            HeatRows::Bins(_) => BODY,
            HeatRows::Values { values, .. } => values.len() as f64 * self.height(),
        }
    }

    /// Returns the labels, each with its height above the bottom edge in pixels.
    fn ticks(&self) -> Vec<(f64, String)> {
        match self {
            HeatRows::Bins(span) => {
                let ticks = span.ticks().into_iter();
                ticks.map(|(part, word)| (part * BODY, word)).collect()
            }
            HeatRows::Values { values, unit } => {
                let max = values
                    .iter()
                    .fold(0.0, |max: f64, value| max.max(value.abs()));
                let labeled = values.iter().enumerate();
                let labeled = labeled.step_by(values.len().div_ceil(MAX_LABELS));
                let middle = |row: usize| (row as f64 + 0.5) * self.height();
                labeled
                    .map(|(row, value)| (middle(row), quantity::tick(*value, unit, max)))
                    .collect()
            }
        }
    }

    /// Returns the number of values of a column in each row.
    fn counts(&self, column: &HeatColumn) -> Vec<f64> {
        match self {
            HeatRows::Bins(span) => {
                let mut counts = vec![0.0; BINS];
                for (value, count) in &column.counts {
                    if let Some(position) = span.position(*value) {
                        counts[((position * BINS as f64) as usize).min(BINS - 1)] += *count as f64;
                    }
                }
                counts
            }
            HeatRows::Values { values, .. } => {
                let count = |value: &f64| column.count_of(*value).unwrap_or(0) as f64;
                values.iter().map(count).collect()
            }
        }
    }
}
