// SPDX-License-Identifier: Apache-2.0
//! The history of metrics that have almost no noise, such as the metrics of a profile.

use crate::wording;
use lab_document::say;
use lab_document::{Answer, Cell, Column, Document, Finding, Quantity, Row, Section, Table, Tone};
use lab_model::{Host, Measured, Metric, NoiseFreeValue, Run, Unit};

/// The metrics that get a column if they are known. The machine-readable rows contain all metrics.
const COLUMNS: [&str; 8] = [
    "peak",
    "total",
    "allocations",
    "Ir",
    "Dr",
    "Dw",
    "D1mr",
    "D1mw",
];

/// The minimum change that is reported, as a fraction of the previous value. A different path or
/// environment may cause smaller changes.
const MIN_CHANGE: f64 = 0.001;

/// The profile metrics of a run, for a history.
#[derive(Clone, Debug)]
pub struct ProfileSummary {
    run: String,
    started_unix_s: f64,
    /// The Git commit of the directory in which the run was started.
    commit: Option<String>,
    /// Subject, metric and value.
    figures: Vec<(String, Metric, f64)>,
}

impl ProfileSummary {
    /// Creates the summary of a run. Returns `None` if the run has no profile metrics.
    pub fn new(run: &Run) -> Option<ProfileSummary> {
        let Measured { plan, figures, .. } = run.measured()?;
        let figure = |figure: &NoiseFreeValue| {
            let subject = plan.subjects.get(figure.subject)?;
            let mut metrics = run.metrics.iter();
            let metric = metrics.find(|metric| metric.id == figure.metric)?;
            Some((subject.name.clone(), metric.clone(), figure.value))
        };
        let figures: Vec<_> = figures.iter().filter_map(figure).collect();
        (!figures.is_empty()).then(|| ProfileSummary {
            run: run.name.clone(),
            started_unix_s: run.started_unix_s,
            commit: run.host.fact(Host::COMMIT).map(str::to_owned),
            figures,
        })
    }

    /// Returns the names of the subjects that have metrics.
    pub fn subjects(&self) -> impl Iterator<Item = &str> {
        self.figures.iter().map(|(name, ..)| name.as_str())
    }
}

/// Adds the profiles of runs to the document of their history. `runs` starts with the oldest run.
pub fn extend(document: &mut Document, runs: &[ProfileSummary], chosen: &[String]) {
    if runs.is_empty() {
        return;
    }
    let answer = &mut document.answer;
    let found = findings(runs, chosen);
    if !found.is_empty() {
        answer.headline.clear();
    }
    answer.findings.splice(0..0, found);
    answer.findings.truncate(Answer::MAX_FINDINGS);
    answer.undecided = None;
    document.section(section(runs, chosen));
    document.rows.extend(rows(runs, chosen));
}

/// Returns true if a subject is selected. An empty list selects all subjects.
fn is_chosen(subjects: &[String], name: &str) -> bool {
    subjects.is_empty() || subjects.iter().any(|subject| subject == name)
}

/// Returns the subjects that have metrics in some run, in order of appearance.
fn subjects<'p>(runs: &'p [ProfileSummary], subjects: &[String]) -> Vec<&'p str> {
    let names = runs
        .iter()
        .flat_map(|run| &run.figures)
        .map(|(name, ..)| name);
    say::distinct(
        names
            .filter(|name| is_chosen(subjects, name))
            .map(String::as_str),
    )
}

fn figure<'p>(
    run: &'p ProfileSummary,
    subject: &str,
    id: &str,
) -> Option<&'p (String, Metric, f64)> {
    let mut figures = run.figures.iter();
    figures.find(|(name, metric, _)| name == subject && metric.id == id)
}

/// Builds a table for each subject, with a row for each run.
fn section(runs: &[ProfileSummary], chosen: &[String]) -> Section {
    let mut section = Section::new(wording::HISTORY);
    for subject in subjects(runs, chosen) {
        let is_known = |id: &&&str| runs.iter().any(|run| figure(run, subject, id).is_some());
        let ids: Vec<&str> = COLUMNS.iter().filter(is_known).copied().collect();
        let column = |id: &&str| {
            let unit = runs.iter().find_map(|run| figure(run, subject, id));
            let unit = unit.map_or(Unit::Count("".into()), |(_, metric, _)| metric.unit.clone());
            Column::with_unit(*id, unit)
        };
        let columns = wording::HISTORY_COLUMNS.map(Column::from);
        let columns = columns.into_iter().chain(ids.iter().map(column));
        let mut table = Table::new(subject, columns).with_caption(wording::HISTORY_CAPTION);
        let mut before: Option<&ProfileSummary> = None;
        for run in runs {
            if !run.figures.iter().any(|(name, ..)| name == subject) {
                continue;
            }
            let commit: String = run.commit.iter().flat_map(|c| c.chars()).take(7).collect();
            let mut cells = vec![Cell::from(say::minute(run.started_unix_s)), commit.into()];
            cells.extend(ids.iter().map(|id| cell(run, before, subject, id)));
            table.row(cells);
            before = Some(run);
        }
        section.table(table.without_empty_columns());
    }
    section
}

fn cell(run: &ProfileSummary, before: Option<&ProfileSummary>, subject: &str, id: &str) -> Cell {
    let Some((_, metric, value)) = figure(run, subject, id) else {
        return Cell::default();
    };
    let old = before.and_then(|before| figure(before, subject, id));
    let tone = match old.map(|(.., old)| value / old - 1.0) {
        Some(change) if change >= MIN_CHANGE => Tone::Worse,
        Some(change) if change <= -MIN_CHANGE => Tone::Better,
        _ => Tone::Plain,
    };
    Cell::from(Quantity::exact(*value, metric.unit.clone())).with_tone(tone)
}

/// Returns the changes from the previous run to the latest run, largest change first.
fn findings(runs: &[ProfileSummary], chosen: &[String]) -> Vec<Finding> {
    let mut changes: Vec<(f64, Finding)> = Vec::new();
    for subject in subjects(runs, chosen) {
        let mut with = runs.iter().rev();
        let mut next = || with.find(|run| run.figures.iter().any(|(name, ..)| name == subject));
        let (Some(latest), Some(before)) = (next(), next()) else {
            continue;
        };
        for id in COLUMNS {
            let values = figure(before, subject, id).zip(figure(latest, subject, id));
            let Some(((_, metric, old), (.., new))) = values.filter(|((.., a), (.., b))| a != b)
            else {
                continue;
            };
            let change = new / old - 1.0;
            if change.abs() < MIN_CHANGE {
                continue;
            }
            let began = latest.started_unix_s;
            let text = wording::changed_figure((subject, id), &metric.unit, began, [*old, *new]);
            let tone = if new > old { Tone::Worse } else { Tone::Better };
            changes.push((change.abs(), Finding::plain(text).with_tone(tone)));
        }
    }
    let with_figures = runs.iter().filter(|run| !run.figures.is_empty()).count();
    if changes.is_empty() && with_figures > 0 {
        return vec![Finding::plain(wording::no_change(with_figures))];
    }
    changes.sort_by(|a, b| b.0.total_cmp(&a.0));
    changes.into_iter().map(|(_, finding)| finding).collect()
}

/// Returns every metric of every run.
fn rows(runs: &[ProfileSummary], chosen: &[String]) -> Vec<Row> {
    let row = |run: &ProfileSummary, (name, metric, value): &(String, Metric, f64)| Row {
        case: "program".into(),
        value: Some(Quantity::exact(*value, metric.unit.clone())),
        note: say::minute(run.started_unix_s),
        ..Row::new(&run.run, name, metric.clone())
    };
    let all = runs
        .iter()
        .flat_map(|run| run.figures.iter().map(move |figure| (run, figure)));
    let figures = all.filter(|(_, (name, ..))| is_chosen(chosen, name));
    figures.map(|(run, figure)| row(run, figure)).collect()
}
