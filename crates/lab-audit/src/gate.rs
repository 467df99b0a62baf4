// SPDX-License-Identifier: Apache-2.0
//! Gates on an audit: conditions on the number of its findings, such as `bad>0` or `bad(disk-scheduler)>0`.

use crate::wording;
use lab_document::{Gate, Quantity};
use lab_model::audit::{Audit, AuditFinding, State};
use lab_model::{Comparison, ConditionError, Decision, Dimension, Relation, Unit};
use std::str::FromStr;

/// The condition of `diff --gate` on two audits: no finding became worse.
pub const WORSE: &str = "worse>0";

/// The names of the states that a condition may count, worst state first.
const STATES: [(&str, State); 4] = [
    ("bad", State::Bad),
    ("advice", State::Advice),
    ("unknown", State::Unknown),
    ("good", State::Good),
];

/// A condition on the number of findings in a state, either for all rules or for one rule.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditCondition {
    text: String,
    state: State,
    rule: Option<String>,
    relation: Relation,
    bound: f64,
}

/// A condition on the number of findings that became worse: `worse>0`.
#[derive(Clone, Debug, PartialEq)]
pub struct WorseCondition {
    text: String,
    relation: Relation,
    bound: f64,
}

impl AuditCondition {
    /// Returns the rule that the condition names.
    pub fn rule(&self) -> Option<&str> {
        self.rule.as_deref()
    }

    /// Judges the condition. Findings with a waiver do not count.
    pub fn judge(&self, audit: &Audit) -> Gate {
        let counted = audit.findings.iter().filter(|finding| {
            let is_of_rule = self.rule.as_ref().is_none_or(|rule| *rule == finding.rule);
            is_of_rule && audit.is_open(finding, self.state)
        });
        let counted: Vec<&AuditFinding> = counted.collect();
        let name = self.rule.as_deref().unwrap_or("");
        gate(
            &self.text,
            name,
            self.relation,
            self.bound,
            &counted,
            self.state.name(),
        )
    }
}

impl WorseCondition {
    /// Judges the condition for the findings that became worse.
    pub fn judge(&self, worse: &[&AuditFinding]) -> Gate {
        gate(&self.text, "", self.relation, self.bound, worse, "worse")
    }
}

fn gate(
    text: &str,
    name: &str,
    relation: Relation,
    bound: f64,
    counted: &[&AuditFinding],
    state: &str,
) -> Gate {
    let count = counted.len() as f64;
    let decision = Decision::for_value(relation, count, bound);
    let unit = || Unit::Count("findings".into());
    Gate::new(text, name, decision, &wording::counted(counted, state))
        .with_value(Quantity::exact(count, unit()))
        .with_limit(bound, unit())
}

impl FromStr for AuditCondition {
    type Err = ConditionError;

    /// Parses a condition such as `bad>0` or `advice(net-ports)>0`.
    fn from_str(text: &str) -> Result<AuditCondition, ConditionError> {
        Comparison::resolve(text, |condition| {
            let state = STATES.iter().find(|(name, _)| *name == condition.name);
            let (_, state) = state
                .ok_or_else(|| condition.unknown_name(STATES.map(|(name, _)| name).join(", ")))?;
            Ok(AuditCondition {
                text: text.trim().into(),
                state: *state,
                rule: condition.argument.map(str::to_owned),
                relation: condition.relation,
                bound: Dimension::Count.parse(condition.bound)?,
            })
        })
    }
}

impl FromStr for WorseCondition {
    type Err = ConditionError;

    /// Parses a condition such as `worse>0`.
    fn from_str(text: &str) -> Result<WorseCondition, ConditionError> {
        Comparison::resolve(text, |condition| {
            if condition.name != "worse" {
                return Err(condition.unknown_name("worse"));
            }
            Ok(WorseCondition {
                text: text.trim().into(),
                relation: condition.relation,
                bound: Dimension::Count.parse(condition.bound)?,
            })
        })
    }
}
