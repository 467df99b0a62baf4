// SPDX-License-Identifier: Apache-2.0
//! Forest plots: intervals compared with a reference value. Each row is an interval with its value on the right, and
//! rows are grouped under headings.

use super::canvas::{self, Canvas, Dot, DrawResult, Legend, TextAnchor, Type, fit, width_of};
use super::color::{BAND, INK, tone_color};
use super::frame::draw_x_ticks;
use super::scale::{Span, reach};
use crate::document::{Forest, ForestRow, Tone};
use crate::format::quantity;
use crate::output::Error;

/// The full width of a forest plot, in pixels.
pub const WIDTH: f64 = 820.0;
const ROW: f64 = 19.0;
const HEAD: f64 = 24.0;
const GAP: f64 = 8.0;
const FOOT: f64 = 46.0;

pub fn draw(id: &str, forest: &Forest, width: f64) -> Result<String, Error> {
    let rows = || forest.groups.iter().flat_map(|group| &group.rows);
    let legend = legend(forest, width);
    let top = legend.height() + 6.0;
    let heads = forest
        .groups
        .iter()
        .map(|g| if g.title.is_empty() { GAP } else { HEAD + GAP });
    let bottom = top + heads.sum::<f64>() + ROW * rows().count() as f64 + GAP;
    let widest = |widths: &mut dyn Iterator<Item = f64>| widths.fold(0.0, f64::max);
    let names = widest(&mut rows().map(|row| width_of(&row.name))).min(width / 3.0);
    let values = widest(&mut rows().map(|row| width_of(&value(row)))).min(width / 3.0);
    let margin = forest
        .margin
        .map(|m| [1.0 - m, 1.0 + m].map(|part| part * forest.reference));
    // The axis extends at least to twice the margin, so that an interval within the margin is visibly inside.
    let around = forest.margin.unwrap_or(0.0) * 2.0;
    let around = [1.0 - around, 1.0 + around].map(|part| part * forest.reference);
    let reached = rows().flat_map(|row| reach(&row.value, forest.axis.scale));
    let span = Span::new(&forest.axis, reached.chain(around));
    let (left, right) = (names + 18.0, width - values - 18.0);
    let panel = ForestPanel {
        span,
        left,
        right,
        width,
    };
    canvas::draw(id, (width, bottom + FOOT), |canvas| {
        legend.draw(canvas, (8.0, 0.0))?;
        if let Some([low, high]) = margin {
            let band = ((panel.across(low), top), (panel.across(high), bottom));
            canvas.rectangle(band, BAND, 1.0)?;
        }
        draw_x_ticks(canvas, (left, right), (top, bottom), &panel.span.ticks())?;
        if panel.span.position(forest.reference).is_some() {
            let x = panel.across(forest.reference);
            canvas.path(&[(x, top), (x, bottom)], INK, 1.0)?;
        }
        let mut y = top;
        for group in &forest.groups {
            y += GAP;
            if !group.title.is_empty() {
                canvas.heading(&group.title, (8.0, y + HEAD / 2.0), width - 16.0)?;
                y += HEAD;
            }
            for row in &group.rows {
                panel.row(canvas, row, y + ROW / 2.0)?;
                y += ROW;
            }
        }
        let position = ((left + right) / 2.0, bottom + 34.0);
        let title = fit(&forest.axis.title, width - 40.0);
        canvas.text(&title, Type::Small, TextAnchor::Middle, position)
    })
}

/// Returns the legend that explains the colors of the dots.
fn legend(forest: &Forest, width: f64) -> Legend {
    let words = [
        (Tone::Better, "better"),
        (Tone::Worse, "worse"),
        (Tone::Same, "equivalent"),
        (Tone::Inconclusive, "inconclusive"),
        (Tone::Alarm, "failed"),
    ];
    let rows = || forest.groups.iter().flat_map(|group| &group.rows);
    let used = words
        .into_iter()
        .filter(|(tone, _)| rows().any(|row| row.tone == *tone));
    let entries = used.map(|(tone, word)| (word.into(), tone_color(tone), dot(tone)));
    Legend::new(entries.collect(), width - 16.0)
}

/// Returns the shape of the dot for a tone. The shape shows the tone without color.
fn dot(tone: Tone) -> Dot {
    match tone {
        Tone::Inconclusive => Dot::Ring,
        Tone::Same => Dot::Square,
        _ => Dot::Disc,
    }
}

fn value(row: &ForestRow) -> String {
    if row.label.is_empty() {
        quantity::short(&row.value)
    } else {
        row.label.clone()
    }
}

struct ForestPanel {
    span: Span,
    left: f64,
    right: f64,
    width: f64,
}

impl ForestPanel {
    fn across(&self, value: f64) -> f64 {
        self.left + self.span.clamped(value) * (self.right - self.left)
    }

    fn row(&self, canvas: &Canvas, row: &ForestRow, y: f64) -> DrawResult {
        let color = tone_color(row.tone);
        let name = fit(&row.name, self.left - 18.0);
        canvas.text(&name, Type::Label, TextAnchor::Left, (self.left - 9.0, y))?;
        if self.span.position(row.value.value).is_some() {
            if let Some((low, high)) = row.value.bounds() {
                let ends = [low, high].map(|bound| self.across(bound));
                canvas.path(&[(ends[0], y), (ends[1], y)], color, 2.0)?;
                // An arrow shows that the interval continues beyond the axis.
                for (x, way, beyond) in [
                    (ends[0], 6.0, self.span.is_below(low)),
                    (ends[1], -6.0, self.span.is_above(high)),
                ] {
                    if beyond {
                        canvas.arrow((x, y), (way, 4.0), color, 2.0)?;
                    }
                }
            }
            canvas.dot((self.across(row.value.value), y), 4.0, color, dot(row.tone))?;
        }
        let value = fit(&value(row), self.width / 3.0);
        canvas.text(
            &value,
            Type::Small,
            TextAnchor::Right,
            (self.right + 9.0, y),
        )
    }
}
