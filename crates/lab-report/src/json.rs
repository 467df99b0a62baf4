// SPDX-License-Identifier: Apache-2.0
//! A report for programs: plan, host, analysis and what else was recorded, but for the samples, which
//! the run file holds. The schema is described in docs/reports.md.

use crate::answer::answer;
use crate::{Error, Report};
use lab_model::{Failure, Host, Imported, Plan, Run, Setting};
use lab_stats::analysis::Analysis;
use serde::Serialize;

/// The schema's version. It changes when a name goes away or changes its meaning, not when one is added.
pub const FORMAT: u32 = 1;

/// The report as JSON, ending with a line feed. Numbers that are not finite are `null`.
pub fn render(report: &Report) -> Result<String, Error> {
    let run = report.run;
    let document = Document {
        format: FORMAT,
        name: &run.name,
        file: report.file,
        lab_version: &run.lab_version,
        started_unix_s: run.started_unix_s,
        ending: run.ending,
        answer: answer(report),
        plan: run.plan.as_ref(),
        host: &run.host,
        analysis: report.analysis,
        settings: &run.settings,
        failures: &run.failures,
        imports: std::iter::once(run)
            .chain(report.others)
            .flat_map(imports)
            .collect(),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Rows of a history, of the runs of one name or of the names that there are.
pub fn rows<T: Serialize>(name: Option<&str>, rows: &[T]) -> Result<String, Error> {
    let document = Rows {
        format: FORMAT,
        name,
        rows,
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

#[derive(Serialize)]
struct Rows<'a, T> {
    format: u32,
    name: Option<&'a str>,
    rows: &'a [T],
}

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    name: &'a str,
    file: &'a str,
    lab_version: &'a str,
    started_unix_s: f64,
    ending: Option<lab_model::Ending>,
    answer: String,
    plan: Option<&'a Plan>,
    host: &'a Host,
    analysis: &'a Analysis,
    settings: &'a [Setting],
    failures: &'a [Failure],
    imports: Vec<FromRun<'a>>,
}

/// Imported figures and the run that they are in.
#[derive(Serialize)]
struct FromRun<'a> {
    run: &'a str,
    #[serde(flatten)]
    figures: &'a Imported,
}

fn imports(run: &Run) -> impl Iterator<Item = FromRun<'_>> {
    run.imports.iter().map(|figures| FromRun {
        run: &run.name,
        figures,
    })
}
