// SPDX-License-Identifier: Apache-2.0
//! Cases whose calls may fail and whose effects are counted (docs/experiments.md, `check = "effects"`), and the
//! faults that the lab makes for them.

use crate::PlanError;
use crate::file::{self, Case, File};
use lab_model::{Check, FAULT, Injection, Kind, Metric, Target};
use std::collections::BTreeSet;
use std::ops::Range;

/// Where in the file, and what is wrong there.
type At<'a> = &'a dyn Fn(Range<usize>, String) -> PlanError;

/// The parameter value without faults.
const NONE: &str = "none";

/// The faults that are made on a target. Error: a rate or a part that is none, or a target that is a file.
pub fn injections(
    kind: Kind,
    target: &file::Target,
    at: At,
) -> Result<Vec<(String, Injection)>, PlanError> {
    if let Some(first) = target.injection.values().next()
        && !kind.is_service()
    {
        let why = "the lab makes faults on a server only".to_owned();
        return Err(at(first.span(), why));
    }
    let understood = |(name, injection): (&String, &toml::Spanned<file::Injection>)| {
        let wrong = |why: &str| Err(at(injection.span(), format!("`{name}`: {why}")));
        let injection = match injection.get_ref() {
            file::Injection::Statements(statements) => Injection::Statements(statements.clone()),
            file::Injection::CutsPerS(rate) if *rate > 0.0 && *rate <= 1000.0 => {
                Injection::CutsPerS(*rate)
            }
            file::Injection::CutsPerS(_) => {
                return wrong("`cuts_per_s` is above 0 and at most 1,000");
            }
            file::Injection::LostAnswers(part) if *part > 0.0 && *part <= 1.0 => {
                Injection::LostAnswers(*part)
            }
            file::Injection::LostAnswers(_) => {
                return wrong("`lost_answers` is a part: above 0 and at most 1");
            }
            file::Injection::OutageS(seconds) if *seconds > 0.0 && *seconds <= 60.0 => {
                Injection::OutageS(*seconds)
            }
            file::Injection::OutageS(_) => {
                return wrong("`outage_s` is above 0 and at most 60");
            }
        };
        Ok((name.clone(), injection))
    };
    target.injection.iter().map(understood).collect()
}

/// Error: a case of calls on a target that has no table for their effects, or a fault that no target knows.
pub fn understand(file: &File, targets: &[Target], at: At) -> Result<(), PlanError> {
    for case in file.case.iter().filter(|c| c.check == Check::Effects) {
        let span = case.name.span();
        if let Some(target) = targets.iter().find(|t| t.effects.is_none()) {
            let why = format!(
                "`check = \"effects\"` needs `effects` in [target.{}]",
                target.kind.name()
            );
            return Err(at(span, why));
        }
        if targets.is_empty() {
            return Err(at(span, "`check = \"effects\"` needs a target".into()));
        }
    }
    for case in &file.case {
        known_faults(case, targets, at)?;
    }
    Ok(())
}

fn known_faults(case: &Case, targets: &[Target], at: At) -> Result<(), PlanError> {
    let Some(factor) = case.factor.get(FAULT) else {
        return Ok(());
    };
    let known: BTreeSet<&str> = targets
        .iter()
        .flat_map(|target| &target.injections)
        .map(|(name, _)| name.as_str())
        .collect();
    let unknown = faults(case).find(|v| *v != NONE && !known.contains(v));
    unknown.map_or(Ok(()), |value| {
        let why = format!("no target has an `injection.{value}`");
        Err(at(factor.span(), why).known(value, known.iter().copied()))
    })
}

/// What the lab finds of the calls of each batch of a case.
pub fn found(case: &Case, targets: &[Target]) -> Vec<Metric> {
    if case.check != Check::Effects {
        return Vec::new();
    }
    let mut found = Metric::EFFECTS.to_vec();
    if faults(case).any(|fault| is_outage(fault, targets)) {
        found.extend(Metric::OUTAGE);
    }
    found
}

fn is_outage(fault: &str, targets: &[Target]) -> bool {
    let mut made = targets.iter().flat_map(|target| &target.injections);
    made.any(|(name, made)| name == fault && matches!(made, Injection::OutageS(_)))
}

/// The values of a case's factor `fault`.
fn faults(case: &Case) -> impl Iterator<Item = &str> {
    let factor = case.factor.get(FAULT).map(toml::Spanned::get_ref);
    let values = factor.map_or(&[][..], |factor| match factor {
        file::Factor::Values(values) | file::Factor::OnTargets { values, .. } => values,
    });
    values.iter().map(String::as_str)
}
