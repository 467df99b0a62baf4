// SPDX-License-Identifier: Apache-2.0
//! The summary of a run of any kind, for a history.

use lab_audit::report::AuditSummary;
use lab_document::Document;
use lab_model::Run;
use lab_profile::report::history::{self, ProfileSummary};
use lab_report::history::document;
use std::collections::HashMap;

/// One run, without its samples.
#[derive(Clone, Debug)]
pub enum RunSummary {
    /// An audit.
    Audit(AuditSummary),
    /// A measurement.
    Measured {
        /// How its subjects came out.
        measured: lab_report::RunSummary,
        /// Its figures of a profile, if it has some.
        profile: Option<ProfileSummary>,
    },
}

impl RunSummary {
    /// Analyses a run for a history; `hashes` as in [`lab_report::RunSummary::new`]. `None` for a file of
    /// imported figures.
    pub fn new(run: &Run, hashes: &HashMap<String, String>) -> Option<RunSummary> {
        if let Some(audit) = AuditSummary::new(run) {
            return Some(RunSummary::Audit(audit));
        }
        Some(RunSummary::Measured {
            measured: lab_report::RunSummary::new(run, hashes)?,
            profile: ProfileSummary::new(run),
        })
    }

    /// The names of the subjects that have a row, each once.
    pub fn subjects(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<&str> = match self {
            RunSummary::Audit(_) => Vec::new(),
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

/// The runs of one name, the oldest first, with those subjects alone that are named, or all.
pub fn history(name: &str, runs: &[RunSummary], subjects: &[String]) -> Document {
    let (mut audits, mut all_measured, mut profiles) = (Vec::new(), Vec::new(), Vec::new());
    for run in runs {
        match run {
            RunSummary::Audit(audit) => audits.push(audit.clone()),
            RunSummary::Measured { measured, profile } => {
                all_measured.push(measured.clone());
                profiles.extend(profile.clone());
            }
        }
    }
    if !audits.is_empty() {
        return lab_audit::report::history(name, &audits);
    }
    let mut document = document(name, &all_measured, subjects);
    history::extend(&mut document, &profiles, subjects);
    document
}
