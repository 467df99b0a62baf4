// SPDX-License-Identifier: Apache-2.0
//! What a history shows of an audit.

use lab_model::audit::{AuditFinding, State};
use lab_model::{Content, Run};
use std::collections::BTreeSet;

/// The states that are counted.
pub const COUNTED: [State; 4] = [State::Bad, State::Advice, State::Unknown, State::Good];

/// What a history shows of an audit.
#[derive(Clone, Debug)]
pub struct AuditSummary {
    /// The run's name.
    pub run: String,
    /// When it began, in seconds since 1970.
    pub started_unix_s: f64,
    /// Of what.
    pub targets: String,
    /// How many findings are in each state, in the order of [`COUNTED`].
    pub counts: [usize; 4],
    /// Rules that were bad, each once.
    pub bad: Vec<String>,
    /// Rules that had something to judge, each once.
    pub applied: Vec<String>,
}

impl AuditSummary {
    /// Of a run; `None`: it is no audit.
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
