// SPDX-License-Identifier: Apache-2.0
//! Bar charts: one bar per row with its interval, grouped into panels with headings.
//!
//! Bars are plain or stacked. A logarithmic scale has no zero from which a bar could start, so a
//! dot replaces the bar.

use super::canvas::{
    self, Canvas, Dot, DrawResult, Legend, Pixel, TextAnchor, Type, WhiskerEnd, color_and_dot, fit,
    width_of,
};
use super::frame::draw_x_ticks;
use super::scale::{Span, reach};
use crate::document::{BarPart, BarRow, Bars, Scale};
use crate::format::quantity;
use crate::output::Error;

/// The full width of a chart with one column of panels, in pixels.
pub const WIDTH: f64 = 760.0;
const COLUMN: f64 = 480.0;
const BAR: f64 = 20.0;
const HEAD: f64 = 26.0;
const FOOT: f64 = 32.0;
/// The maximum number of panels in one column. More panels are arranged in two columns.
const ONE_COLUMN: usize = 3;
/// The ratio between the maxima of two panels above which each panel has its own scale.
const MAX_COMMON_RATIO: f64 = 4.0;

pub fn draw(id: &str, bars: &Bars, room: f64) -> Result<String, Error> {
    let (panels, have_own_scales) = panels(bars);
    let columns = if panels.len() > ONE_COLUMN && room >= WIDTH {
        2
    } else {
        1
    };
    let width = if columns == 2 { COLUMN } else { room };
    let entries = bars
        .parts
        .iter()
        .map(|(name, number)| (name.clone(), color_and_dot(*number).0, Dot::Square));
    let legend = Legend::new(entries.collect(), width * columns as f64 - 16.0);
    let head = if panels.iter().any(|p| !p[0].group.is_empty()) {
        HEAD
    } else {
        10.0
    };
    let heights = panels.chunks(columns).map(|line| {
        let rows = line.iter().map(|panel| panel.len()).max().unwrap_or(0);
        head + BAR * rows as f64 + FOOT
    });
    let heights: Vec<f64> = heights.collect();
    let top = legend.height() + 4.0;
    let note = if have_own_scales {
        "; each panel has its own scale"
    } else {
        ""
    };
    let bottom = top + heights.iter().sum::<f64>();
    canvas::draw(id, (width * columns as f64, bottom + 22.0), |canvas| {
        legend.draw(canvas, (8.0, 2.0))?;
        let mut top = top;
        for (line, height) in panels.chunks(columns).zip(&heights) {
            for (i, rows) in line.iter().enumerate() {
                let scaled = if have_own_scales {
                    rows
                } else {
                    bars.rows.as_slice()
                };
                let span = Span::new(
                    &bars.axis,
                    scaled.iter().flat_map(|row| ends(row, bars.axis.scale)),
                );
                let panel = BarPanel {
                    bars,
                    rows,
                    span,
                    left: width * i as f64,
                    width,
                };
                panel.draw(canvas, top, top + head)?;
            }
            top += height;
        }
        let title = format!(
            "{}{note}",
            fit(&bars.axis.title, f64::max(width - 200.0, width / 2.0))
        );
        let position = (width * columns as f64 / 2.0, bottom + 8.0);
        canvas.text(&title, Type::Small, TextAnchor::Middle, position)
    })
}

/// Returns the panels, one per heading, and true if the panels need separate scales.
fn panels(bars: &Bars) -> (Vec<&[BarRow]>, bool) {
    let same = |a: &BarRow, b: &BarRow| b.group.is_empty() || a.group == b.group;
    let panels: Vec<&[BarRow]> = bars.rows.chunk_by(same).collect();
    let have_own_scales = need_own_scales(bars, &panels);
    (panels, have_own_scales)
}

/// Returns true if the bars of one panel would be too short to see on the common scale.
fn need_own_scales(bars: &Bars, panels: &[&[BarRow]]) -> bool {
    let max = |panel: &&[BarRow]| {
        let ends = panel.iter().flat_map(|row| ends(row, bars.axis.scale));
        ends.filter(|end| end.is_finite()).fold(0.0, f64::max)
    };
    let max: Vec<f64> = panels.iter().map(max).collect();
    let largest = max.iter().copied().fold(0.0, f64::max);
    bars.axis.scale == Scale::Linear && max.iter().any(|max| max * MAX_COMMON_RATIO < largest)
}

/// Returns the values at the ends of a row's bar and interval.
pub fn ends(row: &BarRow, scale: Scale) -> Vec<f64> {
    let total = reach(&row.total, scale).into_iter();
    let stack = (!row.parts.is_empty()).then(|| row.parts.iter().map(length_of).sum());
    total.chain(stack).collect()
}

/// Returns the length of a segment. A value that is negative or not finite has no length.
pub fn length_of(part: &BarPart) -> f64 {
    let length = part.value.value;
    if length.is_finite() {
        length.max(0.0)
    } else {
        0.0
    }
}

struct BarPanel<'b> {
    bars: &'b Bars,
    rows: &'b [BarRow],
    span: Span,
    left: f64,
    width: f64,
}

impl BarPanel<'_> {
    /// Draws the names on the left, the bars in the middle, and the values to the right of the intervals.
    fn draw(&self, canvas: &Canvas, top: f64, first: f64) -> DrawResult {
        let names = self.rows.iter().map(|row| width_of(&row.name));
        let names = names.fold(0.0, f64::max).min(self.width / 3.0) + 16.0;
        let values = self
            .rows
            .iter()
            .map(|row| width_of(&quantity::short(&row.total)));
        let values = values.fold(0.0, f64::max) + 16.0;
        let (left, right) = (self.left + names, self.left + self.width - values);
        let group = &self.rows[0].group;
        canvas.heading(group, (self.left + 8.0, top + 12.0), self.width - 16.0)?;
        let bottom = first + BAR * self.rows.len() as f64;
        draw_x_ticks(canvas, (left, right), (first, bottom), &self.span.ticks())?;
        for (row, y) in self
            .rows
            .iter()
            .zip((0..).map(|i| first + BAR * (f64::from(i) + 0.5)))
        {
            let name = fit(&row.name, names - 16.0);
            canvas.text(&name, Type::Label, TextAnchor::Left, (left - 7.0, y))?;
            let end = self.bar(canvas, row, (left, right), y)?;
            let position = (end + 6.0, y);
            canvas.text(
                &quantity::short(&row.total),
                Type::Small,
                TextAnchor::Right,
                position,
            )?;
        }
        Ok(())
    }

    /// Draws a bar with its interval. Returns the right end of the bar or of the interval,
    /// whichever extends further, as a horizontal position in pixels.
    fn bar(&self, canvas: &Canvas, row: &BarRow, (left, right): Pixel, y: f64) -> DrawResult<f64> {
        let across = |value: f64| left + self.span.clamped(value) * (right - left);
        let scale = self.bars.axis.scale;
        let logarithmic = scale == Scale::Log;
        let zero = if logarithmic { left } else { across(0.0) };
        let mut end = zero;
        let mut stretch = |from: f64, to: f64, number: usize| {
            end = f64::max(end, to);
            let corners = ((from, y - BAR / 2.0 + 3.0), (to, y + BAR / 2.0 - 3.0));
            canvas.rectangle(corners, color_and_dot(number).0, 0.88)
        };
        let mut from = 0.0;
        for part in &row.parts {
            let length = length_of(part);
            if let (true, Some((_, number))) = (length > 0.0, self.bars.parts.get(part.part)) {
                stretch(across(from), across(from + length), *number)?;
                from += length;
            }
        }
        if let Some(part) = self.span.position(row.total.value) {
            let to = left + part * (right - left);
            if logarithmic {
                let (color, dot) = color_and_dot(row.color);
                canvas.dot((to, y), 4.0, color, dot)?;
                end = end.max(to + 3.0);
            } else if row.parts.is_empty() {
                stretch(zero.min(to), zero.max(to), row.color)?;
            }
            if let Some((low, high)) = row.total.bounds() {
                let [low, high] = [low, high].map(|bound| WhiskerEnd {
                    x: across(bound),
                    is_cut_off: self.span.is_below(bound) || self.span.is_above(bound),
                });
                canvas.whisker([low, high], y)?;
                end = end.max(high.x);
            }
        }
        Ok(end)
    }
}
