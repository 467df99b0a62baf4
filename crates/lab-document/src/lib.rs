// SPDX-License-Identifier: Apache-2.0
//! The content of a report and its output formats: terminal, Markdown, CSV, JSON, XML, XLSX, SVG and HTML.
//!
//! Every report is a [`Document`] of headings, tables, charts and findings. Each format has a file in [`format`] that
//! renders any document, and an entry in [`FORMATS`]. This crate does not depend on what was measured, and it opens no
//! files or sockets and starts no processes.

pub mod chart;
mod document;
pub mod format;
mod output;
pub mod say;

pub use crate::document::{
    Answer, Axis, Band, BarPart, BarRow, Bars, Cell, CellContent, Chart, Column, Detail,
    Distribution, DistributionLine, Document, Drawing, Finding, Flame, Forest, ForestGroup,
    ForestRow, HeatColumn, HeatMap, HeatMaps, Item, Line, Lines, NEUTRAL, Precision, Quantity, Row,
    Scale, Section, Stroke, Table, Tone, unit_name,
};
pub use crate::format::text::clean;
pub use crate::format::xml_import::{ImportError, ImportLimits, import_xml};
pub use crate::output::{Error, File, Format, Rendered, Terminal};

use crate::format::{csv, html, json, markdown, svg, terminal, xlsx, xml};

/// All formats, in the order in which benchlab lists them.
pub const FORMATS: [Format; 8] = [
    terminal::FORMAT,
    markdown::FORMAT,
    csv::FORMAT,
    json::FORMAT,
    xml::FORMAT,
    xlsx::FORMAT,
    svg::FORMAT,
    html::FORMAT,
];
