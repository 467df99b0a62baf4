// SPDX-License-Identifier: Apache-2.0
//! Cases that count the effects of calls that may fail, and the faults that make the calls fail.
//!
//! See docs/experiments.md, `check = "effects"`.

use crate::PlanError;
use crate::error::ErrorAt;
use crate::file::{self, Argument, Case, File};
use crate::fixtures::TARGETS;
use lab_model::{Check, FAULT, IdVec, Metric, NO_FAULT, Target, TargetId, TargetKind};
use std::collections::BTreeSet;

/// Removes a fault from a case on targets where neither statements nor a fixture can cause it.
pub fn remove_absent_faults(
    cases: &mut [crate::case::Case],
    file: &File,
    targets: &IdVec<TargetId, Target>,
) {
    let factors = cases.iter_mut().flat_map(|case| &mut case.factors);
    for factor in factors.filter(|factor| factor.name == FAULT) {
        for (target_id, target) in targets.enumerated() {
            let has = |value: &String| {
                *value == NO_FAULT
                    || target.faults.iter().any(|(name, _)| name == value)
                    || is_caused_by_fixture(file, value, target.kind)
            };
            let absent = factor.values.iter().filter(|value| !has(value)).cloned();
            factor.absent.extend(absent.map(|value| (target_id, value)));
        }
    }
}

fn is_caused_by_fixture(file: &File, fault: &str, kind: TargetKind) -> bool {
    let states = fixtures(file).flat_map(|fixture| &fixture.states);
    let mut states = states.filter(|(name, _)| name.get_ref() == fault);
    states.any(|(_, args)| {
        let targets = args.iter().find_map(|(key, value)| match value {
            Argument::Targets(targets) if key.get_ref() == TARGETS => Some(targets),
            _ => None,
        });
        targets.is_none_or(|targets| targets.contains(&kind))
    })
}

/// Returns the fixtures whose states the parameter `fault` selects.
fn fixtures(file: &File) -> impl Iterator<Item = &file::Fixture> {
    let selects = |state: &toml::Spanned<String>| state.get_ref() == FAULT;
    let fixtures = file.fixture.iter();
    fixtures.filter(move |fixture| fixture.state.as_ref().is_some_and(selects))
}

/// Validates cases with calls, and the faults of these cases.
///
/// # Errors
/// Returns an error if a target has no table for effects, or if neither a target's statements nor a
/// fixture can cause a fault.
pub fn validate(file: &File, targets: &[Target], at: ErrorAt) -> Result<(), PlanError> {
    for case in file.case.iter().filter(|c| c.check == Check::Effects) {
        let span = case.name.span();
        if let Some(target) = targets.iter().find(|t| t.effects.is_none()) {
            let reason = format!(
                "`check = \"effects\"` needs `effects` in [target.{}]",
                target.kind.name()
            );
            return Err(at(span, reason));
        }
        if targets.is_empty() {
            return Err(at(span, "`check = \"effects\"` needs a target".into()));
        }
    }
    for case in &file.case {
        check_faults(case, file, targets, at)?;
    }
    Ok(())
}

fn check_faults(
    case: &Case,
    file: &File,
    targets: &[Target],
    at: ErrorAt,
) -> Result<(), PlanError> {
    let Some(factor) = case.factor.get(FAULT) else {
        return Ok(());
    };
    let statements = targets.iter().flat_map(|target| &target.faults);
    let statements = statements.map(|(name, _)| name.as_str());
    let states = fixtures(file).flat_map(|fixture| fixture.states.keys());
    let states = states.map(|name| name.get_ref().as_str());
    let names: BTreeSet<&str> = statements.chain(states).collect();
    let unknown = faults(case).find(|v| *v != NO_FAULT && !names.contains(v));
    unknown.map_or(Ok(()), |value| {
        let reason = format!("neither a target nor a fixture has the fault `{value}`");
        Err(at(factor.span(), reason).with_nearest(value, names.iter().copied()))
    })
}

/// Returns the metrics that benchlab counts for a case with calls. Empty for any other case.
pub fn metrics_of(case: &Case) -> Vec<Metric> {
    match case.check {
        Check::Effects => Metric::EFFECTS.to_vec(),
        _ => Vec::new(),
    }
}

/// Returns the values of a case's factor `fault`.
fn faults(case: &Case) -> impl Iterator<Item = &str> {
    let factor = case.factor.get(FAULT).map(toml::Spanned::get_ref);
    let values = factor.map_or(&[][..], |factor| match factor {
        file::Factor::Values(values) | file::Factor::OnTargets { values, .. } => values,
    });
    values.iter().map(String::as_str)
}
