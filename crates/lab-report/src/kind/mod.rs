// SPDX-License-Identifier: Apache-2.0
//! Documents: one builder for each kind of measured run, of parts that they share.

mod agents;
mod ages;
mod batches;
mod between;
mod bias;
mod calls;
mod cell;
mod charts;
mod commands;
mod conditions;
mod costs;
mod estimate;
pub mod explain;
mod findings;
pub mod forecast;
pub mod history;
mod hosts;
mod imports;
mod links;
mod load;
mod load_sent;
mod measured;
mod method;
mod percentiles;
mod rows;
mod scaling;
mod scope;
mod sentence;
mod servers;
mod shift;
mod side_by_side;
mod slices;
mod split;
mod standings;
mod table;
mod timeline;
mod trouble;

use crate::{BetweenReport, Report};
use lab_document::{Chart, Document, Finding, Section};
use lab_model::{Content, Plan, Work};
use measured::Measured;
use scope::Scope;

/// The parts that each kind of run adds to the common document.
struct DocumentParts {
    /// The chart that answers the question.
    chart: Option<Chart>,
    /// The most important first; those beyond the third are left out.
    findings: Vec<Finding>,
    /// Between what went wrong and the conditions.
    sections: Vec<Section>,
    /// How it was measured, in sentences.
    method: Vec<String>,
}

/// The document of a measured run, or of imported figures.
pub fn document(report: &Report) -> Document {
    match &report.run.content {
        Content::Measured(content) => measured_document(report, &content.plan),
        Content::Logs(_) | Content::Audit(_) | Content::Imported(_) => imports::document(report),
    }
}

fn measured_document(report: &Report, plan: &Plan) -> Document {
    let measured = Measured::new(report, plan);
    let scopes = Scope::all(&measured);
    let mut document = method::heading(&measured);
    if scopes.is_empty() {
        document.answer = findings::no_answer(&measured);
        return document;
    }
    let parts = match &plan.work {
        Work::Batches => batches::parts(&scopes),
        Work::Commands(commands) => commands::parts(&scopes[0], commands),
        Work::Load(load) => load::parts(&scopes[0], load),
        Work::Servers(servers) => servers::parts(&scopes[0], servers),
    };
    if let Some(title) = commands::title(&scopes[0]) {
        document.title = title;
    }
    document.answer = if measured.results.cells.is_empty() {
        findings::no_answer(&measured)
    } else {
        findings::answer(&measured, parts.chart, parts.findings)
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
    document
}

/// The current estimate of a comparison of whole commands, for a line of progress: at most 60 columns,
/// such as `B takes 1.083 (1.060 to 1.110) × A`. Empty without an interval, and for other runs.
pub fn estimate(report: &Report) -> String {
    match report.run.plan() {
        Some(plan) if plan.commands().is_some() => estimate::line(&Measured::new(report, plan)),
        _ => String::new(),
    }
}

/// The document of the changes between two runs.
pub fn between(report: &BetweenReport) -> Document {
    between::document(report)
}
