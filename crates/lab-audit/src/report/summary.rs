// SPDX-License-Identifier: Apache-2.0
//! Summaries of audits for a history.

use lab_model::audit::{AuditFinding, State};
use lab_model::{Content, Run};
use std::collections::BTreeSet;

/// The states that a history counts.
pub const COUNTED: [State; 4] = [State::Bad, State::Advice, State::Unknown, State::Good];

/// A summary of an audit for a history.
#[derive(Clone, Debug)]
pub struct AuditSummary {
    /// The run's name.
    pub run: String,
    /// The start time, in seconds since 1970.
    pub started_unix_s: f64,
    /// The targets of the audit.
    pub targets: String,
    /// The number of findings in each state, ordered as in [`COUNTED`].
    pub counts: [usize; 4],
    /// The rules with bad findings, without duplicates.
    pub bad: Vec<String>,
    /// The rules that applied to at least one object, without duplicates.
    pub applied: Vec<String>,
}

impl AuditSummary {
    /// Summarizes a run. Returns `None` if it is not an audit.
    pub fn new(run: &Run) -> Option<AuditSummary> {
        let Content::Audit(audit) = &run.content else {
            return None;
        };
        let rules = |is_chosen: fn(&AuditFinding) -> bool| {
            let findings = audit.findings.iter().filter(|f| is_chosen(f));
            let rules: BTreeSet<String> = findings.map(|f| f.rule.clone()).collect();
            rules.into_iter().collect()
        };
        Some(AuditSummary {
            run: run.name.clone(),
            started_unix_s: run.started_unix_s,
            targets: audit.targets.join(", "),
            counts: COUNTED.map(|state| audit.count(state)),
            bad: rules(|f| f.state == State::Bad),
            applied: rules(|f| f.state.is_seen() && !f.place.is_empty()),
        })
    }
}
