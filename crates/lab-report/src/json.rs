// SPDX-License-Identifier: Apache-2.0
//! A report for programs: plan, host, analysis and what else was recorded, but for the samples, which
//! the run file holds. The schema is described in docs/reports.md.

use crate::answer::answer;
use crate::{Error, Report};
use lab_model::{Failure, Host, Imported, Kind, Plan, Run, Service, Setting};
use lab_stats::Analysed;
use lab_stats::analysis::Analysis;
use lab_stats::load::analysis::LoadAnalysis;
use serde::Serialize;

/// The schema's version of a run's report. It changes when a name goes away or changes its meaning, not
/// when one is added.
pub const FORMAT: u32 = 2;

/// The same of what is made of several runs.
pub const RUNS_FORMAT: u32 = 1;

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
        analysis: match report.parts.as_slice() {
            [only] if report.load.is_none() => Some(&only.analysis),
            _ => None,
        },
        load: report.load.as_ref(),
        parts: parts(report),
        settings: &run.settings,
        services: &run.services,
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
        format: RUNS_FORMAT,
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
    analysis: Option<&'a Analysis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    load: Option<&'a LoadAnalysis>,
    parts: Vec<OnTarget<'a>>,
    settings: &'a [Setting],
    services: &'a [Service],
    failures: &'a [Failure],
    imports: Vec<FromRun<'a>>,
}

/// What was done on one of several targets: the analysis' numbers are those of this plan.
#[derive(Serialize)]
struct OnTarget<'a> {
    target: Option<Kind>,
    plan: Option<&'a Plan>,
    analysis: &'a Analysis,
}

fn parts<'a>(report: &'a Report) -> Vec<OnTarget<'a>> {
    let of = |Analysed { part, analysis }: &'a Analysed| OnTarget {
        target: part.kind,
        plan: part.run.plan.as_ref(),
        analysis,
    };
    let several = report.parts.iter().filter(|_| report.parts.len() > 1);
    several.map(of).collect()
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
