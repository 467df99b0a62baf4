// SPDX-License-Identifier: Apache-2.0
//! Plots as SVG files: time over a sweep, CPU and memory bars, ratios with their intervals, how the
//! times of commands are spread.
//! One file serves light and dark: its style sheet maps each light colour to a dark one.

mod bars;
mod canvas;
mod colour;
mod distribution;
mod forest;
pub mod load;
mod ratios;
mod scaling;
pub mod served;
mod split;
mod sweep;

pub use colour::style_sheet;
pub use forest::{Forest, ForestRow, Mark, plot as forest};

use crate::number::{self, Quantity};
use crate::view::{Group, View};
use crate::{Error, File, Report};
use lab_model::{PointId, SubjectId};
use plotters::style::{Color, RGBColor};

/// A plot with what a reader who cannot see it is told.
pub struct Plot {
    /// The file's name without its ending: letters, digits, `-`.
    pub name: String,
    /// What it shows, for a caption.
    pub title: String,
    /// What is drawn how, for a caption.
    pub description: String,
    /// The drawing: an `svg` element without a style sheet.
    pub svg: String,
    /// The first point of the group that it shows; `None`: it shows all.
    group: Option<PointId>,
}

/// All plots that a run supports, in the order in which a report shows them.
pub fn plots(view: &View) -> Result<Vec<Plot>, Error> {
    let mut plots = vec![ratios::plot(view)?];
    plots.extend(sweep::plots(view)?);
    plots.extend(distribution::plots(view)?);
    plots.push(split::plot(view)?);
    plots.extend(scaling::plots(view)?);
    // Beside other targets the parts show the CPU time.
    if view.named.is_none() {
        plots.push(bars::cpu(view)?);
    }
    plots.push(bars::memory(view)?);
    Ok(plots.into_iter().flatten().collect())
}

/// A subject's colour on light paper, as red, green and blue, for formats that draw for themselves.
pub fn colour_of(view: &View, subject: SubjectId) -> (u8, u8, u8) {
    colour::of_subject(view, subject).rgb()
}

/// The colour of a part of the time: the client's, the server's, waiting.
pub fn colour_of_part(part: usize) -> (u8, u8, u8) {
    split::COLOURS[part].rgb()
}

/// The plots as files that stand alone.
pub fn files(report: &Report) -> Result<Vec<File>, Error> {
    let mut files = Vec::new();
    for view in View::all(report) {
        files.extend(plots(&view)?.into_iter().map(Plot::alone));
    }
    Ok(files)
}

/// A plot's title, behind the target's where there are several.
fn title_of(view: &View, title: &str) -> String {
    match view.place() {
        "" => title.into(),
        place => format!("{place}: {title}"),
    }
}

/// A plot's name, behind the target's where there are several.
fn name_of(view: &View, name: &str) -> String {
    match view.named {
        Some(kind) => format!("{}-{name}", kind.name()),
        None => name.into(),
    }
}

/// Names with the colours of the first, the second … subject, for [`Forest::lanes`].
pub fn numbered(names: &[&str]) -> Vec<(String, RGBColor)> {
    let lane = |(i, name): (usize, &&str)| (name.to_string(), colour::numbered(i));
    names.iter().enumerate().map(lane).collect()
}

impl Plot {
    /// As a file that stands alone.
    pub fn alone(self) -> File {
        let style = format!("<style>{}</style>\n", style_sheet());
        File {
            name: format!("{}.svg", self.name),
            text: format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}",
                after_first_tag(&self.svg, &style)
            ),
        }
    }

    /// Names the drawing for readers that cannot see it.
    fn new(name: &str, title: String, description: String, svg: String) -> Self {
        let name = file_name(name);
        // A name with a control character would make the file no XML (XML 1.0, section 2.2).
        let legal = |text: &str| text.replace(|c: char| c.is_control() && c != '\n', " ");
        let named = format!(
            "<title id=\"{name}-title\">{}</title>\n<desc id=\"{name}-desc\">{}</desc>\n",
            escape(&title),
            escape(&description)
        );
        let tag = format!(
            "<svg class=\"plot\" role=\"img\" aria-labelledby=\"{name}-title {name}-desc\" "
        );
        let svg = legal(&after_first_tag(&svg.replacen("<svg ", &tag, 1), &named));
        Plot {
            name,
            title,
            description,
            svg,
            group: None,
        }
    }

    /// The same as a plot of one group.
    fn of_group(mut self, group: &Group) -> Self {
        self.group = group.points.first().copied();
        self
    }

    /// Whether it is the one of that name.
    pub fn is(&self, view: &View, name: &str) -> bool {
        self.name == name_of(view, name)
    }

    /// Whether it shows this group alone.
    pub fn shows(&self, group: &Group) -> bool {
        self.group.is_some() && self.group == group.points.first().copied()
    }
}

/// A time on an axis: `10 µs`.
fn plain_time(ns: f64) -> String {
    let (scale, unit) = Quantity::Time.unit(ns * 1.0001);
    format!("{}{unit}", canvas::tick(ns / scale))
}

/// `20,000/s`.
fn rate_tick(rate: f64) -> String {
    match rate >= 1000.0 {
        true => format!("{}/s", number::whole(rate.round() as u64)),
        false => format!("{}/s", canvas::tick(rate)),
    }
}

/// Letters, digits and `-` only, for names that come from experiments.
fn file_name(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c.to_ascii_lowercase());
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    name.trim_matches('-').into()
}

fn after_first_tag(svg: &str, insert: &str) -> String {
    match svg.split_once('>') {
        Some((tag, rest)) => format!("{tag}>\n{insert}{}", rest.trim_start()),
        None => svg.into(),
    }
}

fn escape(text: &str) -> String {
    quick_xml::escape::escape(text).into_owned()
}
