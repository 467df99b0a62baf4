// SPDX-License-Identifier: Apache-2.0
//! Heat maps: each column shows a distribution of values. A darker cell contains a larger fraction of its column's
//! values.

use super::canvas::{self, Canvas, DrawResult, TextAnchor, Type, fit};
use super::color::INK;
use super::frame::LEFT;
use super::scale::Span;
use crate::document::{HeatColumn, HeatMap, HeatMaps};
use crate::output::Error;
use plotters::style::RGBColor;

const WIDTH: f64 = 760.0;
const RIGHT: f64 = WIDTH - 24.0;
const TOP: f64 = 26.0;
const HEAD: f64 = 26.0;
const FOOT: f64 = 28.0;
const ROWS: usize = 30;
const ROW: f64 = 7.0;

pub fn draw(id: &str, heat: &HeatMaps) -> Result<String, Error> {
    let maps: Vec<&HeatMap> = heat.maps.iter().filter(|m| !m.columns.is_empty()).collect();
    let span = span(heat);
    let height = HEAD + ROWS as f64 * ROW + FOOT;
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
                span: &span,
                foot: top + HEAD + ROWS as f64 * ROW,
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
    span: &'m Span,
    /// The bottom edge of the rows, in pixels.
    foot: f64,
}

impl HeatPanel<'_> {
    /// Returns the left edge of a column.
    fn across(&self, column: usize) -> f64 {
        LEFT + column as f64 / self.map.columns.len() as f64 * (RIGHT - LEFT)
    }

    fn axes(&self, canvas: &Canvas) -> DrawResult {
        for (position, word) in self.span.ticks() {
            let y = self.foot - position * ROWS as f64 * ROW;
            canvas.rule((LEFT, y), (RIGHT, y))?;
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
        let rows = rows(self.span, column);
        let total: f64 = rows.iter().sum();
        let gap = if self.map.columns.len() > 200 {
            0.0
        } else {
            0.5
        };
        let (left, right) = (self.across(index), self.across(index + 1) - gap);
        let color: RGBColor = canvas::color_and_dot(self.map.color).0;
        for (i, count) in rows.iter().enumerate().filter(|(_, n)| **n > 0.0) {
            let foot = self.foot - i as f64 * ROW;
            let corners = ((left, foot - ROW + 0.5), (right, foot));
            canvas.rectangle(corners, color, darkness(count / total))?;
        }
        Ok(())
    }
}

/// Returns the common value axis of all maps.
fn span(heat: &HeatMaps) -> Span {
    let columns = heat.maps.iter().flat_map(|map| &map.columns);
    let values = columns.flat_map(|column| column.counts.iter().map(|(value, _)| *value));
    Span::new(&heat.axis, values)
}

/// Returns the number of values of a column in each row, from bottom to top.
fn rows(span: &Span, column: &HeatColumn) -> [f64; ROWS] {
    let mut rows = [0.0; ROWS];
    for (value, count) in &column.counts {
        if let Some(position) = span.position(*value) {
            rows[((position * ROWS as f64) as usize).min(ROWS - 1)] += *count as f64;
        }
    }
    rows
}
