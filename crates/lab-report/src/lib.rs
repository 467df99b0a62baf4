// SPDX-License-Identifier: Apache-2.0
//! A run and its analysis as something to read: terminal, Markdown, CSV, JSON, XML, XLSX, SVG, HTML.
//! Pure functions from values to text and bytes: nothing here opens a file, a socket or a process.

mod answer;
mod between;
mod content;
mod csv;
mod distribution;
mod history;
mod html;
mod import;
mod json;
mod load;
mod markdown;
mod number;
mod plot;
mod served;
mod spark;
mod table;
mod terminal;
mod view;
mod words;
pub mod xlsx;
pub mod xml;

pub use crate::answer::answer;
pub use crate::between::{BetweenReport, COLUMNS as BETWEEN_COLUMNS, render_between};
pub use crate::csv::COLUMNS as CSV_COLUMNS;
pub use crate::csv::load::{columns as load_csv_columns, served_columns as served_csv_columns};
pub use crate::history::{HISTORY_FORMATS, Known, Past, render_history, render_names};
pub use crate::import::{ImportError, Limits, import_xml};
pub use crate::json::FORMAT as JSON_FORMAT;
pub use crate::terminal::clean;

use crate::load::LoadView;
use crate::view::View;
use lab_model::Run;
use lab_stats::Analysed;
use lab_stats::load::analysis::LoadAnalysis;
use std::str::FromStr;

/// What a report is made from.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The run.
    pub run: &'a Run,
    /// What was done on each target, and what its samples say.
    pub parts: Vec<Analysed>,
    /// What the slices of a load run say; its part holds what that has in common with any run.
    pub load: Option<LoadAnalysis>,
    /// Runs whose imported figures are shown beside this one's, marked as having no intervals. Their
    /// own measurements are not shown.
    pub others: &'a [Run],
    /// Where the run file is, for people; the run's name if the caller has nothing better.
    pub file: &'a str,
}

impl<'a> Report<'a> {
    /// Of a run, which it analyses, in a file of that name.
    pub fn new(run: &'a Run, file: &'a str) -> Report<'a> {
        let (parts, load) = load::analyse(run);
        Report {
            run,
            parts,
            load,
            others: &[],
            file,
        }
    }
}

/// How a report is drawn for a terminal.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// Columns, at least 60: 80.
    pub width: usize,
    /// Escape sequences for colours.
    pub colour: bool,
}

impl Default for Terminal {
    fn default() -> Self {
        Terminal {
            width: 80,
            colour: false,
        }
    }
}

/// The formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Tables for 80 columns.
    Terminal,
    /// GitHub's Markdown.
    Markdown,
    /// One row per subject and point.
    Csv,
    /// Everything, for programs.
    Json,
    /// The figures as earlier SQL benchmarks exchanged them.
    Xml,
    /// A workbook with charts.
    Xlsx,
    /// Plots, one file each.
    Svg,
    /// One page that needs nothing else.
    Html,
}

/// A file of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name, without a folder; letters, digits, `.`, `-` and `_` only.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// A report in some format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rendered {
    /// One text, for a terminal, a pipe or a file.
    Text(String),
    /// One binary file.
    Bytes(Vec<u8>),
    /// Several files, for a folder.
    Files(Vec<File>),
}

/// A report that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The workbook's library refused something.
    #[error("the workbook could not be made: {0}")]
    Xlsx(#[from] rust_xlsxwriter::XlsxError),
    /// The values have no form in JSON.
    #[error("the JSON could not be made: {0}")]
    Json(#[from] serde_json::Error),
    /// The CSV writer refused something.
    #[error("the CSV could not be made: {0}")]
    Csv(#[from] ::csv::Error),
    /// A history is text.
    #[error("a history has no form in {0}; it has terminal, markdown, csv and json")]
    NoSuchForm(&'static str),
    /// The format cannot hold this report.
    #[error(
        "{} holds single figures of one run, and cannot say what changed between two: choose \
         terminal, markdown, csv, json, xlsx, svg or html",
        .0.name()
    )]
    NoForm(Format),
    /// The format cannot hold a load run.
    #[error(
        "{} holds times of single operations, and has no place for rates, percentiles and errors: \
         choose terminal, markdown, csv, json, xlsx, svg or html",
        .0.name()
    )]
    NoLoad(Format),
    /// A plot could not be drawn.
    #[error("the plot {name} could not be drawn: {why}")]
    Plot {
        /// Which plot.
        name: String,
        /// What its library said.
        why: String,
    },
}

/// The current estimate of a comparison of whole commands, for a line of progress: at most 60
/// columns, such as `B takes 1.083 (1.060 to 1.110) × A`. An interval that holds at a lower level
/// than was asked for names its level. Empty as long as there is no interval, and for other runs.
pub fn estimate_line(report: &Report) -> String {
    let view = View::only(report).filter(|view| view.commands().is_some());
    view.map_or(String::new(), |view| {
        terminal::clean(&content::estimate(&view))
    })
}

/// Renders a report. Error: the format cannot hold the run, or its library refused something.
pub fn render(format: Format, report: &Report, terminal: Terminal) -> Result<Rendered, Error> {
    if let Some(view) = LoadView::of(report) {
        return load::render(format, &view, terminal);
    }
    Ok(match format {
        Format::Terminal => Rendered::Text(terminal::render(report, terminal)),
        Format::Markdown => Rendered::Text(markdown::render(report)),
        Format::Csv => Rendered::Text(csv::render(report)?),
        Format::Json => Rendered::Text(json::render(report)?),
        Format::Xml => Rendered::Text(xml::render(report)),
        Format::Xlsx => Rendered::Bytes(xlsx::render(report)?),
        Format::Svg => Rendered::Files(plot::files(report)?),
        Format::Html => Rendered::Text(html::render(report)?),
    })
}

impl Format {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Format; 8] = [
        Format::Terminal,
        Format::Markdown,
        Format::Csv,
        Format::Json,
        Format::Xml,
        Format::Xlsx,
        Format::Svg,
        Format::Html,
    ];

    /// The name that a command line takes.
    pub fn name(self) -> &'static str {
        match self {
            Format::Terminal => "terminal",
            Format::Markdown => "markdown",
            Format::Csv => "csv",
            Format::Json => "json",
            Format::Xml => "xml",
            Format::Xlsx => "xlsx",
            Format::Svg => "svg",
            Format::Html => "html",
        }
    }

    /// How the names of its files end, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Terminal => "txt",
            Format::Markdown => "md",
            other => other.name(),
        }
    }
}

impl FromStr for Format {
    type Err = String;

    /// A format by its name; the error lists the names.
    fn from_str(text: &str) -> Result<Self, String> {
        Format::ALL
            .into_iter()
            .find(|f| f.name() == text)
            .ok_or_else(|| {
                let names: Vec<_> = Format::ALL.iter().map(|f| f.name()).collect();
                format!(
                    "no format is called \"{text}\"; there are {}",
                    names.join(", ")
                )
            })
    }
}
