// SPDX-License-Identifier: Apache-2.0
//! Evaluates rules for objects, which produces findings.

use crate::condition::{Condition, Truth, all_hold};
use crate::rule::{Rule, StateCase, fill, value_text};
use crate::value::{AuditObject, Class, Value};
use crate::wording;
use lab_model::Unit;
use lab_model::audit::{AuditFinding, Evidence, EvidenceValue, Fix, State};

/// The maximum number of objects that one finding names.
const MAX_NAMED: usize = 5;

/// Evaluates all rules for all objects, in the order of the rules.
///
/// A rule with `together` produces one finding per state. Any other rule produces one finding per
/// object.
pub fn judge(rules: &[Rule], objects: &[AuditObject], classes: &[Class]) -> Vec<AuditFinding> {
    rules
        .iter()
        .flat_map(|rule| {
            let members = objects.iter().filter(|object| object.class == rule.of);
            let findings: Vec<AuditFinding> = members.map(|object| finding(rule, object)).collect();
            match (findings.is_empty(), rule.together) {
                (true, _) => vec![no_such_object(rule, classes)],
                (false, true) => merge(findings),
                (false, false) => findings,
            }
        })
        .collect()
}

/// Evaluates a rule for an object.
pub fn finding(rule: &Rule, object: &AuditObject) -> AuditFinding {
    let fill = |text: &str| fill_values(text, object);
    let plain = AuditFinding {
        rule: rule.id.clone(),
        area: rule.area.clone(),
        title: fill(&rule.title),
        place: object.name.clone(),
        state: State::Good,
        weight: 0,
        seen: fill(&rule.seen),
        cost: String::new(),
        why: fill(&rule.why),
        fixes: Vec::new(),
        see: fill(&rule.see),
        source: rule.source.clone(),
        evidence: evidence(rule, object),
    };
    match decide(rule, object) {
        Decision::Case(case) => AuditFinding {
            state: case.state,
            weight: case.weight,
            seen: fill(case.seen.as_ref().unwrap_or(&rule.seen)),
            cost: fill(&case.cost),
            fixes: fixes(&case.fixes, object),
            ..plain
        },
        Decision::Good => plain,
        Decision::Unknown(reason) => AuditFinding {
            state: State::Unknown,
            seen: reason,
            ..plain
        },
        Decision::NotApplicable(reason) => AuditFinding {
            state: State::NotApplicable,
            seen: reason,
            ..plain
        },
    }
}

enum Decision<'r> {
    Case(&'r StateCase),
    Good,
    Unknown(String),
    NotApplicable(String),
}

fn decide<'r>(rule: &'r Rule, object: &AuditObject) -> Decision<'r> {
    match all_hold(&rule.applies, object) {
        Truth::Yes => {}
        Truth::No | Truth::NotApplicable => {
            return Decision::NotApplicable(inapplicable_reason(&rule.applies, object));
        }
        Truth::Unknown(reason) => return Decision::Unknown(reason),
    }
    let (mut unknown_reason, mut without_values) = (None, 0);
    for case in &rule.cases {
        match all_hold(&case.when, object) {
            Truth::Yes => return Decision::Case(case),
            Truth::No => {}
            Truth::Unknown(reason) => unknown_reason = unknown_reason.or(Some(reason)),
            Truth::NotApplicable => without_values += 1,
        }
    }
    match unknown_reason {
        Some(reason) => Decision::Unknown(reason),
        None if without_values == rule.cases.len() => {
            let conditions: Vec<Condition> =
                rule.cases.iter().flat_map(|c| c.when.clone()).collect();
            Decision::NotApplicable(inapplicable_reason(&conditions, object))
        }
        None => Decision::Good,
    }
}

/// Explains why a rule does not apply. Names the missing value, or the condition that does not hold
/// and the actual value.
fn inapplicable_reason(conditions: &[Condition], object: &AuditObject) -> String {
    let first_with = |truth: Truth| conditions.iter().find(|c| c.holds(object) == truth);
    if let Some(lacking) = first_with(Truth::NotApplicable) {
        let missing = |name: &&str| !object.values.contains_key(name);
        let name = lacking.names().find(missing).unwrap_or(&lacking.name);
        return wording::no_value(name);
    }
    let Some(refuted) = first_with(Truth::No) else {
        return wording::RULE_NOT_APPLICABLE.into();
    };
    let actual = value_text(object.values.get(refuted.name.as_str()));
    wording::only_where(&refuted.text, &actual)
}

fn fill_values(text: &str, object: &AuditObject) -> String {
    fill(text, |name| match name {
        "name" => object.name.clone(),
        name => value_text(object.values.get(name)),
    })
}

fn fixes(fixes: &[Fix], object: &AuditObject) -> Vec<Fix> {
    let filled_fix = |fix: &Fix| Fix {
        of: fix.of.clone(),
        lines: fix
            .lines
            .iter()
            .map(|line| fill_values(line, object))
            .collect(),
    };
    fixes.iter().map(filled_fix).collect()
}

fn evidence(rule: &Rule, object: &AuditObject) -> Vec<Evidence> {
    let to_evidence = |name: &str| match object.values.get(name)? {
        Value::Unknown(_) => None,
        value => Some(Evidence {
            name: name.to_owned(),
            value: value.evidence(),
        }),
    };
    rule.names().into_iter().filter_map(to_evidence).collect()
}

/// Returns the finding for a rule whose class has no objects.
fn no_such_object(rule: &Rule, classes: &[Class]) -> AuditFinding {
    let class = classes.iter().find(|class| class.name == rule.of);
    let nothing = AuditObject::new("", "");
    AuditFinding {
        state: State::NotApplicable,
        seen: class.map_or(String::new(), |class| class.none.into()),
        evidence: Vec::new(),
        ..finding(rule, &nothing)
    }
}

/// Merges findings with the same state. A merged finding describes the first object and names the
/// other objects.
fn merge(findings: Vec<AuditFinding>) -> Vec<AuditFinding> {
    let mut merged = Vec::new();
    for state in State::ALL {
        let same_state: Vec<&AuditFinding> = findings.iter().filter(|f| f.state == state).collect();
        let Some(first) = same_state.first() else {
            continue;
        };
        if same_state.len() == 1 {
            merged.push((*first).clone());
            continue;
        }
        let names: Vec<&str> = same_state
            .iter()
            .take(MAX_NAMED)
            .map(|f| f.place.as_str())
            .collect();
        let unnamed = same_state.len().saturating_sub(MAX_NAMED);
        merged.push(AuditFinding {
            place: wording::objects(&names, unnamed),
            seen: match state {
                State::Good | State::NotApplicable => wording::objects_in_state(same_state.len()),
                State::Unknown if same_state.iter().all(|f| f.seen == first.seen) => {
                    first.seen.clone()
                }
                _ => wording::objects_and_first(same_state.len(), &first.seen),
            },
            weight: same_state.iter().map(|f| f.weight).max().unwrap_or(0),
            evidence: vec![Evidence {
                name: "objects".into(),
                value: EvidenceValue::Number(
                    same_state.len() as f64,
                    Unit::Count("objects".into()),
                ),
            }],
            fixes: fixes_of(same_state.iter().take(MAX_NAMED)),
            ..(*first).clone()
        });
    }
    merged
}

/// Merges the fixes of multiple findings and removes repeated lines.
fn fixes_of<'f>(findings: impl Iterator<Item = &'f &'f AuditFinding>) -> Vec<Fix> {
    let mut fixes: Vec<Fix> = Vec::new();
    for fix in findings.flat_map(|finding| &finding.fixes) {
        match fixes.iter_mut().find(|same_kind| same_kind.of == fix.of) {
            Some(same_kind) => {
                let new_lines = fix
                    .lines
                    .iter()
                    .filter(|line| !same_kind.lines.contains(line));
                let new_lines: Vec<String> = new_lines.cloned().collect();
                same_kind.lines.extend(new_lines);
            }
            None => fixes.push(fix.clone()),
        }
    }
    fixes
}
