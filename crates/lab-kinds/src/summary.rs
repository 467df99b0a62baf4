// SPDX-License-Identifier: Apache-2.0
//! The summary of a run of any kind, for a history.

use lab_audit::report::AuditSummary;
use lab_document::Document;
use lab_import::report::ImportSummary;
use lab_model::Run;
use lab_profile::report::history::{self, ProfileSummary};
use lab_report::history::{HistoryCondition, document, gates};
use std::collections::HashMap;

/// A summary of one run, without its samples.
#[derive(Clone, Debug)]
pub enum RunSummary {
    /// The summary of an audit.
    Audit(AuditSummary),
    /// Results of another tool.
    Imported(ImportSummary),
    /// The summary of a run that measured subjects.
    Measured {
        /// The results of the measured subjects.
        measured: lab_report::RunSummary,
        /// The values of the run's profile, if it was profiled.
        profile: Option<ProfileSummary>,
    },
}

impl RunSummary {
    /// Summarizes a run for a history. For `hashes`, see [`lab_report::RunSummary::new`].
    ///
    /// Returns `None` for imported XML, whose values have no name in a history.
    pub fn new(run: &Run, hashes: &HashMap<String, String>) -> Option<RunSummary> {
        if let Some(audit) = AuditSummary::new(run) {
            return Some(RunSummary::Audit(audit));
        }
        if let Some(imported) = ImportSummary::new(run) {
            return Some(RunSummary::Imported(imported));
        }
        Some(RunSummary::Measured {
            measured: lab_report::RunSummary::new(run, hashes)?,
            profile: ProfileSummary::new(run),
        })
    }

    /// Returns the names of the subjects that have rows, without duplicates.
    pub fn subjects(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<&str> = match self {
            RunSummary::Audit(_) => Vec::new(),
            RunSummary::Imported(imported) => imported.subjects().collect(),
            RunSummary::Measured { measured, profile } => {
                let profiled = profile.iter().flat_map(ProfileSummary::subjects);
                measured.subjects().chain(profiled).collect()
            }
        };
        names.sort_unstable();
        names.dedup();
        names.into_iter()
    }
}

/// Builds the history of all runs with one name, oldest first.
///
/// `subjects` selects the subjects to show. If it is empty, all subjects are shown. `conditions`
/// contains gates for measured runs. Audits have none.
pub fn history(
    name: &str,
    runs: &[RunSummary],
    subjects: &[String],
    conditions: &[HistoryCondition],
) -> Document {
    let (mut audits, mut all_measured, mut profiles) = (Vec::new(), Vec::new(), Vec::new());
    let mut imports = Vec::new();
    for run in runs {
        match run {
            RunSummary::Audit(audit) => audits.push(audit.clone()),
            RunSummary::Imported(imported) => imports.push(imported.clone()),
            RunSummary::Measured { measured, profile } => {
                all_measured.push(measured.clone());
                profiles.extend(profile.clone());
            }
        }
    }
    if !audits.is_empty() {
        return lab_audit::report::history(name, &audits);
    }
    if !imports.is_empty() {
        return lab_import::report::history(name, &imports, subjects);
    }
    let mut document = document(name, &all_measured, subjects);
    document.add_gates(gates(&all_measured, subjects, conditions));
    history::extend(&mut document, &profiles, subjects);
    document
}
