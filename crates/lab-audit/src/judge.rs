// SPDX-License-Identifier: Apache-2.0
//! Rules applied to things: findings.

use crate::condition::{Condition, Truth, all};
use crate::rule::{Case, Rule, fill, value_text};
use crate::value::{Class, Thing, Value};
use lab_model::Unit;
use lab_model::audit::{Evidence, EvidenceValue, Finding, Fix, State};

/// Names that a finding on many things gives.
const NAMED: usize = 5;

/// A finding for each rule and thing, in the order of the rules; one that the rule speaks of together, for
/// each state.
pub fn judge(rules: &[Rule], things: &[Thing], classes: &[Class]) -> Vec<Finding> {
    rules
        .iter()
        .flat_map(|rule| {
            let of = things.iter().filter(|thing| thing.class == rule.of);
            let findings: Vec<Finding> = of.map(|thing| finding(rule, thing)).collect();
            match (findings.is_empty(), rule.together) {
                (true, _) => vec![none(rule, classes)],
                (false, true) => merged(findings),
                (false, false) => findings,
            }
        })
        .collect()
}

/// What a rule says of a thing.
pub fn finding(rule: &Rule, thing: &Thing) -> Finding {
    let text = |text: &str| filled(text, thing);
    let plain = Finding {
        rule: rule.id.clone(),
        area: rule.area.clone(),
        title: text(&rule.title),
        place: thing.name.clone(),
        state: State::Good,
        weight: 0,
        seen: text(&rule.seen),
        cost: String::new(),
        why: text(&rule.why),
        fixes: Vec::new(),
        see: text(&rule.see),
        source: rule.source.clone(),
        evidence: evidence(rule, thing),
    };
    match decided(rule, thing) {
        Decided::Case(case) => Finding {
            state: case.state,
            weight: case.weight,
            seen: text(case.seen.as_ref().unwrap_or(&rule.seen)),
            cost: text(&case.cost),
            fixes: fixes(&case.fixes, thing),
            ..plain
        },
        Decided::Good => plain,
        Decided::Unknown(why) => Finding {
            state: State::Unknown,
            seen: why,
            ..plain
        },
        Decided::NotApplicable(why) => Finding {
            state: State::NotApplicable,
            seen: why,
            ..plain
        },
    }
}

enum Decided<'r> {
    Case(&'r Case),
    Good,
    Unknown(String),
    NotApplicable(String),
}

fn decided<'r>(rule: &'r Rule, thing: &Thing) -> Decided<'r> {
    match all(&rule.applies, thing) {
        Truth::Yes => {}
        Truth::No | Truth::NotApplicable => {
            return Decided::NotApplicable(not_about(&rule.applies, thing));
        }
        Truth::Unknown(why) => return Decided::Unknown(why),
    }
    let (mut why_unknown, mut lacking) = (None, 0);
    for case in &rule.cases {
        match all(&case.when, thing) {
            Truth::Yes => return Decided::Case(case),
            Truth::No => {}
            Truth::Unknown(why) => why_unknown = why_unknown.or(Some(why)),
            Truth::NotApplicable => lacking += 1,
        }
    }
    match why_unknown {
        Some(why) => Decided::Unknown(why),
        None if lacking == rule.cases.len() => {
            let conditions: Vec<Condition> =
                rule.cases.iter().flat_map(|c| c.when.clone()).collect();
            Decided::NotApplicable(not_about(&conditions, thing))
        }
        None => Decided::Good,
    }
}

/// Which condition is not so of a thing, and what it has in its place.
fn not_about(conditions: &[Condition], thing: &Thing) -> String {
    let refuted = |wanted: Truth| conditions.iter().find(|c| c.holds(thing) == wanted);
    if let Some(lacking) = refuted(Truth::NotApplicable) {
        let missing = |name: &&str| !thing.values.contains_key(name);
        let name = lacking.names().find(missing).unwrap_or(&lacking.name);
        return format!("There is no `{name}` here.");
    }
    let Some(refuted) = refuted(Truth::No) else {
        return "The rule is not about this one.".into();
    };
    let found = value_text(thing.values.get(refuted.name.as_str()));
    format!("Only where `{}`; here it is {found}.", refuted.text)
}

fn filled(text: &str, thing: &Thing) -> String {
    fill(text, |name| match name {
        "name" => thing.name.clone(),
        name => value_text(thing.values.get(name)),
    })
}

fn fixes(fixes: &[Fix], thing: &Thing) -> Vec<Fix> {
    let filled_fix = |fix: &Fix| Fix {
        of: fix.of.clone(),
        lines: fix.lines.iter().map(|line| filled(line, thing)).collect(),
    };
    fixes.iter().map(filled_fix).collect()
}

fn evidence(rule: &Rule, thing: &Thing) -> Vec<Evidence> {
    let known = |name: &str| match thing.values.get(name)? {
        Value::Unknown(_) => None,
        value => Some(Evidence {
            name: name.to_owned(),
            value: value.evidence(),
        }),
    };
    rule.names().into_iter().filter_map(known).collect()
}

/// There is no such thing.
fn none(rule: &Rule, classes: &[Class]) -> Finding {
    let class = classes.iter().find(|class| class.name == rule.of);
    let nothing = Thing::new("", "");
    Finding {
        state: State::NotApplicable,
        seen: class.map_or(String::new(), |class| class.none.into()),
        evidence: Vec::new(),
        ..finding(rule, &nothing)
    }
}

/// One finding for each state: that of its first thing, with the names of the others.
fn merged(findings: Vec<Finding>) -> Vec<Finding> {
    let mut merged = Vec::new();
    for state in State::ALL {
        let same: Vec<&Finding> = findings.iter().filter(|f| f.state == state).collect();
        let Some(first) = same.first() else { continue };
        if same.len() == 1 {
            merged.push((*first).clone());
            continue;
        }
        let names: Vec<&str> = same.iter().take(NAMED).map(|f| f.place.as_str()).collect();
        let more = same.len().saturating_sub(NAMED);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        merged.push(Finding {
            place: names.join(", ") + &more,
            seen: match state {
                State::Good | State::NotApplicable => format!("{} such.", same.len()),
                State::Unknown if same.iter().all(|f| f.seen == first.seen) => first.seen.clone(),
                _ => format!("{} such; the first: {}", same.len(), first.seen),
            },
            weight: same.iter().map(|f| f.weight).max().unwrap_or(0),
            evidence: vec![Evidence {
                name: "things".into(),
                value: EvidenceValue::Number(same.len() as f64, Unit::Count("things".into())),
            }],
            fixes: fixes_of(same.iter().take(NAMED)),
            ..(*first).clone()
        });
    }
    merged
}

/// The fixes of several, each line once.
fn fixes_of<'f>(findings: impl Iterator<Item = &'f &'f Finding>) -> Vec<Fix> {
    let mut fixes: Vec<Fix> = Vec::new();
    for fix in findings.flat_map(|finding| &finding.fixes) {
        match fixes.iter_mut().find(|known| known.of == fix.of) {
            Some(known) => {
                let new = fix.lines.iter().filter(|line| !known.lines.contains(line));
                let new: Vec<String> = new.cloned().collect();
                known.lines.extend(new);
            }
            None => fixes.push(fix.clone()),
        }
    }
    fixes
}
