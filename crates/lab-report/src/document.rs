// SPDX-License-Identifier: Apache-2.0
//! The document for a run.

use crate::Report;
use crate::imports;
use crate::kind::kind_of;
use crate::parts::measured::Measured;
use crate::parts::scope::Scope;
use crate::parts::{bias, conditions, findings, gates, method, rows, trouble};
use crate::timeline::timeline;
use crate::wording;
use lab_document::{Answer, Document, Table, Tone, format};
use lab_model::{Content, Plan, Run};

/// Builds the document for a measured run. The document is empty for other kinds of runs.
pub fn document(report: &Report) -> Document {
    match &report.run.content {
        Content::Measured(content) => measured_document(report, &content.plan),
        Content::Logs(_) | Content::Audit(_) | Content::Imported(_) => Document::default(),
    }
}

fn measured_document(report: &Report, plan: &Plan) -> Document {
    let kind = kind_of(&plan.work);
    let measured = Measured::new(report, plan, kind.traits());
    let scopes = Scope::all(&measured);
    let mut document = method::heading(&measured);
    if scopes.is_empty() {
        document.answer = findings::no_answer(&measured);
        document.add_gates(gates::gates(&measured));
        return document;
    }
    let parts = kind.parts(&scopes);
    if let Some(title) = kind.title(&scopes[0]) {
        document.title = title;
    }
    document.answer = if measured.results.cells.is_empty() {
        findings::no_answer(&measured)
    } else {
        Answer {
            headline: parts.headline,
            table: parts.table,
            distribution: parts.distribution,
            ..findings::answer(&measured, parts.chart, parts.findings)
        }
    };
    let before = [trouble::failures(&measured), trouble::warnings(&measured)];
    let after = [
        conditions::section(&measured, &scopes),
        bias::section(&scopes),
        imports::section(report.others),
        method::section(&measured, parts.method),
        method::host(report.run),
    ];
    let sections = before.into_iter().chain(parts.sections).chain(after);
    sections.for_each(|section| document.section(section));
    document.rows = rows::rows(&measured);
    document.timeline = timeline(report.run, plan);
    document.add_gates(gates::gates(&measured));
    document
}

/// Returns the answer's values for a run in progress, without verdicts.
///
/// Verdicts are valid only at the planned analyses of a run, because an interval that is inspected
/// after every block does not have its nominal level. Returns `None` if there are no values yet,
/// and for comparisons of commands, whose estimate fits into a line.
pub fn so_far(run: &Run) -> Option<Table> {
    let plan = run.plan()?;
    if kind_of(&plan.work).estimate().is_some() {
        return None;
    }
    let report = Report::new(run, &run.name);
    let mut table = format::answer_table(&document(&report))?;
    for cell in table.rows.iter_mut().flatten() {
        cell.note = String::new();
        cell.tone = Tone::Plain;
    }
    table.notes.clear();
    table.caption = wording::so_far(run.complete_blocks().count());
    Some(table)
}

/// Returns the current estimate of a comparison of commands, for a progress line.
///
/// The text has at most 60 columns, such as `B takes 1.083 (1.060 to 1.110) × A`. It is empty for
/// other kinds of work, and until there is an interval.
pub fn estimate(run: &Run) -> String {
    let estimate = |plan: &Plan| {
        let kind = kind_of(&plan.work);
        let line = kind.estimate()?;
        let report = Report::new(run, &run.name);
        Some(line(&Measured::new(&report, plan, kind.traits())))
    };
    run.plan().and_then(estimate).unwrap_or_default()
}
