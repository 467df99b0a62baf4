// SPDX-License-Identifier: Apache-2.0
//! Builds the document of a run of any kind, using the crate that reports on this kind. New kinds
//! are registered here.

pub mod ci;
mod summary;

pub use summary::{RunSummary, history};

use lab_audit::report::{AuditReport, ChangedReport};
use lab_document::{Document, Gate};
use lab_import::report::{BetweenImports, ImportReport};
use lab_logs::gates::judge_changes;
use lab_logs::report::{ComparisonReport, LogsReport};
use lab_model::{Audit, ConditionError, Content, OnInconclusive, Run, StoredProfile};
use lab_profile::ProfiledPrograms;
use lab_profile::report::ProfileReport;
use lab_report::{BetweenReport, Report};
use lab_stats::between::Recorded;
use lab_stats::gate::{ChangeCondition, GateCondition};

/// Builds the report of a run of any kind, with the decisions of its gates.
pub fn document(report: &Report) -> Document {
    let mut document = document_of_content(report);
    document.add_gates(report.run.gates.iter().map(Gate::from).collect());
    document
}

fn document_of_content(report: &Report) -> Document {
    let run = report.run;
    match &run.content {
        Content::Audit(audit) => lab_audit::report::document(&AuditReport {
            audit,
            run: &run.name,
            made_unix_s: run.started_unix_s,
            benchlab_version: &run.benchlab_version,
            file: Some(report.file),
        }),
        Content::Logs(analysis) => lab_logs::report::document(&LogsReport {
            run,
            analysis,
            file: Some(report.file),
            capacity: None,
        }),
        Content::Imported(_) => lab_import::report::document(&ImportReport {
            run,
            file: report.file,
        }),
        Content::Measured(measured) => match &measured.profile {
            Some(profile) => profile_document(report, profile),
            None => lab_report::document(report),
        },
    }
}

/// Builds the report of profiled programs. It contains their times if the run also measured times.
fn profile_document(report: &Report, profile: &StoredProfile) -> Document {
    let run = report.run;
    let measured = || lab_report::document(report);
    match ProfiledPrograms::read(profile) {
        Ok(programs) => lab_profile::report::document(&ProfileReport {
            programs: &programs,
            measured: run.complete_blocks().next().map(|_| measured()),
            made_unix_s: run.started_unix_s,
            file: Some(report.file),
        }),
        Err(reason) => {
            let mut document = measured();
            document.answer.omitted = Some(lab_profile::wording::unreadable_in_run(&reason));
            document
        }
    }
}

/// The conditions under which a report on two runs fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChangeGates<'a> {
    /// True to fail if any compared value became worse by more than the margin.
    pub gate: bool,
    /// Conditions such as `time>+5%`.
    pub fail_if: &'a [String],
    /// The effect of an inconclusive gate.
    pub on_inconclusive: OnInconclusive,
}

impl ChangeGates<'_> {
    /// Parses the conditions, beginning with the condition of `--gate`.
    fn parse<T>(
        &self,
        gate: &str,
        parse: impl Fn(&str) -> Result<T, ConditionError>,
    ) -> Result<Vec<T>, String> {
        let gate = Some(gate).filter(|_| self.gate);
        let texts = gate
            .into_iter()
            .chain(self.fail_if.iter().map(String::as_str));
        let conditions: Result<Vec<T>, _> = texts.map(parse).collect();
        conditions.map_err(|e| format!("--fail-if: {e}"))
    }

    fn add(&self, document: &mut Document, gates: Vec<Gate>) {
        let gates = gates.into_iter();
        let gates = gates.map(|gate| gate.with_inconclusive(self.on_inconclusive));
        document.add_gates(gates.collect());
    }
}

/// The failure condition of `--gate` for two log analyses: a page became slower by more than 2 %.
const SLOWER_PAGE: &str = "mean>+2%";

/// Builds the report of the differences between two runs.
///
/// # Errors
/// Returns an error if the two runs cannot be compared, or if a condition is invalid.
pub fn compare(
    [before, after]: [Recorded; 2],
    files: [&str; 2],
    gates: ChangeGates,
) -> Result<Document, String> {
    let runs = [before.run, after.run];
    match runs.map(|run| &run.content) {
        [Content::Audit(before), Content::Audit(after)] => {
            audits(runs, [before, after], files, gates)
        }
        [Content::Audit(_), _] | [_, Content::Audit(_)] => {
            Err("cannot compare an audit with a run of another kind".into())
        }
        [Content::Logs(before), Content::Logs(after)] => {
            let conditions = gates.parse(SLOWER_PAGE, str::parse)?;
            let mut document = lab_logs::report::comparison(&ComparisonReport {
                runs,
                analyses: [before, after],
                files,
            });
            gates.add(&mut document, judge_changes(&conditions, before, after));
            Ok(document)
        }
        [Content::Logs(_), _] | [_, Content::Logs(_)] => {
            Err("cannot compare a run of `benchlab logs` with a run of another kind".into())
        }
        [Content::Imported(_), Content::Imported(_)] => {
            if gates.gate || !gates.fail_if.is_empty() {
                return Err(
                    "--gate and --fail-if work only with runs that benchlab measured, not with imported runs".into(),
                );
            }
            lab_import::report::compare(&BetweenImports { runs, files })
        }
        [Content::Imported(_), _] | [_, Content::Imported(_)] => {
            Err("cannot compare imported results with a run that benchlab measured".into())
        }
        [Content::Measured(_), Content::Measured(_)] => {
            let between = lab_stats::compare_runs(before, after).map_err(|e| e.to_string())?;
            let gate = GateCondition::text_of_gate(between.margin);
            let conditions = gates.parse(&gate, |text| ChangeCondition::parse(text, &between))?;
            Ok(lab_report::between(&BetweenReport {
                between: &between,
                runs,
                files,
                conditions: &conditions,
                on_inconclusive: gates.on_inconclusive,
            }))
        }
    }
}

/// Returns an error if the two audits are of different kinds.
fn audits(
    runs: [&Run; 2],
    [before, after]: [&Audit; 2],
    files: [&str; 2],
    gates: ChangeGates,
) -> Result<Document, String> {
    if before.kind != after.kind {
        return Err(format!(
            "cannot compare an audit of {} with an audit of {}",
            before.kind.name(),
            after.kind.name()
        ));
    }
    let conditions = gates.parse(lab_audit::gate::WORSE, str::parse)?;
    let report = ChangedReport {
        runs,
        audits: [before, after],
        files,
    };
    let mut document = lab_audit::report::changed(&report);
    gates.add(
        &mut document,
        lab_audit::report::changed_gates(&report, &conditions),
    );
    Ok(document)
}
