// SPDX-License-Identifier: Apache-2.0
//! The document of one imported run.

use super::series::{SubjectSeries, advice, all_series, tool};
use super::table;
use crate::wording;
use lab_document::{
    Answer, Column, Document, Finding, Item, Section, Table, Tone,
    say::{self, count},
};
use lab_model::{Metric, Run};
use lab_stats::analysis::Verdict;
use lab_stats::processes::{ALPHA, MARGIN, ProcessChange, changed, typical};

/// The input for the report of an imported run.
#[derive(Clone, Copy, Debug)]
pub struct ImportReport<'a> {
    /// The imported run.
    pub run: &'a Run,
    /// The path of the run file as shown to users.
    pub file: &'a str,
}

/// Builds the document.
pub fn document(report: &ImportReport) -> Document {
    let run = report.run;
    let all = all_series(run);
    let changes = changes(&all);
    let mut document = Document {
        title: format!("Results of {}", tool(run)),
        made: format!(
            "{} UTC, imported by {}",
            say::minute(run.started_unix_s),
            run.benchlab_version
        ),
        benchlab_version: run.benchlab_version.clone(),
        source: format!("The values are in {}.", report.file),
        kept: true,
        answer: answer(run, &all, &changes),
        ..Document::default()
    };
    let values = values(&all, &changes);
    if values.rows.len() <= table::ROWS {
        document.answer.table = Some(values);
    } else {
        document.section(Section::from_table("Values", values));
    }
    document.section(measurement_facts(run));
    document.section(method(&all, &changes));
    let rows = all.iter().zip(&changes);
    let row = |(one, change): (&SubjectSeries, &Option<ProcessChange>)| {
        table::row(&run.name, &one.subject, &one.series, change.as_ref())
    };
    document.rows = rows.map(row).collect();
    document
}

/// Compares each series with the first subject's series of the same benchmark and metric, if there
/// is one.
fn changes(all: &[SubjectSeries]) -> Vec<Option<ProcessChange>> {
    let base = |one: &SubjectSeries| {
        let first = &all.first()?.subject;
        let same = |other: &&SubjectSeries| {
            let (a, b) = (&other.series, &one.series);
            other.subject == *first
                && a.case == b.case
                && a.params == b.params
                && a.metric == b.metric
        };
        let base = all.iter().find(same).filter(|_| one.subject != *first);
        base.filter(|base| base.ended_like(one))
    };
    let judged = |one: &&SubjectSeries| {
        let has_processes = |s: &SubjectSeries| s.series.processes.len() > 1;
        base(one).is_some_and(|base| has_processes(base) && has_processes(one))
    };
    let family = all.iter().filter(judged).count();
    let change = |one| changed(&base(one)?.series, &one.series, family);
    all.iter().map(change).collect()
}

fn answer(run: &Run, all: &[SubjectSeries], changes: &[Option<ProcessChange>]) -> Answer {
    let is_alone = all.iter().all(|one| one.series.processes.len() == 1);
    let tool = tool(run);
    let undecided = is_alone.then(|| {
        let advice = advice(tool);
        format!(
            "{} {} {advice}",
            wording::ONE_PROCESS,
            wording::WHY_ONE_PROCESS
        )
        .trim()
        .to_owned()
    });
    let judged: Vec<(&SubjectSeries, &ProcessChange, &Verdict)> = all
        .iter()
        .zip(changes)
        .filter_map(|(one, change)| {
            Some((one, change.as_ref()?, change.as_ref()?.verdict.as_ref()?))
        })
        .collect();
    let base = all.first();
    let different = all.iter().filter_map(|one| {
        let base = base.filter(|base| !base.ended_like(one))?;
        let names = [&*base.subject, &*one.subject];
        Some(wording::ends_differ(
            names,
            [&base.exit_codes, &one.exit_codes],
        ))
    });
    let mut different: Vec<String> = different.collect();
    different.dedup();
    let headline = match judged.as_slice() {
        [] if !different.is_empty() => different.remove(0),
        [] => headline(all),
        many => {
            let base = &all[0].subject;
            let times: Vec<_> = many
                .iter()
                .filter(|(one, ..)| one.series.metric == Metric::WALL)
                .collect();
            match times.as_slice() {
                [(one, change, _)] => {
                    wording::comparison(&one.subject, base, &one.series.metric, change) + "."
                }
                _ => {
                    let verdicts: Vec<Verdict> =
                        many.iter().map(|(.., verdict)| **verdict).collect();
                    format!(
                        "Compared with {base}, {}.",
                        wording::counts(&verdicts, "values")
                    )
                }
            }
        }
    };
    let mut findings: Vec<Finding> = different.iter().map(Finding::plain).collect();
    findings.extend(remarks(run));
    if !judged.is_empty() {
        findings.push(Finding::plain(wording::NOT_IN_TURNS));
    }
    Answer {
        headline: match is_alone {
            true => format!("{} {headline}", wording::ONE_PROCESS),
            false => headline,
        },
        findings,
        undecided,
        ..Answer::default()
    }
}

/// Formats the headline: the value if there is only one, or else the number of benchmarks.
fn headline(all: &[SubjectSeries]) -> String {
    let Some(first) = all.first() else {
        return "The file has no values.".into();
    };
    let mut labels: Vec<(&str, String)> = all
        .iter()
        .map(|one| (&*one.subject, one.series.label()))
        .collect();
    labels.dedup();
    let name = match first.series.label() {
        label if label.is_empty() => first.subject.clone(),
        label => label,
    };
    match (labels.len(), typical(&first.series)) {
        (1, Some(value)) => wording::value(&name, &first.series.metric, &value) + ".",
        (n, _) => {
            let least = all.iter().map(|one| one.series.processes.len());
            let processes = say::min_to_max(least, |n| n.to_string()).unwrap_or_default();
            format!(
                "{} were measured, each in {processes} processes.",
                count(n, "benchmark")
            )
            .replace("each in 1 processes", "each in one process")
        }
    }
}

/// Builds the table of all values. Columns with the same value in each row are omitted.
fn values(all: &[SubjectSeries], changes: &[Option<ProcessChange>]) -> Table {
    // The number of operations describes how a time was measured. It is not a result.
    let shown: Vec<(&SubjectSeries, &Option<ProcessChange>)> = all
        .iter()
        .zip(changes)
        .filter(|(one, _)| one.series.metric != Metric::OPERATIONS)
        .collect();
    let base = all.first().map_or("", |one| &*one.subject);
    let differ = |text: fn(&SubjectSeries) -> String| {
        let mut texts = shown.iter().map(|(one, _)| text(one));
        let first = texts.next();
        texts.any(|text| Some(text) != first)
    };
    let labeled = shown.iter().any(|(one, _)| !one.series.label().is_empty());
    let shows_subject = labeled && differ(|one| one.subject.clone());
    let shows_metric = differ(|one| one.series.metric.title.to_string());
    let shows_processes =
        differ(processes_text) || shown.iter().any(|(one, _)| processes_text(one) != "1");
    let shows_ratio = changes
        .iter()
        .flatten()
        .any(|change| change.verdict.is_some());
    let mut columns = vec![Column::from(if labeled { "benchmark" } else { "subject" })];
    columns.extend(shows_subject.then(|| "subject".into()));
    columns.extend(shows_metric.then(|| "metric".into()));
    columns.push("value".into());
    columns.extend(shows_processes.then(|| "processes".into()));
    columns.extend(shows_ratio.then(|| Column::from(format!("ratio to {base}"))));
    let mut table = Table::new("", columns);
    for (one, change) in shown {
        let label = one.series.label();
        let name = if label.is_empty() {
            &one.subject
        } else {
            &label
        };
        let mut cells = vec![name.as_str().into()];
        cells.extend(shows_subject.then(|| one.subject.as_str().into()));
        cells.extend(shows_metric.then(|| (&*one.series.metric.title).into()));
        cells.push(table::typical(&one.series).into());
        cells.extend(shows_processes.then(|| processes_text(one).into()));
        if shows_ratio {
            cells.push(match (change, one.subject == base) {
                (_, true) => "1".into(),
                (change, false) => table::change(change.as_ref(), &one.series),
            });
        }
        table.row(cells);
    }
    table
}

fn processes_text(one: &SubjectSeries) -> String {
    table::processes(&one.series)
}

/// Lists the benchmarks that failed, and the content that was not imported.
fn remarks(run: &Run) -> impl Iterator<Item = Finding> {
    let remarks = run.imports().iter().flat_map(|import| &import.remarks);
    remarks.map(|remark| Finding::new("import", remark, Tone::Inconclusive))
}

fn measurement_facts(run: &Run) -> Section {
    let mut section = Section::folded("About the measurement");
    let mut facts: Vec<(String, String)> = Vec::new();
    for fact in run.imports().iter().flat_map(|import| &import.facts) {
        if !facts.contains(fact) {
            facts.push(fact.clone());
        }
    }
    if !facts.is_empty() {
        section.push(Item::Facts(facts));
    }
    section
}

fn method(all: &[SubjectSeries], changes: &[Option<ProcessChange>]) -> Section {
    let mut section = Section::folded("How it was computed");
    if all.iter().any(|one| one.series.processes.len() > 1) {
        section.text(format!(
            "A process counts as one value: the interquartile mean of its values. The typical value is the \
             Hodges-Lehmann estimate of the logarithms with a {} interval.",
            say::percent(1.0 - ALPHA)
        ));
    }
    if changes
        .iter()
        .flatten()
        .any(|change| change.verdict.is_some())
    {
        section.text(format!(
            "Ratios are two-sample Hodges-Lehmann estimates; their intervals hold simultaneously. A difference \
             within {} counts as equivalent.",
            say::percent(MARGIN)
        ));
        section.text(wording::NOT_IN_TURNS);
    }
    section
}
