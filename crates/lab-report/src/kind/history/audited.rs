// SPDX-License-Identifier: Apache-2.0
//! What a history shows of an audit.

use lab_model::audit::{Audit, AuditFinding, State};
use std::collections::BTreeSet;

/// The states that are counted.
pub const COUNTED: [State; 4] = [State::Bad, State::Advice, State::Unknown, State::Good];

/// What a history shows of an audit.
#[derive(Clone, Debug)]
pub struct AuditSummary {
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
    /// Of an audit.
    pub fn new(audit: &Audit) -> AuditSummary {
        let rules = |is_chosen: fn(&AuditFinding) -> bool| {
            let findings = audit.findings.iter().filter(|f| is_chosen(f));
            let rules: BTreeSet<String> = findings.map(|f| f.rule.clone()).collect();
            rules.into_iter().collect()
        };
        AuditSummary {
            targets: audit.targets.join(", "),
            counts: COUNTED.map(|state| audit.count(state)),
            bad: rules(|f| f.state == State::Bad),
            applied: rules(|f| f.state.is_seen() && !f.place.is_empty()),
        }
    }
}
