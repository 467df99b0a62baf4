// SPDX-License-Identifier: Apache-2.0
//! The report on one program, or on a program before and after a change.

mod annotated;
mod costs;
mod flames;
mod gates;
mod heap;
pub mod history;
mod layouts;
mod ranked;

pub use gates::gates;

use crate::agreement::agreement;
use crate::runs::ProgramRuns;
use crate::stored::{Caveat, ProfiledPrograms};
use crate::{Profile, Sources, wording};
use lab_document::say;
use lab_document::{
    Answer, Cell, Chart, Column, Document, Finding, Item, Quantity, Row, Section, Tone,
};
use lab_model::{Direction, Metric, Unit};

/// The heap metrics at the top of the report.
const HEAP: [&str; 3] = ["peak", "total", "allocations"];
/// The simulated costs at the top of the report.
const COSTS: [&str; 6] = ["Ir", "Dr", "Dw", "D1mr", "D1mw", "LL"];

/// The input of a report.
#[derive(Clone, Debug)]
pub struct ProfileReport<'a> {
    /// One program, or two programs (before and after the change).
    pub programs: &'a ProfiledPrograms,
    /// The document of benchlab's own timing comparison of the same commands, or `None` if they
    /// were not compared.
    pub measured: Option<Document>,
    /// The creation time of the profiles, in seconds since 1970.
    pub made_unix_s: f64,
    /// The displayed path of the run file that contains the profiles, or `None` if no run file
    /// contains them.
    pub file: Option<&'a str>,
}

/// Builds the document of one profile, or of two profiles side by side.
pub fn document(report: &ProfileReport) -> Document {
    let pair = ProfilePair::new(report);
    let mut document = Document {
        title: pair.title(),
        question: wording::question(pair.after.is_some()).into(),
        made: wording::made(report.made_unix_s),
        benchlab_version: env!("CARGO_PKG_VERSION").into(),
        answer: Answer {
            chart: answer_chart(&pair),
            findings: answer_findings(&pair, report),
            undecided: None,
            ..Answer::default()
        },
        source: wording::origin(report.file),
        kept: report.file.is_some(),
        ..Document::default()
    };
    let mut warnings = Section::new(wording::WARNINGS);
    let of_symbols = costs::without_symbols(&pair);
    let all = report.programs.caveats.iter().cloned();
    for caveat in all.chain(of_symbols.iter().map(Caveat::from)) {
        warnings.push(Finding::new(caveat.label, caveat.text, Tone::Alarm));
    }
    document.section(warnings);
    document.section(heap::section(&pair));
    let of_costs = costs::sections(&pair).into_iter();
    document.section(layouts::section(&pair, &report.programs.ranges));
    let flames = [annotated::section(&pair), flames::section(&pair)];
    of_costs
        .chain(flames)
        .for_each(|section| document.section(section));
    if let Some(measured) = &report.measured {
        let mut section = Section::new(wording::CLOCK);
        section.chart(measured.answer.chart.clone());
        for finding in measured.answer.findings.iter().cloned() {
            section.push(finding);
        }
        for text in [&measured.answer.undecided, &measured.answer.omitted] {
            section.text(text.clone().unwrap_or_default());
        }
        section.sections.extend(measured.sections.iter().cloned());
        document.section(section);
    }
    let mut method = Section::folded(wording::METHOD);
    method.push(Item::Facts(facts(&pair, report)));
    document.section(method);
    document.rows = rows(&pair);
    let measured = report.measured.iter();
    document
        .rows
        .extend(measured.flat_map(|measured| measured.rows.clone()));
    document
}

/// Returns the chart of the heap or the chart of the costs, depending on which metrics changed
/// more.
///
/// For a single program, returns the chart of the heap or, without heap data, of the costs.
fn answer_chart(pair: &ProfilePair) -> Option<Chart> {
    let greatest_change = |names: &[&str]| {
        let changes = names.iter().filter_map(|name| match pair.figure(name) {
            (Some(before), Some(after)) if before > 0 && after > 0 => {
                Some((after as f64 / before as f64).ln().abs())
            }
            _ => None,
        });
        changes.fold(0.0, f64::max)
    };
    let (heap, costs) = (heap::chart(pair), costs::chart(pair));
    if greatest_change(&COSTS) > greatest_change(&HEAP) {
        costs.or(heap)
    } else {
        heap.or(costs)
    }
}

/// One program, or a program before and after a change.
struct ProfilePair<'a> {
    before: &'a Profile,
    after: Option<&'a Profile>,
    names: [&'a str; 2],
    sources: &'a [Sources],
}

impl<'a> ProfilePair<'a> {
    fn new(report: &'a ProfileReport) -> ProfilePair<'a> {
        let programs = report.programs;
        ProfilePair {
            before: &programs.profiles[0],
            after: programs.profiles.get(1),
            names: [0, 1].map(|i| programs.names.get(i).map_or("", String::as_str)),
            sources: &programs.sources,
        }
    }

    fn title(&self) -> String {
        match self.after {
            Some(_) => wording::title(self.names[0], Some(self.names[1])),
            None => wording::title(self.names[0], None),
        }
    }

    /// Returns each profile with its name.
    fn each(&self) -> impl Iterator<Item = (&'a str, &'a Profile)> {
        let after = self.after.map(|after| (self.names[1], after));
        [(self.names[0], self.before)].into_iter().chain(after)
    }

    /// Returns the text of a source line, from the latest program that has it.
    fn source(&self, file: &str, line: u32) -> Option<&'a str> {
        let mut sources = self.sources.iter().rev();
        sources.find_map(|sources| sources.line(file, line))
    }

    /// Returns the values of a metric before and after the change.
    fn figure(&self, name: &str) -> (Option<u64>, Option<u64>) {
        let after = self.after.and_then(|after| after.figure(name));
        (self.before.figure(name), after)
    }

    /// Returns the columns of a table of values.
    fn columns(&self, first: &str, unit: &Unit) -> Vec<Column> {
        let column = |title: &str| Column::with_unit(title, unit.clone());
        let [difference, change] = wording::PAIR_COLUMNS;
        let [value, part] = wording::ONE_COLUMNS;
        match self.after {
            Some(_) => vec![
                first.into(),
                column(self.names[0]),
                column(self.names[1]),
                column(difference),
                Column::with_unit(change, Unit::Share),
            ],
            None => vec![
                first.into(),
                column(value),
                Column::with_unit(part, Unit::Share),
            ],
        }
    }

    /// Formats the cells of a metric. For a single profile, the percentage is relative to `total`.
    fn cells(
        &self,
        (before, after): (Option<u64>, Option<u64>),
        unit: &Unit,
        total: Option<u64>,
    ) -> Vec<Cell> {
        let exact = |value: f64| Quantity::exact(value, unit.clone());
        let count = |value: Option<u64>| value.map(|value| exact(value as f64));
        if self.after.is_none() {
            let part = before.zip(total).filter(|(_, total)| *total > 0);
            let part = part.map(|(value, total)| value as f64 / total as f64);
            return vec![count(before).into(), fraction_cell(part)];
        }
        let (old, new) = (before.unwrap_or(0) as f64, after.unwrap_or(0) as f64);
        let change = (old > 0.0).then(|| new / old - 1.0);
        let tone = match new - old {
            less if less < 0.0 => Tone::Better,
            more if more > 0.0 => Tone::Worse,
            _ => Tone::Plain,
        };
        let difference = Cell::from(exact(new - old)).with_tone(tone);
        vec![
            count(before).into(),
            count(after).into(),
            difference,
            fraction_cell(change),
        ]
    }
}

fn fraction_cell(part: Option<f64>) -> Cell {
    part.map(|part| Quantity::exact(part, Unit::Share)).into()
}

/// Returns the unit of a metric that covers the whole program.
fn figure_unit(name: &str) -> Unit {
    match name {
        "peak" | "total" => Unit::Bytes,
        name => wording::unit(name),
    }
}

/// Formats a metric of one program or of both programs.
fn figure_text(pair: &ProfilePair, name: &str) -> Option<String> {
    let unit = figure_unit(name);
    match (pair.figure(name), pair.after) {
        ((Some(before), Some(after)), Some(_)) => {
            Some(wording::figure_change(name, &unit, before, Some(after)))
        }
        ((Some(before), _), None) => Some(wording::figure_change(name, &unit, before, None)),
        _ => None,
    }
}

/// Returns the findings at the top of the report: memory, misses and measured time, with their
/// explanations.
fn answer_findings(pair: &ProfilePair, report: &ProfileReport) -> Vec<Finding> {
    let figures = |label: &str, names: &[&str]| {
        let texts = names.iter().filter_map(|name| figure_text(pair, name));
        Some(Finding::new(label, wording::figures(texts)?, Tone::Plain))
    };
    let mut heap = figures(wording::HEAP, &HEAP);
    if let (Some(heap), Some(churn)) = (&mut heap, heap::churn_sentence(pair)) {
        heap.text = format!("{} {churn}", heap.text);
    }
    let misses = figures(wording::SIMULATED, &COSTS);
    let clock = report.measured.as_ref().and_then(|measured| {
        let open = measured.answer.open_findings();
        let first = measured.answer.findings.iter().chain(&open).next()?;
        let agreement = pair
            .after
            .and_then(|after| agreement(pair.before, after, measured));
        let agreement = agreement.map(|agreement| wording::agreement(&agreement, pair.names[0]));
        let text = say::paragraph([first.text.clone()].into_iter().chain(agreement))?;
        Some(Finding::new(wording::MEASURED, text, first.tone))
    });
    let explained = heap::explanations(pair)
        .into_iter()
        .next()
        .map(Finding::plain);
    let findings = [heap, misses, clock.or(explained)];
    findings
        .into_iter()
        .flatten()
        .take(Answer::MAX_FINDINGS)
        .collect()
}

fn facts(pair: &ProfilePair, report: &ProfileReport) -> Vec<(String, String)> {
    let mut facts = report.programs.facts.clone();
    for (name, profile) in pair.each() {
        facts.push((wording::command_fact(name), profile.command().into()));
        let caches = profile.costs().map(|costs| costs.description.join("; "));
        let caches = caches.filter(|text| !text.trim().is_empty());
        facts.extend(caches.map(|caches| (wording::caches_fact(name), caches)));
    }
    facts
}

/// Returns the metric with the given name.
fn metric(figure: &str) -> Metric {
    Metric {
        id: figure.to_owned().into(),
        title: wording::meaning(figure).to_owned().into(),
        unit: figure_unit(figure),
        better: Direction::Less,
    }
}

/// Describes the outcome of each run.
pub fn run_facts(runs: &ProgramRuns) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    for run in &runs.runs {
        let label = wording::run(run.tool, &run.name);
        facts.push((label.clone(), wording::run_fact(&run.ending, run.took)));
        facts.extend(wording::processes_fact(&label, run.children));
    }
    if runs.same_output {
        let (name, text) = wording::OUTPUT_FACT;
        facts.push((name.into(), text.into()));
    }
    facts
}

/// Returns the metrics of the whole program, without those that cover only a part of it.
pub fn totals(profile: &Profile) -> Vec<(Metric, f64)> {
    let heap = HEAP.into_iter();
    let events = profile.costs().map_or(&[][..], |costs| &costs.events);
    let figures = heap.chain(events.iter().map(String::as_str));
    let value = |figure| Some((metric(figure), profile.whole_figure(figure)? as f64));
    figures.filter_map(value).collect()
}

/// Returns the totals of both programs, and the functions above the threshold.
fn rows(pair: &ProfilePair) -> Vec<Row> {
    let mut rows = Vec::new();
    for (role, (name, profile)) in ["baseline", ""].into_iter().zip(pair.each()) {
        let mut row = |case: &str, metric: Metric, value: f64| {
            let value = Quantity::exact(value, metric.unit.clone());
            rows.push(Row {
                role: role.into(),
                case: case.into(),
                value: Some(value),
                ..Row::new("profile", name, metric)
            });
        };
        for (metric, value) in totals(profile) {
            row("program", metric, value);
        }
        let Some(costs) = profile.costs() else {
            continue;
        };
        for function in costs
            .functions()
            .filter(|f| costs::is_above_threshold(f.costs, &costs.totals))
        {
            let case = format!("{}:{}", function.file, function.name);
            for (event, cost) in costs.events.iter().zip(function.costs) {
                row(&case, metric(event), *cost as f64);
            }
        }
    }
    rows
}
