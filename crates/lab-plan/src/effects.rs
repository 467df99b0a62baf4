// SPDX-License-Identifier: Apache-2.0
//! Cases whose calls may fail and whose effects are counted (docs/experiments.md, `check = "effects"`), and the
//! faults that the lab makes for them.

use crate::PlanError;
use crate::file::{self, Case, File};
use lab_model::{Check, FAULT, Injection, Metric, Target};
use std::collections::BTreeSet;
use std::ops::Range;

/// Where in the file, and what is wrong there.
type At<'a> = &'a dyn Fn(Range<usize>, String) -> PlanError;

/// The parameter value without faults.
const NONE: &str = "none";

/// The faults that are made on a target. Error: a rate or a part that is none.
pub fn injections(target: &file::Target, at: At) -> Result<Vec<(String, Injection)>, PlanError> {
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
        };
        Ok((name.clone(), injection))
    };
    target.injection.iter().map(understood).collect()
}

/// Error: a case of calls on a target that has no table for their effects, or a fault that no target knows.
pub fn understand(file: &File, targets: &[Target], at: At) -> Result<(), PlanError> {
    for case in file.case.iter().filter(|c| c.check == Check::Effects) {
        let span = case.name.span();
        if let Some(target) = targets
            .iter()
            .find(|t| t.effects.is_none() || !t.kind.is_service())
        {
            let why = format!(
                "`check = \"effects\"` needs a server with `effects` in [target.{}]",
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
    let values = match factor.get_ref() {
        file::Factor::Values(values) | file::Factor::OnTargets { values, .. } => values,
    };
    let known: BTreeSet<&str> = targets
        .iter()
        .flat_map(|target| &target.injections)
        .map(|(name, _)| name.as_str())
        .collect();
    let unknown = values
        .iter()
        .find(|v| *v != NONE && !known.contains(v.as_str()));
    unknown.map_or(Ok(()), |value| {
        let why = format!("no target has an `injection.{value}`");
        Err(at(factor.span(), why).known(value, known.iter().copied()))
    })
}

/// What is told of each batch of a case, and what the lab finds of its calls.
pub fn metrics(case: &Case, told: Vec<Metric>) -> Vec<Metric> {
    let found = (case.check == Check::Effects).then_some(Metric::EFFECTS);
    told.into_iter()
        .chain(found.into_iter().flatten())
        .collect()
}
