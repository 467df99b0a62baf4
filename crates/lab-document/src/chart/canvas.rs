// SPDX-License-Identifier: Apache-2.0
//! The canvas that all charts draw on: shapes and text at pixel positions, label placement, and legends.

use super::color::{GRID, INK, MUTED, PAPER, numbered};
use crate::format::text::cut;
use crate::output::Error;
use plotters::coord::Shift;
use plotters::element::{DashedPathElement, Drawable, PointCollection};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The number of drawing units per pixel. The drawing library supports only integer coordinates, so
/// fractions of a pixel need smaller units.
const UNIT: f64 = 4.0;

/// The result of drawing, with an error in words.
pub type DrawResult<T = ()> = Result<T, String>;

/// A position in pixels, from the upper left corner.
pub type Pixel = (f64, f64);

/// An SVG drawing area, on which positions are in pixels.
pub struct Canvas<'a>(DrawingArea<SVGBackend<'a>, Shift>);

/// The style of text.
#[derive(Clone, Copy)]
pub enum Type {
    /// Headings of panels.
    Heading,
    /// Labels with names.
    Label,
    /// Ticks and values.
    Small,
}

/// The alignment of text relative to its position.
#[derive(Clone, Copy)]
pub enum TextAnchor {
    /// The text begins at the position.
    Right,
    /// The text ends at the position.
    Left,
    /// The text is centered at the position.
    Middle,
}

/// The shape of a dot. Subjects whose colors repeat have different shapes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Dot {
    /// A filled circle.
    Disc,
    /// A filled square.
    Square,
    /// An unfilled circle.
    Ring,
}

/// An end of an interval.
#[derive(Clone, Copy)]
pub struct WhiskerEnd {
    /// The horizontal position in pixels.
    pub x: f64,
    /// True if the interval continues beyond the axis.
    pub is_cut_off: bool,
}

/// Draws a picture of the given size in pixels. Returns the `svg` element.
pub fn draw(
    id: &str,
    (width, height): (f64, f64),
    content: impl FnOnce(&Canvas) -> DrawResult,
) -> Result<String, Error> {
    let mut svg = String::new();
    let size = ((width * UNIT) as u32, (height * UNIT) as u32);
    let drawn = {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let canvas = Canvas(area);
        let paper = canvas.0.fill(&PAPER).map_err(words);
        paper
            .and_then(|()| content(&canvas))
            .and_then(|()| canvas.0.present().map_err(words))
    };
    drawn.map_err(|why| Error::new(format!("plot {id}"), why))?;
    let units = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
    Ok(svg.replacen(&units, &format!("width=\"{width}\" height=\"{height}\""), 1))
}

impl<'a> Canvas<'a> {
    /// Draws a line through the given positions. `width` is in pixels.
    pub fn path(&self, pixels: &[Pixel], color: RGBColor, width: f64) -> DrawResult {
        let style = color.stroke_width((width * UNIT) as u32);
        self.shape(&PathElement::new(units(pixels), style))
    }

    /// Draws a dashed line through the given positions. `width` is in pixels.
    pub fn dashes(&self, pixels: &[Pixel], color: RGBColor, width: f64) -> DrawResult {
        let style = color.stroke_width((width * UNIT) as u32);
        let (dash, gap) = ((5.0 * UNIT) as i32, (4.0 * UNIT) as i32);
        self.shape(&DashedPathElement::new(units(pixels), dash, gap, style))
    }

    /// Draws a filled area. `strength` is the opacity, from 0 to 1.
    pub fn area(&self, corners: &[Pixel], color: RGBColor, strength: f64) -> DrawResult {
        self.shape(&Polygon::new(units(corners), color.mix(strength)))
    }

    /// Draws a filled rectangle between two corners. `strength` is the opacity, from 0 to 1.
    pub fn rectangle(&self, (a, b): (Pixel, Pixel), color: RGBColor, strength: f64) -> DrawResult {
        let corners = [unit(a), unit(b)];
        self.shape(&Rectangle::new(corners, color.mix(strength).filled()))
    }

    /// Draws a dot with the given radius in pixels.
    pub fn dot(&self, (x, y): Pixel, radius: f64, color: RGBColor, dot: Dot) -> DrawResult {
        let r = (radius * UNIT) as i32;
        match dot {
            Dot::Disc => self.shape(&Circle::new(unit((x, y)), r, color.filled())),
            Dot::Square => {
                let half = radius * 0.9;
                self.rectangle(((x - half, y - half), (x + half, y + half)), color, 1.0)
            }
            Dot::Ring => {
                self.shape(&Circle::new(unit((x, y)), r, PAPER.filled()))?;
                let style = color.stroke_width((1.5 * UNIT) as u32);
                self.shape(&Circle::new(unit((x, y)), r, style))
            }
        }
    }

    /// Draws a horizontal interval. Each end has a mark or, if the interval continues beyond the
    /// axis, an arrow.
    pub fn whisker(&self, [low, high]: [WhiskerEnd; 2], y: f64) -> DrawResult {
        self.path(&[(low.x, y), (high.x, y)], INK, 1.0)?;
        for (end, back) in [(low, 4.0), (high, -4.0)] {
            if end.is_cut_off {
                self.arrow((end.x, y), (back, 3.0), INK, 1.0)?;
            } else {
                self.path(&[(end.x, y - 3.0), (end.x, y + 3.0)], INK, 1.0)?;
            }
        }
        Ok(())
    }

    /// Draws the head of a horizontal arrow. `length` is the distance from the tip to the other
    /// ends, negative for an arrow to the right, and `half` is half of the head's height.
    pub fn arrow(
        &self,
        (x, y): Pixel,
        (length, half): (f64, f64),
        color: RGBColor,
        width: f64,
    ) -> DrawResult {
        let head = [(x + length, y - half), (x, y), (x + length, y + half)];
        self.path(&head, color, width)
    }

    /// Draws a grid line.
    pub fn rule(&self, from: Pixel, to: Pixel) -> DrawResult {
        self.path(&[from, to], GRID, 1.0)
    }

    /// Draws text, vertically centered at the position.
    pub fn text(&self, text: &str, kind: Type, side: TextAnchor, position: Pixel) -> DrawResult {
        let text = legal(text);
        self.shape(&Text::new(text, unit(position), style(kind, side)))
    }

    /// Draws a heading, truncated to a width in pixels.
    pub fn heading(&self, text: &str, position: Pixel, width: f64) -> DrawResult {
        self.text(
            &fit(text, width * LETTER / BOLD),
            Type::Heading,
            TextAnchor::Right,
            position,
        )
    }

    fn shape<'e, E>(&self, shape: &'e E) -> DrawResult
    where
        &'e E: PointCollection<'e, (i32, i32)>,
        E: Drawable<SVGBackend<'a>>,
    {
        self.0.draw(shape).map_err(words)
    }
}

fn style(kind: Type, side: TextAnchor) -> TextStyle<'static> {
    let (pixels, weight, color) = match kind {
        Type::Heading => (13.0, FontStyle::Bold, INK),
        Type::Label => (12.5, FontStyle::Normal, INK),
        Type::Small => (11.5, FontStyle::Normal, MUTED),
    };
    let h = match side {
        TextAnchor::Right => HPos::Left,
        TextAnchor::Left => HPos::Right,
        TextAnchor::Middle => HPos::Center,
    };
    // The library divides font sizes by 1.24, the line height.
    let font = FontDesc::new(FontFamily::SansSerif, pixels * 1.24 * UNIT, weight);
    TextStyle {
        pos: Pos::new(h, VPos::Center),
        color: color.to_backend_color(),
        ..TextStyle::from(font)
    }
}

/// Returns the color and the dot shape for a color index.
pub fn color_and_dot(number: usize) -> (RGBColor, Dot) {
    let again = number != crate::document::NEUTRAL && number / super::color::COLORS % 2 == 1;
    let dot = if again { Dot::Square } else { Dot::Disc };
    (numbered(number), dot)
}

/// A legend of dots with names.
pub struct Legend {
    entries: Vec<(String, RGBColor, Dot)>,
    width: f64,
}

impl Legend {
    /// Creates a legend whose lines are at most `width` pixels wide.
    pub fn new(entries: Vec<(String, RGBColor, Dot)>, width: f64) -> Legend {
        Legend { entries, width }
    }

    /// Returns the height in pixels, or 0 without entries.
    pub fn height(&self) -> f64 {
        let last = self.positions().last().map(|(_, line)| *line);
        last.map_or(0.0, |line| 24.0 + 20.0 * f64::from(line))
    }

    /// Draws the legend with its upper left corner at a position.
    pub fn draw(&self, canvas: &Canvas, (left, top): Pixel) -> DrawResult {
        for ((name, color, dot), (x, line)) in self.entries.iter().zip(self.positions()) {
            let position = (left + x + 5.0, top + 10.0 + 20.0 * f64::from(line));
            canvas.dot(position, 4.0, *color, *dot)?;
            let name = cut(name, NAME);
            canvas.text(
                &name,
                Type::Label,
                TextAnchor::Right,
                (position.0 + 9.0, position.1),
            )?;
        }
        Ok(())
    }

    /// Returns the horizontal position of each entry in pixels, and the number of its line.
    fn positions(&self) -> Vec<(f64, u32)> {
        let (mut x, mut line) = (0.0, 0);
        let position = |(name, ..): &(String, RGBColor, Dot)| {
            let width = width_of(&cut(name, NAME)) + 32.0;
            if x > 0.0 && x + width > self.width {
                (x, line) = (0.0, line + 1);
            }
            let position = (x, line);
            x += width;
            position
        };
        self.entries.iter().map(position).collect()
    }
}

/// The maximum width of a name in a legend or next to a line, in columns.
pub const NAME: usize = 28;

/// Estimates the width of a text in pixels, because the library has no font metrics.
pub fn width_of(text: &str) -> f64 {
    unicode_width::UnicodeWidthStr::width(text) as f64 * LETTER
}

/// Truncates text to approximately the given width in pixels.
pub fn fit(text: &str, width: f64) -> String {
    cut(text, ((width / LETTER) as usize).max(2))
}

/// The width of a character of normal text, in pixels.
const LETTER: f64 = 7.0;
/// The width of a character of a heading, in pixels.
const BOLD: f64 = 8.0;

/// Moves label positions so that they are at least `gap` apart.
///
/// The positions stay as close as possible to the `desired` positions, and between `top` and
/// `bottom` if there is enough room.
pub fn spread_out(desired: &[f64], gap: f64, (top, bottom): (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..desired.len()).collect();
    order.sort_by(|&a, &b| desired[a].total_cmp(&desired[b]));
    let mut positions = desired.to_vec();
    let mut min = top;
    for &i in &order {
        positions[i] = positions[i].max(min);
        min = positions[i] + gap;
    }
    let mut max = bottom;
    for &i in order.iter().rev() {
        positions[i] = positions[i].min(max);
        max = positions[i] - gap;
    }
    positions
}

/// Replaces characters that XML 1.0 does not allow (section 2.2) and bidirectional formatting characters.
pub fn legal(text: &str) -> String {
    crate::format::text::clean(text).replace(['\u{FFFE}', '\u{FFFF}'], " ")
}

fn unit((x, y): Pixel) -> (i32, i32) {
    ((x * UNIT).round() as i32, (y * UNIT).round() as i32)
}

/// Converts pixel positions to drawing units and removes consecutive duplicates.
fn units(pixels: &[Pixel]) -> Vec<(i32, i32)> {
    let mut units: Vec<_> = pixels.iter().map(|position| unit(*position)).collect();
    units.dedup();
    units
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}
