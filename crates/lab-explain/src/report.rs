// SPDX-License-Identifier: Apache-2.0
//! The report: the differences between subjects, and the counted events per operation of each subject.

use crate::contributions::{TimeDifference, time_differences};
use crate::counting::{CountFailure, CountedUnit};
use crate::differences::{Difference, MIN_EVENTS, RANKS, differences, sort};
use crate::figures::{figure, is_call, median, quantity};
use crate::wording;
use lab_document::say;
use lab_document::{
    Answer, Cell, Column, Document, Finding, Item, Quantity, Row, Section, Table, Tone,
};
use lab_model::{Counted, Message, Metric, Plan, PointId, SubjectId, UnitCosts};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of differences in the headline.
const SHOWN: usize = 3;

/// The input of a report.
pub struct ExplainReport<'a> {
    /// The subjects, their cases and points.
    pub plan: &'a Plan,
    /// The counted events.
    pub counted: &'a [Counted],
    /// Subjects that could not be counted.
    pub failed: Vec<CountFailure>,
    /// The costs of requests to the kernel on this host, if they were measured.
    pub costs: Option<UnitCosts>,
    /// The time at which the events were counted, in seconds since 1970.
    pub made_unix_s: f64,
}

/// Builds a document that shows the subjects of each point next to each other.
pub fn document(report: &ExplainReport) -> Document {
    let plan = report.plan;
    let mut document = Document {
        title: wording::title(&plan.title, CountedUnit::new(plan)),
        question: wording::question(CountedUnit::new(plan)).into(),
        made: wording::made(report.made_unix_s),
        benchlab_version: env!("CARGO_PKG_VERSION").into(),
        answer: answer(report),
        source: wording::SOURCE.into(),
        ..Document::default()
    };
    document.section(warnings(report));
    for point in points(report) {
        document.section(section(report, point));
    }
    document.section(method(report));
    document.rows = rows(report);
    document
}

/// Returns the points at which events were counted, in the plan's order.
fn points(report: &ExplainReport) -> Vec<PointId> {
    let points: BTreeSet<PointId> = report.counted.iter().map(|c| c.point).collect();
    points.into_iter().collect()
}

fn counted_at<'r>(report: &ExplainReport<'r>, point: PointId) -> Vec<&'r Counted> {
    let counted = report.counted.iter();
    counted.filter(|c| c.point == point).collect()
}

fn answer(report: &ExplainReport) -> Answer {
    let plan = report.plan;
    let at_point = |point| differences(plan, point, &counted_at(report, point));
    let mut ranked: Vec<Difference> = points(report).into_iter().flat_map(at_point).collect();
    sort(&mut ranked);
    let finding = |difference: &Difference| {
        let text = wording::difference(difference, CountedUnit::new(plan));
        Finding::new(plan.label(difference.point), text, Tone::Plain)
    };
    let times = time_differences_of(report);
    let first = times
        .iter()
        .max_by(|a, b| a.distance().total_cmp(&b.distance()));
    let first = first.map(|difference| {
        let text = wording::time_difference(difference, CountedUnit::new(plan));
        Finding::new(plan.label(difference.point), text, Tone::Plain)
    });
    let counts = ranked.iter().map(finding);
    let mut findings: Vec<Finding> = first.into_iter().chain(counts).take(SHOWN).collect();
    if findings.is_empty() {
        findings.push(Finding::plain(wording::NO_DIFFERENCE));
    }
    Answer {
        findings,
        ..Answer::default()
    }
}

/// Returns the differences in time at all points.
fn time_differences_of(report: &ExplainReport) -> Vec<TimeDifference> {
    let at_point = |point| {
        let counted = counted_at(report, point);
        time_differences(report.plan, point, &counted, report.costs)
    };
    points(report).into_iter().flat_map(at_point).collect()
}

fn warnings(report: &ExplainReport) -> Section {
    let mut section = Section::new(wording::WARNINGS);
    for failure in &report.failed {
        let text = wording::failure(failure);
        section.push(Finding::new(wording::FAILED, text, Tone::Alarm));
    }
    // If multiple subjects lack the same events for the same reason, one sentence covers them all.
    let mut missing: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for counted in report.counted {
        for (event, reason) in &counted.missing {
            let name = report.plan.subject_label(counted.subject);
            missing.entry((event, reason)).or_default().push(name);
        }
    }
    for ((event, reason), subjects) in missing {
        // If there are multiple warnings, the first screen shows only their labels, so the label names the event.
        let text = wording::not_counted(&say::distinct(subjects), reason);
        section.push(Finding::new(
            wording::missing_event(event),
            text,
            Tone::Alarm,
        ));
    }
    section
}

/// Builds the section of one point: differences, table and messages.
fn section(report: &ExplainReport, point: PointId) -> Section {
    let plan = report.plan;
    let counted = counted_at(report, point);
    let label = plan.label(point);
    let mut section = Section::new(if label.is_empty() {
        wording::COUNTED
    } else {
        &label
    });
    let unit = CountedUnit::new(plan);
    let times = time_differences(plan, point, &counted, report.costs).into_iter();
    let times = times.map(|d| wording::time_difference(&d, unit));
    let differences = differences(plan, point, &counted).into_iter();
    let texts = times.chain(differences.map(|d| wording::difference(&d, unit)));
    let texts: Vec<String> = texts.collect();
    if !texts.is_empty() {
        section.push(Item::List(texts));
    }
    section.table(table(plan, &counted));
    let functions = counted.iter().map(|c| (c.subject, c.functions.as_slice()));
    section.section(instructions(plan, wording::FUNCTION, functions));
    let libraries = counted.iter().map(|c| (c.subject, c.libraries.as_slice()));
    section.section(instructions(plan, wording::LIBRARY, libraries));
    section.section(settings(plan, &counted));
    section.section(messages(plan, &counted));
    section
}

/// Returns the column headings: `heading`, then the name of each subject.
fn columns(plan: &Plan, counted: &[&Counted], heading: String) -> Vec<String> {
    let subjects = counted
        .iter()
        .map(|c| plan.subjects[c.subject].name.clone());
    std::iter::once(heading).chain(subjects).collect()
}

fn table(plan: &Plan, counted: &[&Counted]) -> Table {
    let heading = wording::per_unit(CountedUnit::new(plan));
    let mut table = Table::new("", columns(plan, counted, heading));
    for metric in metrics(counted) {
        let cells = counted.iter().map(|c| match figure(c, &metric) {
            Some(figure) => Cell::from(quantity(figure)),
            None if is_call(&metric) && figure(c, &Metric::SYSTEM_CALLS).is_some() => {
                Cell::from(Quantity::exact(0.0, metric.unit.clone()))
            }
            None => Cell::from(wording::NOTHING),
        });
        let title = if is_call(&metric) {
            wording::system_call(&metric.title)
        } else {
            metric.title.to_string()
        };
        table.named_row(title, cells);
    }
    table.caption = wording::TABLE_CAPTION.into();
    table
}

/// Returns the metrics of a table: totals first, then system calls by kind, most frequent first.
fn metrics(counted: &[&Counted]) -> Vec<Metric> {
    let largest = |metric: &Metric| {
        let values = counted.iter().filter_map(|c| figure(c, metric));
        values.map(|f| median(f).abs()).fold(0.0, f64::max)
    };
    let mut totals = vec![Metric::MEAN_WALL, Metric::MEAN_CPU];
    totals.extend(RANKS);
    totals.insert(4, Metric::INVOLUNTARY_SWITCHES);
    totals.push(Metric::MEMORY);
    let is_counted = |m: &Metric| counted.iter().any(|c| figure(c, m).is_some());
    totals.retain(|m| is_counted(m) || *m == Metric::SYSTEM_CALLS);
    let always = [
        Metric::MEAN_WALL,
        Metric::MEAN_CPU,
        Metric::ROUND_TRIPS,
        Metric::SYSTEM_CALLS,
        Metric::ALLOCATIONS,
    ];
    totals.retain(|m| always.contains(m) || largest(m) >= MIN_EVENTS);
    let all = counted.iter().flat_map(|c| &c.figures).map(|f| &f.metric);
    let calls = all.filter(|metric| is_call(metric) && largest(metric) >= MIN_EVENTS);
    let mut kinds: Vec<Metric> = say::distinct(calls.cloned());
    kinds.sort_by(|a, b| largest(b).total_cmp(&largest(a)).then(a.id.cmp(&b.id)));
    totals.into_iter().chain(kinds).collect()
}

/// Builds a section with the instructions of each program, by function or by library.
fn instructions<'c>(
    plan: &Plan,
    by: &str,
    all: impl Iterator<Item = (SubjectId, &'c [(String, f64)])>,
) -> Section {
    let mut section = Section::folded(wording::instructions_by(by));
    for (subject, costs) in all.filter(|(_, costs)| !costs.is_empty()) {
        let unit = Metric::SIMULATED_INSTRUCTIONS.unit;
        let columns = [
            Column::from(by),
            Column::with_unit(
                wording::instructions_per(CountedUnit::new(plan)),
                unit.clone(),
            ),
        ];
        let mut table = Table::new(plan.subjects[subject].name.clone(), columns)
            .with_caption(wording::INSTRUCTIONS_CAPTION);
        for (name, cost) in costs {
            let cost = Quantity::exact(*cost, unit.clone());
            table.row(vec![name.as_str().into(), cost.into()]);
        }
        section.table(table);
    }
    section
}

/// Builds a section with the settings that differ between subjects.
fn settings(plan: &Plan, counted: &[&Counted]) -> Section {
    let mut section = Section::folded(wording::SETTINGS);
    let keys = counted
        .iter()
        .flat_map(|c| c.settings.iter().map(|(key, _)| key));
    let mut table = Table::new("", columns(plan, counted, wording::SETTING.into()))
        .with_caption(wording::SETTINGS_CAPTION);
    for key in say::distinct(keys) {
        let value = |c: &&Counted| {
            let setting = c.settings.iter().find(|(k, _)| k == key);
            setting.map_or(wording::NOTHING.to_owned(), |(_, value)| value.clone())
        };
        let values: Vec<String> = counted.iter().map(value).collect();
        if values.iter().any(|value| *value != values[0]) {
            table.named_row(key.as_str(), values.into_iter().map(Cell::from));
        }
    }
    section.table(table);
    section
}

/// Builds a section with the messages that each subject sends and receives during one operation.
fn messages(plan: &Plan, counted: &[&Counted]) -> Section {
    let mut section = Section::folded(wording::messages(CountedUnit::new(plan)));
    for counted in counted.iter().filter(|c| !c.messages.is_empty()) {
        section.text(wording::messages_of(&plan.subjects[counted.subject].name));
        let lines = counted.messages.iter().map(|message: &Message| {
            let direction = wording::direction(message.sent);
            format!("{direction:8} {:6} B  {}", message.bytes, message.begins)
        });
        section.push(Item::Log(lines.collect()));
    }
    section
}

fn method(report: &ExplainReport) -> Section {
    let mut section = Section::folded(wording::METHOD);
    let sizes = report.counted.iter().map(|c| c.operations);
    let sizes = sizes.clone().min().zip(sizes.max());
    let unit = CountedUnit::new(report.plan);
    let sentences = std::iter::once(wording::measured_unit(unit, sizes));
    let sentences = sentences.chain(wording::METHODS.map(str::to_owned));
    section.push(Item::List(sentences.collect()));
    section
}

/// Returns a row for every counted metric of every subject at every point.
fn rows(report: &ExplainReport) -> Vec<Row> {
    let plan = report.plan;
    let mut rows = Vec::new();
    for counted in report.counted {
        let point = &plan.points[counted.point];
        let subject = &plan.subjects[counted.subject];
        for figure in &counted.figures {
            let row = Row::new("", &subject.name, figure.metric.clone());
            rows.push(Row {
                role: if subject.reference { "reference" } else { "" }.into(),
                target: plan
                    .targets
                    .get(point.target)
                    .map_or(String::new(), |t| t.kind.name().into()),
                case: plan.case(counted.point).name.clone(),
                params: point.params.clone(),
                value: Some(quantity(figure)),
                ..row
            });
        }
    }
    rows
}
