// SPDX-License-Identifier: Apache-2.0
//! Two runs that were not interleaved: what changed from the first to the second.

mod answer;
mod changed;
mod tables;

use crate::BetweenReport;
use crate::parts::method;
use changed::{ChangedFigure, changes, chart, rows};
use lab_document::say;
use lab_document::{Document, Finding, Item, Section, Tone};

/// The document of two runs.
pub fn document(report: &BetweenReport) -> Document {
    let changes = changes(report);
    let [first, second] = report.runs;
    let title = first.plan().map_or("", |plan| &plan.title);
    let mut document = Document {
        title: format!("{title}: two runs"),
        question: "What changed from the first run to the second?".into(),
        made: format!(
            "{} and {}",
            method::date_and_place(first),
            method::date_and_place(second)
        ),
        lab_version: second.lab_version.clone(),
        answer: answer::answer(report, &changes),
        source: format!("{} hold every sample.", say::list(&report.files)),
        rows: rows(report, &changes),
        ..Document::default()
    };
    document.section(reservations(report));
    let mut all = Section::new("Point by point");
    if changes.len() > answer::ROWS {
        let every: Vec<&ChangedFigure> = changes.iter().collect();
        all.chart(chart(report, &every, "changes"));
    }
    all.table(tables::changes(report, &changes));
    all.table(tables::times(report));
    document.section(all);
    let mut differences = Section::new("What differs");
    differences.table(tables::differences(report));
    differences.table(tables::runs(report));
    document.section(differences);
    let mut computed = Section::folded("How it was computed");
    computed.text(method_text(report));
    document.section(computed);
    document
}

fn reservations(report: &BetweenReport) -> Section {
    let mut section = Section::new("Reservations");
    for reservation in &report.between.reservations {
        let label = reservation.kind.replace('-', " ");
        section.push(Finding::new(label, &reservation.text, Tone::Undecided));
    }
    let mut apart = Section::new("Not compared");
    if !report.between.apart.is_empty() {
        apart.push(Item::List(report.between.apart.clone()));
    }
    section.section(apart);
    section
}

/// How it was computed, and how far apart the runs are.
fn method_text(report: &BetweenReport) -> String {
    let between = report.between;
    let distance = distance(report.runs[1].started_unix_s - report.runs[0].started_unix_s);
    let (level, margin) = (say::percent(between.level), say::percent(between.margin));
    let begin = format!("The second run began {distance} the first. Changes are second / first");
    if between.is_of_loads() {
        format!(
            "{begin}, of times and costs, so that below 1 is better: of rates, CPU time and memory Hodges-Lehmann \
             estimates over the blocks of both; of percentiles, which are those of all requests of a run, with \
             intervals by the shares of the blocks' requests. All of them hold together, asked for: {level}, margin \
             {margin}."
        )
    } else {
        format!(
            "{begin}: Hodges-Lehmann estimates over the blocks of both. Those of ratios hold all together, \
             asked for: {level}, margin {margin}; those of times hold one by one."
        )
    }
}

/// `3 hours after`; a run can be given first that was made last.
fn distance(seconds: f64) -> String {
    let side = if seconds < 0.0 { "before" } else { "after" };
    let seconds = seconds.abs();
    let (length, word) = match seconds {
        s if s >= 86_400.0 => (86_400.0, "day"),
        s if s >= 3600.0 => (3600.0, "hour"),
        s if s >= 60.0 => (60.0, "minute"),
        _ => (1.0, "second"),
    };
    let n = (seconds / length).round() as usize;
    format!("{} {side}", say::count(n, word))
}
