// SPDX-License-Identifier: Apache-2.0
//! The content of a report, and the formats that render it for people, for programs, for CI systems
//! and for viewers.
//!
//! Every report is a [`Document`] of headings, tables, charts and findings. Each format has a file
//! in [`format`] that renders any document, and an entry in [`FORMATS`]. This crate does not depend
//! on the kind of measurement, opens no files or sockets, and starts no processes.

pub mod chart;
mod document;
pub mod format;
mod output;
pub mod say;

pub use crate::document::{
    Answer, Axis, Band, BarPart, BarRow, Bars, Cell, CellContent, Chart, Column, Detail,
    Distribution, DistributionLine, Document, Drawing, Finding, Flame, Forest, ForestGroup,
    ForestRow, Gate, HeatColumn, HeatMap, HeatMaps, Issue, Item, Line, Lines, Location, NEUTRAL,
    Precision, Quantity, Row, Scale, Section, Severity, Span, Stroke, Table, Tone, unit_name,
};
pub use crate::format::text::clean;
pub use crate::format::xml_import::{ImportError, ImportLimits, import_xml};
pub use crate::output::{Error, File, Format, Rendered, Terminal};

use crate::format::{
    bencher, benchstat, csv, folded, github, github_benchmark, gitlab, html, json, jsonl, junit,
    markdown, openmetrics, perfetto, sarif, speedscope, svg, terminal, xlsx, xml,
};

/// All formats, in the order in which benchlab lists them.
pub const FORMATS: [Format; 20] = [
    terminal::FORMAT,
    markdown::FORMAT,
    csv::FORMAT,
    json::FORMAT,
    xml::FORMAT,
    xlsx::FORMAT,
    svg::FORMAT,
    html::FORMAT,
    jsonl::FORMAT,
    github::FORMAT,
    gitlab::FORMAT,
    junit::FORMAT,
    sarif::FORMAT,
    benchstat::FORMAT,
    bencher::FORMAT,
    github_benchmark::FORMAT,
    openmetrics::FORMAT,
    folded::FORMAT,
    speedscope::FORMAT,
    perfetto::FORMAT,
];
