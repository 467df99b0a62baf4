// SPDX-License-Identifier: Apache-2.0
//! Builds documents from runs of every kind, with the report of the tool that recorded each run. A
//! new tool is registered here.

mod summary;

pub use summary::{RunSummary, history};

use lab_audit::report::{AuditReport, ChangedReport};
use lab_document::Document;
use lab_import::report::{BetweenImports, ImportReport};
use lab_logs::report::{ComparisonReport, LogsReport};
use lab_model::{Audit, Content, Run};
use lab_report::{BetweenReport, Report};
use lab_stats::between::{self as stats, Recorded};

/// Builds the report of a run of any kind.
pub fn document(report: &Report) -> Document {
    let run = report.run;
    match &run.content {
        Content::Audit(audit) => lab_audit::report::document(&AuditReport {
            audit,
            run: &run.name,
            made_unix_s: run.started_unix_s,
            lab_version: &run.lab_version,
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
        Content::Measured(_) => lab_report::document(report),
    }
}

/// Builds the report of the differences between two runs.
///
/// # Errors
/// Returns a sentence that says why the two runs cannot be compared.
pub fn between([before, after]: [Recorded; 2], files: [&str; 2]) -> Result<Document, String> {
    let runs = [before.run, after.run];
    match runs.map(|run| &run.content) {
        [Content::Audit(before), Content::Audit(after)] => audits(runs, [before, after], files),
        [Content::Audit(_), _] | [_, Content::Audit(_)] => Err(
            "one of them is an audit and the other is not: an audit is compared with an audit"
                .into(),
        ),
        [Content::Logs(before), Content::Logs(after)] => {
            Ok(lab_logs::report::comparison(&ComparisonReport {
                runs,
                analyses: [before, after],
                files,
            }))
        }
        [Content::Logs(_), _] | [_, Content::Logs(_)] => {
            Err("one of the runs is of `benchlab logs`, the other is not".into())
        }
        [Content::Imported(_), Content::Imported(_)] => {
            lab_import::report::between(&BetweenImports { runs, files })
        }
        [Content::Imported(_), _] | [_, Content::Imported(_)] => Err(
            "one of the runs was imported from another tool's file, the other was measured by benchlab".into(),
        ),
        [Content::Measured(_), Content::Measured(_)] => {
            let between = stats::between(before, after).map_err(|e| e.to_string())?;
            Ok(lab_report::between(&BetweenReport {
                between: &between,
                runs,
                files,
            }))
        }
    }
}

/// Returns an error if the audits are of different kinds.
fn audits(
    runs: [&Run; 2],
    [before, after]: [&Audit; 2],
    files: [&str; 2],
) -> Result<Document, String> {
    if before.kind != after.kind {
        return Err(format!(
            "the first is an audit of {}, the second of {}: audits of one kind are compared",
            before.kind.name(),
            after.kind.name()
        ));
    }
    Ok(lab_audit::report::changed(&ChangedReport {
        runs,
        audits: [before, after],
        files,
    }))
}
