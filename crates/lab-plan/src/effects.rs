// SPDX-License-Identifier: Apache-2.0
//! Cases whose calls may fail and whose effects benchlab counts, and the faults that it injects.
//!
//! See docs/experiments.md, `check = "effects"`.

use crate::PlanError;
use crate::error::ErrorAt;
use crate::file::{self, Case, File};
use lab_model::{Check, FAULT, IdVec, Injection, Metric, Target, TargetId, TargetKind};
use std::collections::BTreeSet;

/// The value of the parameter `fault` that injects no fault.
const NO_FAULT: &str = "none";

/// The maximum length of an outage, in seconds.
const MAX_OUTAGE_S: f64 = 60.0;

/// Validates the faults of a target.
///
/// # Errors
/// Returns an error if a rate, fraction or time is out of range, or if this kind of target does not support a
/// fault.
pub fn injections(
    kind: TargetKind,
    target: &file::Target,
    at: ErrorAt,
) -> Result<Vec<(String, Injection)>, PlanError> {
    let understood = |(name, injection): (&String, &toml::Spanned<file::Injection>)| {
        let parsed = understood(kind, injection.get_ref());
        let parsed =
            parsed.map_err(|reason| at(injection.span(), format!("`{name}`: {reason}")))?;
        Ok((name.clone(), parsed))
    };
    target.injection.iter().map(understood).collect()
}

fn understood(kind: TargetKind, written: &file::Injection) -> Result<Injection, &'static str> {
    let is_within = |value: f64, most: f64| value > 0.0 && value <= most;
    match written {
        file::Injection::OutageS(seconds) if is_within(*seconds, MAX_OUTAGE_S) => {
            Ok(Injection::OutageS(*seconds))
        }
        file::Injection::OutageS(_) => Err("`outage_s` is above 0 and at most 60"),
        file::Injection::Busy(_) if kind.is_service() => Err("`busy` is for SQLite only"),
        file::Injection::Busy(busy) if !is_within(busy.part, 1.0) => {
            Err("`part` is above 0 and at most 1")
        }
        file::Injection::Busy(busy) if !is_within(busy.lock_s, MAX_OUTAGE_S) => {
            Err("`lock_s` is above 0 and at most 60")
        }
        file::Injection::Busy(busy) => Ok(Injection::Busy {
            part: busy.part,
            lock_s: busy.lock_s,
        }),
        _ if !kind.is_service() => {
            Err("this fault is for servers only; for a file, use `busy` or `outage_s`")
        }
        file::Injection::Statements(statements) => Ok(Injection::Statements(statements.clone())),
        file::Injection::CutsPerS(rate) if is_within(*rate, 1000.0) => {
            Ok(Injection::CutsPerS(*rate))
        }
        file::Injection::CutsPerS(_) => Err("`cuts_per_s` is above 0 and at most 1,000"),
        file::Injection::LostResponses(part) if is_within(*part, 1.0) => {
            Ok(Injection::LostResponses(*part))
        }
        file::Injection::LostResponses(_) => {
            Err("`lost_responses` is a fraction: above 0 and at most 1")
        }
    }
}

/// Removes a fault from a case's factor on targets that do not support it.
pub fn leave_out(cases: &mut [crate::case::Case], targets: &IdVec<TargetId, Target>) {
    let factors = cases.iter_mut().flat_map(|case| &mut case.factors);
    for factor in factors.filter(|factor| factor.name == FAULT) {
        for (place, target) in targets.enumerated() {
            let has = |value: &String| {
                *value == NO_FAULT || target.injections.iter().any(|(name, _)| name == value)
            };
            let absent = factor.values.iter().filter(|value| !has(value)).cloned();
            factor.absent.extend(absent.map(|value| (place, value)));
        }
    }
}

/// Validates cases with calls and their faults.
///
/// # Errors
/// Returns an error if a target has no table for effects, or if no target supports a fault.
pub fn understand(file: &File, targets: &[Target], at: ErrorAt) -> Result<(), PlanError> {
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
        check_faults(case, targets, at)?;
    }
    Ok(())
}

fn check_faults(case: &Case, targets: &[Target], at: ErrorAt) -> Result<(), PlanError> {
    let Some(factor) = case.factor.get(FAULT) else {
        return Ok(());
    };
    let names: BTreeSet<&str> = targets
        .iter()
        .flat_map(|target| &target.injections)
        .map(|(name, _)| name.as_str())
        .collect();
    let unknown = faults(case).find(|v| *v != NO_FAULT && !names.contains(v));
    unknown.map_or(Ok(()), |value| {
        let reason = format!("no target has an `injection.{value}`");
        Err(at(factor.span(), reason).with_nearest(value, names.iter().copied()))
    })
}

/// Returns the metrics of the calls of a case, which benchlab counts.
pub fn metrics_of(case: &Case, targets: &[Target]) -> Vec<Metric> {
    if case.check != Check::Effects {
        return Vec::new();
    }
    let mut metrics = Metric::EFFECTS.to_vec();
    if faults(case).any(|fault| is_outage(fault, targets)) {
        metrics.extend(Metric::OUTAGE);
    }
    metrics
}

fn is_outage(fault: &str, targets: &[Target]) -> bool {
    let mut injections = targets.iter().flat_map(|target| &target.injections);
    injections
        .any(|(name, injections)| name == fault && matches!(injections, Injection::OutageS(_)))
}

/// Returns the values of a case's factor `fault`.
fn faults(case: &Case) -> impl Iterator<Item = &str> {
    let factor = case.factor.get(FAULT).map(toml::Spanned::get_ref);
    let values = factor.map_or(&[][..], |factor| match factor {
        file::Factor::Values(values) | file::Factor::OnTargets { values, .. } => values,
    });
    values.iter().map(String::as_str)
}
