// SPDX-License-Identifier: Apache-2.0
//! The changes between two runs that were not interleaved.

mod answer;
mod changed;
mod gates;
mod tables;

use crate::parts::method;
use crate::{BetweenReport, wording};
use changed::{ChangedFigure, changes, chart, rows};
use lab_document::say;
use lab_document::{Document, Finding, Item, Section, Tone};

/// Builds the document for two runs.
pub fn document(report: &BetweenReport) -> Document {
    let changes = changes(report);
    let [first, second] = report.runs;
    let title = first.plan().map_or("", |plan| &plan.title);
    let mut document = Document {
        title: format!("{title}: two runs"),
        question: wording::changes::QUESTION.into(),
        made: format!(
            "{} and {}",
            method::date_and_hardware(first),
            method::date_and_hardware(second)
        ),
        benchlab_version: second.benchlab_version.clone(),
        answer: answer::answer(report, &changes),
        source: format!("All samples are in {}.", say::list(&report.files)),
        rows: rows(report, &changes),
        ..Document::default()
    };
    document.section(caveats(report));
    let mut all = Section::new("Point by point");
    if changes.len() > answer::ROWS {
        let every: Vec<&ChangedFigure> = changes.iter().collect();
        all.chart(chart(report, &every, "changes"));
    }
    all.table(tables::changes(report, &changes));
    all.table(tables::times(report));
    document.section(all);
    let mut differences = Section::new("Differences");
    differences.table(tables::differences(report));
    differences.table(tables::runs(report));
    document.section(differences);
    document.add_gates(gates::gates(report));
    let mut computed = Section::folded("How it was computed");
    computed.text(method_text(report));
    document.section(computed);
    document
}

fn caveats(report: &BetweenReport) -> Section {
    let mut section = Section::new("Caveats");
    for caveat in &report.between.caveats {
        let label = caveat.kind().name().replace('-', " ");
        let finding = Finding::new(label, wording::caveat(caveat), Tone::Inconclusive);
        section.push(finding.with_data(caveat));
    }
    let mut apart = Section::new("Not compared");
    if !report.between.apart.is_empty() {
        let sentences = report.between.apart.iter().map(wording::not_compared);
        apart.push(Item::List(sentences.collect()));
    }
    section.section(apart);
    section
}

/// Describes how the changes were computed and how far apart the runs are.
fn method_text(report: &BetweenReport) -> String {
    let between = report.between;
    let seconds = report.runs[1].started_unix_s - report.runs[0].started_unix_s;
    let loads = between.is_of_loads();
    wording::changes::method_of_changes(seconds, loads, between.level, between.margin)
}
