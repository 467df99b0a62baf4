// SPDX-License-Identifier: Apache-2.0
//! A plot area with a horizontal and a vertical axis, and with names at the ends of lines.

use super::canvas::{Canvas, DrawResult, NAME, Pixel, TextAnchor, Type, fit, spread_out, width_of};
use super::scale::Span;
use crate::document::Axis;
use crate::format::text::cut;
use plotters::style::RGBColor;

/// The space for the labels of the vertical axis, in pixels.
pub const LEFT: f64 = 74.0;
/// The space for the labels and the title of the horizontal axis, in pixels.
pub const BOTTOM: f64 = 48.0;

/// The plot area. Edges are in pixels.
pub struct PlotFrame {
    /// The left edge.
    pub left: f64,
    /// The right edge.
    pub right: f64,
    /// The top edge.
    pub top: f64,
    /// The bottom edge.
    pub bottom: f64,
    /// The horizontal axis.
    pub x: Span,
    /// The vertical axis.
    pub y: Span,
}

impl PlotFrame {
    /// Converts a position on the x axis, from 0 to 1, to a horizontal pixel coordinate.
    pub fn x_pixel(&self, position: f64) -> f64 {
        self.left + position * (self.right - self.left)
    }

    /// Converts a position on the y axis, from 0 to 1, to a vertical pixel coordinate.
    pub fn y_pixel(&self, position: f64) -> f64 {
        self.bottom - position * (self.bottom - self.top)
    }

    /// Returns the pixel position of a point, or `None` if its x or y value cannot be drawn.
    pub fn pixel(&self, x: f64, y: f64) -> Option<Pixel> {
        Some((
            self.x_pixel(self.x.position(x)?),
            self.y_pixel(self.y.position(y)?),
        ))
    }

    /// Draws grid lines, tick labels where there is room, and the titles of both axes.
    pub fn axes(&self, canvas: &Canvas, x: &[(f64, String)], titles: (&Axis, &Axis)) -> DrawResult {
        for (position, word) in self.y.ticks() {
            let y = self.y_pixel(position);
            canvas.rule((self.left - 5.0, y), (self.right, y))?;
            canvas.text(&word, Type::Small, TextAnchor::Left, (self.left - 8.0, y))?;
        }
        draw_x_ticks(canvas, (self.left, self.right), (self.top, self.bottom), x)?;
        let position = ((self.left + self.right) / 2.0, self.bottom + 34.0);
        let title = fit(&titles.0.title, self.right - self.left);
        canvas.text(&title, Type::Small, TextAnchor::Middle, position)?;
        let title = fit(&titles.1.title, self.right);
        canvas.text(&title, Type::Small, TextAnchor::Right, (8.0, 12.0))
    }

    /// Draws names on the right, with a leader line from each name to the end of its line. The
    /// names are moved apart so that they do not overlap.
    pub fn names(&self, canvas: &Canvas, names: &[(&str, RGBColor)], ends: &[Pixel]) -> DrawResult {
        let heights: Vec<f64> = ends.iter().map(|end| end.1).collect();
        let positions = spread_out(&heights, 16.0, (self.top, self.bottom));
        for ((&(name, color), end), y) in names.iter().zip(ends).zip(positions) {
            let x = self.right + 14.0;
            canvas.path(&[(end.0 + 5.0, end.1), (x, y)], color, 0.75)?;
            canvas.text(
                &cut(name, NAME),
                Type::Label,
                TextAnchor::Right,
                (x + 4.0, y),
            )?;
        }
        Ok(())
    }
}

/// Returns the width that names on the right need, in pixels.
pub fn room_for<'n>(names: impl Iterator<Item = &'n str>) -> f64 {
    let widths = names.map(|name| width_of(&cut(name, NAME)));
    widths.fold(0.0, f64::max) + 28.0
}

/// Draws vertical grid lines with tick labels below them.
///
/// `(left, right)` and `(top, bottom)` are the edges of the plot area.
pub fn draw_x_ticks(
    canvas: &Canvas,
    (left, right): (f64, f64),
    (top, bottom): (f64, f64),
    ticks: &[(f64, String)],
) -> DrawResult {
    let mut free = f64::NEG_INFINITY;
    for (position, word) in ticks {
        let (x, half) = (left + position * (right - left), width_of(word) / 2.0);
        if x - half < free {
            continue;
        }
        free = x + half + 6.0;
        canvas.rule((x, top), (x, bottom + 5.0))?;
        canvas.text(word, Type::Small, TextAnchor::Middle, (x, bottom + 14.0))?;
    }
    Ok(())
}
