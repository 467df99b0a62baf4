// SPDX-License-Identifier: Apache-2.0
//! What all plots share: a drawing area with a quarter pixel's resolution, text, and ticks.

use super::colour::{GRID, INK, MUTED, PAPER};
use crate::Error;
use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The library draws on whole units; four of them make one pixel of the picture.
pub const UNIT: i32 = 4;

/// What is drawn on.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// What goes wrong when drawing, in words.
pub type Drawn<T> = Result<T, String>;

/// Draws on an area of that size in pixels, and returns the `svg` element.
pub fn draw(
    name: &str,
    (width, height): (i32, i32),
    content: impl FnOnce(&Area) -> Drawn<()>,
) -> Result<String, Error> {
    let mut svg = String::new();
    let size = ((width * UNIT) as u32, (height * UNIT) as u32);
    let drawn = {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let paper = area.fill(&PAPER).map_err(words);
        paper
            .and_then(|()| content(&area))
            .and_then(|()| area.present().map_err(words))
    };
    drawn.map_err(|why| Error::Plot {
        name: name.into(),
        why,
    })?;
    let units = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
    Ok(svg.replacen(&units, &format!("width=\"{width}\" height=\"{height}\""), 1))
}

/// An error of the drawing library in words.
pub fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// How large text is.
#[derive(Clone, Copy)]
pub enum Type {
    /// Headings of panels.
    Heading,
    /// Names.
    Label,
    /// Ticks and values.
    Small,
}

/// Where text stands relative to its place.
#[derive(Clone, Copy)]
pub enum Side {
    /// It begins there.
    Right,
    /// It ends there.
    Left,
    /// Its middle is there.
    Middle,
}

/// A style for text, also for the ticks that the library sets.
pub fn style(kind: Type, side: Side) -> TextStyle<'static> {
    let (pixels, weight, colour) = match kind {
        Type::Heading => (13.0, FontStyle::Bold, INK),
        Type::Label => (12.5, FontStyle::Normal, INK),
        Type::Small => (11.5, FontStyle::Normal, MUTED),
    };
    let h = match side {
        Side::Right => HPos::Left,
        Side::Left => HPos::Right,
        Side::Middle => HPos::Center,
    };
    // The backend divides sizes by 1.24, the height of a line.
    let font = FontDesc::new(
        FontFamily::SansSerif,
        pixels * 1.24 * f64::from(UNIT),
        weight,
    );
    TextStyle {
        pos: Pos::new(h, VPos::Center),
        color: colour.to_backend_color(),
        ..TextStyle::from(font)
    }
}

/// The style of the ticks' numbers below an axis.
pub fn below() -> TextStyle<'static> {
    TextStyle {
        pos: Pos::new(HPos::Center, VPos::Top),
        ..style(Type::Small, Side::Middle)
    }
}

/// Text at a place in units.
pub fn text(area: &Area, text: &str, kind: Type, side: Side, at: (i32, i32)) -> Drawn<()> {
    area.draw(&Text::new(text.to_string(), at, style(kind, side)))
        .map_err(words)
}

/// What a chart with numbers on both axes is drawn on.
pub type Chart<'a, X, Y> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<X, Y>>;

/// The axes with so many lines across at the most, their numbers written by `x` and `y`.
pub fn axes<'a, X, Y>(
    chart: &mut Chart<'a, X, Y>,
    lines: usize,
    x: impl Fn(f64) -> String,
    y: impl Fn(f64) -> String,
) -> Drawn<()>
where
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    chart
        .configure_mesh()
        .bold_line_style(GRID.stroke_width(UNIT as u32))
        .light_line_style(TRANSPARENT)
        .axis_style(GRID.stroke_width(UNIT as u32))
        .y_labels(lines)
        .set_all_tick_mark_size(5 * UNIT)
        .x_label_style(below())
        .y_label_style(style(Type::Small, Side::Left))
        .x_label_formatter(&|value| x(*value))
        .y_label_formatter(&|value| y(*value))
        .draw()
        .map_err(words)
}

/// What the numbers below the axis are, in the middle between two places on a picture of that height.
pub fn name_below(area: &Area, name: &str, (left, right): (i32, i32), height: i32) -> Drawn<()> {
    let place = ((left + right) / 2 * UNIT, (height - 12) * UNIT);
    text(area, name, Type::Small, Side::Middle, place)
}

/// Dots with names, side by side at the top, from that place on in pixels.
pub fn legend(area: &Area, names: &[(String, RGBColor)], mut x: i32) -> Drawn<()> {
    for (name, colour) in names {
        let dot = Circle::new((x * UNIT, 16 * UNIT), 4 * UNIT, colour.filled());
        area.draw(&dot).map_err(words)?;
        let name = crate::table::cut(name, 24);
        let at = ((x + 9) * UNIT, 16 * UNIT);
        text(area, &name, Type::Label, Side::Right, at)?;
        x += width_of(&name) + 32;
    }
    Ok(())
}

/// About how wide a text is, in pixels: the library has no fonts to measure with.
pub fn width_of(text: &str) -> i32 {
    (unicode_width::UnicodeWidthStr::width(text) as f64 * 7.0).ceil() as i32
}

/// Places of about one text's height apart, as near as possible to the wanted ones: for labels.
pub fn apart(wanted: &[i32], gap: i32, bottom: i32) -> Vec<i32> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&i| wanted[i]);
    let mut places = wanted.to_vec();
    for pair in order.windows(2) {
        places[pair[1]] = places[pair[1]].max(places[pair[0]] + gap);
    }
    let mut limit = bottom;
    for &i in order.iter().rev() {
        places[i] = places[i].min(limit);
        limit = places[i] - gap;
    }
    places
}

/// Round numbers for a logarithmic axis, a handful of them.
pub fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let steps: &[f64] = match high / low {
        span if span > 200.0 => &[1.0],
        span if span > 8.0 => &[1.0, 2.0, 5.0],
        span if span > 2.5 => &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
        _ => return linear_ticks(low, high),
    };
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let ticks = decades.flat_map(|d| steps.iter().map(move |s| s * 10f64.powi(d)));
    ticks
        .filter(|t| *t >= low * 0.999 && *t <= high * 1.001)
        .collect()
}

/// Round numbers for a linear axis, four to eight of them.
pub fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    if rough <= 0.0 || !rough.is_finite() {
        return vec![low];
    }
    let decade = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .iter()
        .map(|s| s * decade)
        .find(|s| *s >= rough)
        .unwrap_or(rough);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

/// A tick's number without needless digits.
pub fn tick(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_few_and_inside() {
        for (low, high) in [
            (0.9, 1.2),
            (0.5, 40.0),
            (1e3, 1e9),
            (2.0, 9.0),
            (0.97, 1.03),
        ] {
            let ticks = log_ticks(low, high);
            assert!((2..=10).contains(&ticks.len()), "{low}..{high}: {ticks:?}");
            assert!(ticks.iter().all(|t| *t >= low * 0.99 && *t <= high * 1.01));
        }
        assert_eq!(tick(1.05), "1.05");
        assert_eq!(tick(20.0), "20");
    }

    #[test]
    fn labels_do_not_overlap_and_stay_inside() {
        let places = apart(&[100, 101, 99, 400], 20, 400);
        let mut sorted = places.clone();
        sorted.sort();
        assert!(sorted.windows(2).all(|p| p[1] - p[0] >= 20), "{places:?}");
        assert!(sorted.iter().all(|p| *p <= 400));
    }
}
