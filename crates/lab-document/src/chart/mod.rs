// SPDX-License-Identifier: Apache-2.0
//! Charts as SVG.
//!
//! One drawing serves light and dark mode, because a style sheet maps each light color to a dark
//! one. Values that are not finite are never drawn. Equal charts produce equal SVG text.

mod bars;
mod canvas;
mod color;
mod distribution;
mod flame;
mod forest;
mod frame;
mod heat;
mod lines;
mod scale;

pub(crate) use bars::{ends as bar_ends, length_of};
pub use color::style_sheet;
pub(crate) use color::tone_number;
pub(crate) use distribution::lines as distribution_lines;
pub use flame::SCRIPT as FLAME_SCRIPT;
pub(crate) use lines::stepped;
pub(crate) use scale::{Span, drawable, reach};

use crate::document::{Chart, Drawing};
use crate::output::Error;
use canvas::legal;
use plotters::style::Color;
use quick_xml::escape::escape;

/// The width of a page on a phone, in pixels.
const NARROW: f64 = 320.0;

/// Renders the chart as an `svg` element. The page must provide [`style_sheet`].
///
/// Returns an error if the drawing library fails.
pub fn svg(chart: &Chart) -> Result<String, Error> {
    let id = &file_name(&chart.id);
    let svg = match &chart.drawing {
        Drawing::Bars(bars) => bars::draw(id, bars, bars::WIDTH),
        Drawing::Forest(forest) => forest::draw(id, forest, forest::WIDTH),
        Drawing::Lines(lines) => lines::draw(id, lines),
        Drawing::Heat(maps) => heat::draw(id, maps),
        Drawing::Distribution(distribution) => lines::draw(id, &distribution_lines(distribution)),
        Drawing::Flame(flame) => flame::draw(id, flame),
    }?;
    Ok(named(chart, id, &svg))
}

/// Renders the chart at the width of a phone.
///
/// Returns `None` if this kind of chart has no narrow version.
pub fn narrow(chart: &Chart) -> Result<Option<String>, Error> {
    let id = &(file_name(&chart.id) + "-narrow");
    let svg = match &chart.drawing {
        Drawing::Bars(bars) => bars::draw(id, bars, NARROW),
        Drawing::Forest(forest) => forest::draw(id, forest, NARROW),
        _ => return Ok(None),
    }?;
    Ok(Some(named(chart, id, &svg)))
}

/// Adds a title and a description for screen readers to an SVG drawing.
fn named(chart: &Chart, id: &str, svg: &str) -> String {
    let [title, caption] = [&chart.title, &chart.caption].map(|text| legal(text));
    let named = format!(
        "<title id=\"chart-{id}-title\">{}</title>\n<desc id=\"chart-{id}-desc\">{}</desc>\n",
        escape(&title),
        escape(&caption)
    );
    let tag = format!(
        "<svg class=\"plot\" role=\"img\" aria-labelledby=\"chart-{id}-title chart-{id}-desc\" "
    );
    after_first_tag(&svg.replacen("<svg ", &tag, 1), &named)
}

/// Renders the chart as a standalone SVG file.
///
/// Returns an error if the drawing library fails.
pub fn standalone(chart: &Chart) -> Result<String, Error> {
    let style = format!("<style>{}</style>\n", style_sheet());
    let mut drawing = after_first_tag(&svg(chart)?, &style);
    if let (Drawing::Flame(_), Some(end)) = (&chart.drawing, drawing.rfind("</svg>")) {
        let script = format!("<script><![CDATA[{}]]></script>\n", flame::SCRIPT);
        drawing.insert_str(end, &script);
    }
    Ok(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{drawing}"
    ))
}

/// Returns the red, green and blue components of a palette color on a light background, for formats with native charts.
pub fn rgb(number: usize) -> (u8, u8, u8) {
    color::numbered(number).rgb()
}

/// Converts text to a file name of lowercase letters, digits and `-`. The name is never empty.
pub fn file_name(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c.to_ascii_lowercase());
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    let name = name.trim_matches('-');
    if name.is_empty() {
        "chart".into()
    } else {
        name.into()
    }
}

fn after_first_tag(svg: &str, insert: &str) -> String {
    match svg.split_once('>') {
        Some((tag, rest)) => format!("{tag}>\n{insert}{}", rest.trim_start()),
        None => svg.into(),
    }
}
