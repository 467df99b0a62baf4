// SPDX-License-Identifier: Apache-2.0
//! What a history shows of an audit.

use lab_model::audit::{Audit, State};

/// The states that are counted.
pub const COUNTED: [State; 4] = [State::Bad, State::Advice, State::Unknown, State::Good];

/// What a history shows of an audit.
#[derive(Clone, Debug)]
pub struct Audited {
    /// Of what.
    pub targets: String,
    /// How many findings are in each state, in the order of [`COUNTED`].
    pub counts: [usize; 4],
    /// Rules that were bad, each once.
    pub bad: Vec<String>,
}

impl Audited {
    /// Of an audit.
    pub fn new(audit: &Audit) -> Audited {
        let bad = audit.findings.iter().filter(|f| f.state == State::Bad);
        let mut bad: Vec<String> = bad.map(|f| f.rule.clone()).collect();
        bad.sort();
        bad.dedup();
        Audited {
            targets: audit.targets.join(", "),
            counts: COUNTED.map(|state| audit.count(state)),
            bad,
        }
    }
}
