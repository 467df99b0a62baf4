// SPDX-License-Identifier: Apache-2.0
//! A run and its analysis as something to read: terminal, Markdown, CSV, JSON, XML, XLSX, SVG, HTML.
//! Pure functions from values to text and bytes: nothing here opens a file, a socket or a process.
//!
//! Each kind of run builds one [`Document`] ([`kind`]), and each format renders any document ([`format`]).

pub mod chart;
pub mod document;
pub mod format;
mod import;
pub mod kind;
mod words;

pub use crate::document::Document;
pub use crate::format::terminal::Terminal;
pub use crate::format::text::clean;
pub use crate::import::{ImportError, ImportLimits, import_xml};
pub use crate::kind::history::{NamedRuns, RunSummary};

use lab_model::Run;
use lab_stats::between::Between;
use lab_stats::results::{Results, results};
use std::str::FromStr;

/// What a report of a run is made from.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The run.
    pub run: &'a Run,
    /// What its samples say.
    pub results: Results,
    /// Runs whose imported figures are shown beside this one's, marked as having no intervals. Their
    /// own measurements are not shown.
    pub others: &'a [Run],
    /// Where the run file is, for people; the run's name if the caller has nothing better.
    pub file: &'a str,
}

impl<'a> Report<'a> {
    /// Of a run, which it analyses, in a file of that name.
    pub fn new(run: &'a Run, file: &'a str) -> Report<'a> {
        Report {
            run,
            results: results(run),
            others: &[],
            file,
        }
    }
}

/// What a report on two runs is made from.
#[derive(Clone, Copy, Debug)]
pub struct BetweenReport<'a> {
    /// What changed from the first to the second.
    pub between: &'a Between,
    /// The first and the second.
    pub runs: [&'a Run; 2],
    /// Where their files are, for people.
    pub files: [&'a str; 2],
}

/// The formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// The answer on one screen, or all of it.
    Terminal,
    /// GitHub's Markdown.
    Markdown,
    /// One row per subject, point and metric.
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
    /// A plot could not be drawn.
    #[error("the plot {name} could not be drawn: {why}")]
    Plot {
        /// Which plot.
        name: String,
        /// What its library said.
        why: String,
    },
}

/// Renders a document. Error: the format's library refused something.
pub fn render(format: Format, document: &Document, terminal: Terminal) -> Result<Rendered, Error> {
    Ok(match format {
        Format::Terminal => Rendered::Text(format::terminal::render(document, terminal)),
        Format::Markdown => Rendered::Text(format::markdown::render(document)),
        Format::Csv => Rendered::Text(format::csv::render(document)?),
        Format::Json => Rendered::Text(format::json::render(document)?),
        Format::Xml => Rendered::Text(format::xml::render(document)),
        Format::Xlsx => Rendered::Bytes(format::xlsx::render(document)?),
        Format::Svg => Rendered::Files(format::svg::files(document)?),
        Format::Html => Rendered::Text(format::html::render(document)?),
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
