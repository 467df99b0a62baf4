// SPDX-License-Identifier: Apache-2.0
//! The content of a report, without a format: each kind of run builds one document, and each format renders
//! any document.

mod chart;
mod quantity;
mod row;
mod table;
mod tone;
mod unit_name;

pub use chart::{
    Axis, Band, BarPart, BarRow, Bars, Chart, Distribution, DistributionLine, Drawing, Flame,
    Forest, ForestGroup, ForestRow, HeatColumn, HeatMap, HeatMaps, Line, Lines, NEUTRAL, Scale,
    Stroke,
};
pub use quantity::{Precision, Quantity};
pub use row::Row;
pub use table::{Cell, CellContent, Column, Table};
pub use tone::Tone;
pub use unit_name::unit_name;

use serde::Serialize;

/// A report.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Document {
    /// The measured thing, such as the experiment's title; not empty.
    pub title: String,
    /// The question that it answers; may be empty.
    pub question: String,
    /// When and where it was measured, in a line.
    pub made: String,
    /// The version of the lab that measured it.
    pub lab_version: String,
    /// The answer: what a reader sees first.
    pub answer: Answer,
    /// All else, in the order in which it is read.
    pub sections: Vec<Section>,
    /// Every figure, tidy: what CSV, JSON and XML hold.
    pub rows: Vec<Row>,
    /// Where the samples are, in a sentence.
    pub source: String,
    /// `benchlab report` shows it again.
    #[serde(skip)]
    pub kept: bool,
}

/// The first screen.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Answer {
    /// The chart that answers the question.
    pub chart: Option<Chart>,
    /// Plain sentences, the most important first: at most three findings.
    pub findings: Vec<Finding>,
    /// The inconclusive part of the answer, with the command that settles it.
    pub undecided: Option<String>,
}

impl Answer {
    /// Findings that an answer shows.
    pub const MAX_FINDINGS: usize = 3;
}

/// A sentence or two that the figures support.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Finding {
    /// The topic in a few words, such as a target or a kind of warning; may be empty. The first screen shows
    /// only the labels of several warnings.
    pub label: String,
    /// The sentences.
    pub text: String,
    /// The meaning.
    pub tone: Tone,
    /// The same as data, for programs: an object whose `code` names the sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
}

/// A part of a document with a heading.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Section {
    /// Its heading; unique within its parent.
    pub title: String,
    /// How much of it is shown at first.
    pub detail: Detail,
    /// The items, in order.
    pub items: Vec<Item>,
    /// Parts of it with headings of their own.
    pub sections: Vec<Section>,
}

/// How much a part matters to a reader who wants the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// It is shown.
    #[default]
    Shown,
    /// It is there to be looked up: folded where a format can fold.
    Folded,
}

/// A piece of a section.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// Text without line breaks.
    Paragraph(String),
    /// Short texts, one below the other.
    List(Vec<String>),
    /// Names with their values.
    Facts(Vec<(String, String)>),
    /// Figures in rows and columns.
    Table(Table),
    /// A drawing of figures.
    Chart(Chart),
    /// A sentence that stands out, such as a warning.
    Finding(Finding),
    /// Lines as a program wrote them, in a fixed-width face.
    Log(Vec<String>),
}

impl Finding {
    /// A finding with a label and a tone.
    pub fn new(label: impl Into<String>, text: impl Into<String>, tone: Tone) -> Finding {
        Finding {
            label: label.into(),
            text: text.into(),
            tone,
            data: None,
        }
    }

    /// The finding with the data that its sentences were made from.
    pub fn with_data(self, data: &impl Serialize) -> Finding {
        Finding {
            data: serde_json::to_value(data).ok(),
            ..self
        }
    }

    /// A finding without a label or a tone.
    pub fn plain(text: impl Into<String>) -> Finding {
        Finding::new("", text, Tone::Plain)
    }

    /// The finding with another tone.
    pub fn toned(self, tone: Tone) -> Finding {
        Finding { tone, ..self }
    }
}

impl Section {
    /// A section that is shown.
    pub fn new(title: impl Into<String>) -> Section {
        Section {
            title: title.into(),
            ..Section::default()
        }
    }

    /// A section that is there to be looked up.
    pub fn folded(title: impl Into<String>) -> Section {
        Section {
            detail: Detail::Folded,
            ..Section::new(title)
        }
    }

    /// A section that is shown, of one table; empty where the table has no rows.
    pub fn of_table(title: impl Into<String>, table: Table) -> Section {
        let mut section = Section::new(title);
        section.table(table);
        section
    }

    /// True if there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty() && self.sections.iter().all(Section::is_empty)
    }

    /// Adds an item.
    pub fn push(&mut self, item: impl Into<Item>) {
        self.items.push(item.into());
    }

    /// Adds a table, unless it has no rows.
    pub fn table(&mut self, table: Table) {
        if !table.rows.is_empty() {
            self.push(table);
        }
    }

    /// Adds a chart, if there is one.
    pub fn chart(&mut self, chart: Option<Chart>) {
        self.items.extend(chart.map(Item::from));
    }

    /// Adds a text, unless it is empty.
    pub fn text(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.items.push(Item::Paragraph(text));
        }
    }

    /// Adds a section, unless it is empty.
    pub fn section(&mut self, section: Section) {
        if !section.is_empty() {
            self.sections.push(section);
        }
    }
}

impl Document {
    /// Adds a section, unless it is empty.
    pub fn section(&mut self, section: Section) {
        if !section.is_empty() {
            self.sections.push(section);
        }
    }

    /// Every chart, that of the answer first, in the order in which they are read.
    pub fn charts(&self) -> Vec<&Chart> {
        let charts = self.items().filter_map(|item| match item {
            Item::Chart(chart) => Some(chart),
            _ => None,
        });
        self.answer.chart.iter().chain(charts).collect()
    }

    /// Every table, in the order in which they are read.
    pub fn tables(&self) -> Vec<&Table> {
        let tables = self.items().filter_map(|item| match item {
            Item::Table(table) => Some(table),
            _ => None,
        });
        tables.collect()
    }

    /// The findings that call for attention: those of all sections with a warning tone.
    pub fn warnings(&self) -> Vec<&Finding> {
        let warnings = self.items().filter_map(|item| match item {
            Item::Finding(finding) => Some(finding).filter(|f| f.tone.warns()),
            _ => None,
        });
        warnings.collect()
    }

    /// Every item of every section, in the order in which they are read.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        fn collect<'d>(sections: &'d [Section], items: &mut Vec<&'d Item>) {
            for section in sections {
                items.extend(&section.items);
                collect(&section.sections, items);
            }
        }
        let mut items = Vec::new();
        collect(&self.sections, &mut items);
        items.into_iter()
    }
}

impl From<Table> for Item {
    fn from(table: Table) -> Item {
        Item::Table(table)
    }
}

impl From<Chart> for Item {
    fn from(chart: Chart) -> Item {
        Item::Chart(chart)
    }
}

impl From<Finding> for Item {
    fn from(finding: Finding) -> Item {
        Item::Finding(finding)
    }
}
