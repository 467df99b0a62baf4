// SPDX-License-Identifier: Apache-2.0
//! The content of a report, independent of the format.
//!
//! Each kind of run builds one document, and each format renders any document.

mod chart;
mod gate;
mod issue;
mod quantity;
mod row;
mod span;
mod table;
mod tone;
mod unit_name;

pub use chart::{
    Axis, Band, BarPart, BarRow, Bars, Chart, Distribution, DistributionLine, Drawing, Flame,
    Forest, ForestGroup, ForestRow, HeatColumn, HeatMap, HeatMaps, Line, Lines, NEUTRAL, Scale,
    Stroke,
};
pub use gate::Gate;
pub use issue::{Issue, Location, Severity};
pub use quantity::{Precision, Quantity};
pub use row::Row;
pub use span::Span;
pub use table::{Cell, CellContent, Column, Table};
pub use tone::Tone;
pub use unit_name::unit_name;

use lab_model::{Decision, GateEffect};
use serde::Serialize;

/// A report, independent of the output format.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Document {
    /// The title of the measurement, such as the experiment's title. Never empty.
    pub title: String,
    /// The question that the report answers. May be empty.
    pub question: String,
    /// The time and the host of the measurement, as one line.
    pub made: String,
    /// The version of benchlab that made the measurement.
    pub benchlab_version: String,
    /// The result, which users see first.
    pub answer: Answer,
    /// The decisions of gates (`--fail-if`, `--gate`). Empty without gates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Gate>,
    /// All other sections, in reading order.
    pub sections: Vec<Section>,
    /// All metrics as tidy rows, which the CSV, JSON and XML formats write.
    pub rows: Vec<Row>,
    /// Problems with an identifier, for formats that list problems.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<Issue>,
    /// The periods of the run, for trace viewers. Empty if they were not recorded.
    #[serde(skip)]
    pub timeline: Vec<Span>,
    /// A sentence that states where the samples are stored.
    pub source: String,
    /// True if the run is saved, so that `benchlab report` can show this report again.
    #[serde(skip)]
    pub kept: bool,
}

/// The result of a report, which formats show first.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Answer {
    /// The answer in one sentence with its most important number. If it is empty, the first
    /// sentence of the first finding is the answer.
    pub headline: String,
    /// A table of the values that the question asks for, if a table shows them better than a chart.
    pub table: Option<Table>,
    /// The chart that answers the question.
    pub chart: Option<Chart>,
    /// A chart of the distribution of the values, in addition to the table or the chart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distribution: Option<Chart>,
    /// Findings in plain sentences, the most important first. Without a table and a chart, they are
    /// the whole result.
    pub findings: Vec<Finding>,
    /// A sentence that names the inconclusive comparisons and the command that would resolve them.
    pub undecided: Option<String>,
    /// Sentences about missing results, such as the result of a subject that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<String>,
}

impl Answer {
    /// The maximum number of findings that an answer shows next to a table or a chart.
    pub const MAX_FINDINGS: usize = 3;

    /// Returns true if there is no answer.
    pub fn is_empty(&self) -> bool {
        let has_values = self.table.is_some() || self.chart.is_some();
        !has_values
            && self.headline.is_empty()
            && self.findings.is_empty()
            && self.undecided.is_none()
            && self.omitted.is_none()
    }

    /// Returns findings about the inconclusive comparisons and the missing results.
    pub fn open_findings(&self) -> Vec<Finding> {
        let undecided = self.undecided.iter().map(|text| ("Inconclusive", text));
        let omitted = self.omitted.iter().map(|text| ("", text));
        let all = undecided.chain(omitted);
        all.map(|(label, text)| Finding::new(label, text, Tone::Inconclusive))
            .collect()
    }

    /// Returns the answer as one sentence, and the remaining findings. The sentence is empty if there is no answer.
    pub fn split(&self) -> (String, Vec<Finding>) {
        if !self.headline.is_empty() {
            return (self.headline.clone(), self.findings.clone());
        }
        let Some((first, others)) = self.findings.split_first() else {
            return (String::new(), Vec::new());
        };
        let (sentence, rest) = first_sentence(&first.text);
        let headline = match first.label.as_str() {
            "" => sentence.to_owned(),
            label => format!("{label}: {sentence}"),
        };
        let rest = Finding {
            text: rest.to_owned(),
            ..first.clone()
        };
        let rest = Some(rest).filter(|finding| !finding.text.is_empty());
        (
            headline,
            rest.into_iter().chain(others.iter().cloned()).collect(),
        )
    }
}

/// Splits a text after its first sentence. A sentence ends at a period that is followed by a space
/// and then a capital letter or a backtick.
fn first_sentence(text: &str) -> (&str, &str) {
    let begins = |rest: &str| rest.starts_with(|c: char| c.is_uppercase() || c == '`');
    let mut stops = text.match_indices(". ").map(|(at, _)| at);
    match stops.find(|at| begins(&text[at + 2..])) {
        Some(at) => (&text[..=at], &text[at + 2..]),
        None => (text, ""),
    }
}

/// One or two sentences that the data support.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Finding {
    /// The topic in a few words, such as a target or a kind of warning. May be empty.
    ///
    /// If there are multiple warnings, the first screen lists only their labels.
    pub label: String,
    /// The text of the finding, in one or two sentences.
    pub text: String,
    /// The tone, which is shown as a color.
    pub tone: Tone,
    /// The finding in machine-readable form: an object whose `code` identifies the sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
}

/// A section of a document with a heading.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Section {
    /// The heading, unique within the parent.
    pub title: String,
    /// The initial state of the section, shown or folded.
    pub detail: Detail,
    /// The items, in order.
    pub items: Vec<Item>,
    /// Subsections.
    pub sections: Vec<Section>,
}

/// The importance of a section for the answer, which determines whether the section is folded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// Always shown.
    #[default]
    Shown,
    /// Reference material, which is folded in formats that support it.
    Folded,
}

/// An item in a section.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// Text without line breaks.
    Paragraph(String),
    /// Short texts, one below the other.
    List(Vec<String>),
    /// Names with their values.
    Facts(Vec<(String, String)>),
    /// A table of values.
    Table(Table),
    /// A chart of values.
    Chart(Chart),
    /// A highlighted sentence, such as a warning.
    Finding(Finding),
    /// The output of a program, line by line in a fixed-width font.
    Log(Vec<String>),
}

impl Finding {
    /// Creates a finding with a label and a tone.
    pub fn new(label: impl Into<String>, text: impl Into<String>, tone: Tone) -> Finding {
        Finding {
            label: label.into(),
            text: text.into(),
            tone,
            data: None,
        }
    }

    /// Adds the machine-readable data from which the sentences were built.
    pub fn with_data(self, data: &impl Serialize) -> Finding {
        Finding {
            data: serde_json::to_value(data).ok(),
            ..self
        }
    }

    /// Creates a finding without a label or a tone.
    pub fn plain(text: impl Into<String>) -> Finding {
        Finding::new("", text, Tone::Plain)
    }

    /// Replaces the tone.
    pub fn with_tone(self, tone: Tone) -> Finding {
        Finding { tone, ..self }
    }
}

impl Section {
    /// Creates a section that is not folded.
    pub fn new(title: impl Into<String>) -> Section {
        Section {
            title: title.into(),
            ..Section::default()
        }
    }

    /// Creates a folded section.
    pub fn folded(title: impl Into<String>) -> Section {
        Section {
            detail: Detail::Folded,
            ..Section::new(title)
        }
    }

    /// Creates a section with one table. The section is empty if the table has no rows.
    pub fn from_table(title: impl Into<String>, table: Table) -> Section {
        let mut section = Section::new(title);
        section.table(table);
        section
    }

    /// Returns true if there is nothing to show.
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

    /// Adds a chart, unless it is `None`.
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

    /// Adds a subsection, unless it is empty.
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

    /// Returns all charts in reading order. The answer's charts come first.
    pub fn charts(&self) -> Vec<&Chart> {
        let charts = self.items().filter_map(|item| match item {
            Item::Chart(chart) => Some(chart),
            _ => None,
        });
        let answer = [&self.answer.chart, &self.answer.distribution];
        answer.into_iter().flatten().chain(charts).collect()
    }

    /// Returns all tables in reading order. The answer's table comes first.
    pub fn tables(&self) -> Vec<&Table> {
        let tables = self.items().filter_map(|item| match item {
            Item::Table(table) => Some(table),
            _ => None,
        });
        self.answer.table.iter().chain(tables).collect()
    }

    /// Returns the findings with a warning tone from all sections.
    pub fn warnings(&self) -> Vec<&Finding> {
        let warnings = self.items().filter_map(|item| match item {
            Item::Finding(finding) => Some(finding).filter(|f| f.tone.warns()),
            _ => None,
        });
        warnings.collect()
    }

    /// Returns the document without the findings whose data have the given `code`. Callers use it
    /// to omit findings that the user has just seen.
    pub fn without_findings(mut self, code: &str) -> Document {
        fn remove(sections: &mut [Section], code: &str) {
            for section in sections {
                section.items.retain(|item| match item {
                    Item::Finding(finding) => {
                        let data = finding.data.as_ref();
                        data.is_none_or(|data| data.get("code").is_none_or(|c| c != code))
                    }
                    _ => true,
                });
                remove(&mut section.sections, code);
            }
        }
        remove(&mut self.sections, code);
        self
    }

    /// Returns the items of all sections in reading order.
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

/// The maximum number of passed gates that are shown one by one.
const MAX_PASSED: usize = 3;

impl Document {
    /// Adds the decisions of gates.
    pub fn add_gates(&mut self, gates: Vec<Gate>) {
        self.rows.extend(gates.iter().map(Gate::row));
        self.gates.extend(gates);
    }

    /// Returns the worst effect of the gates on the exit code. Returns `Pass` without gates.
    pub fn gate_effect(&self) -> GateEffect {
        let effects = self.gates.iter().map(|gate| gate.effect);
        effects.max().unwrap_or(GateEffect::Pass)
    }

    /// Returns the decisions of the gates as findings, the worst first. Many passed gates become one finding.
    pub fn gate_findings(&self) -> Vec<Finding> {
        let decided = |decision| {
            let gates = self.gates.iter();
            gates.filter(move |gate| gate.decision == decision)
        };
        let finding = |gate: &Gate| Finding::new("", &gate.sentence, gate.tone()).with_data(gate);
        let worse = [Decision::Failed, Decision::Inconclusive].into_iter();
        let mut findings: Vec<Finding> = worse.flat_map(decided).map(finding).collect();
        match decided(Decision::Passed).count() {
            passed if passed > MAX_PASSED => {
                let text = format!("{passed} of {} gates passed", self.gates.len());
                findings.push(Finding::new("", text, Tone::Same));
            }
            _ => findings.extend(decided(Decision::Passed).map(finding)),
        }
        findings
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
