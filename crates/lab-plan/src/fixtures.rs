// SPDX-License-Identifier: Apache-2.0
//! Fixtures of an experiment: helper programs with states that subjects or factors select (docs/experiments.md,
//! `[[fixture]]`).

use crate::PlanError;
use crate::case::Case;
use crate::error::ErrorAt;
use crate::file::{self, Argument};
use crate::metrics::is_key;
use lab_model::{Fixture, FixtureState, Metric, Plan, Selector};
use toml::Spanned;

/// The value of the key `state` if subjects select the states.
const SUBJECT: &str = "subject";

/// The key of the targets on which a state exists.
pub const TARGETS: &str = "targets";

/// The reserved arguments of a fixture's commands and replies (docs/protocol.md).
const RESERVED: [&str; 16] = [
    "case",
    "changed",
    "claims",
    "current",
    "disk",
    "folder",
    "operations",
    "permanent",
    "rate",
    "rows",
    "seed",
    "state",
    "target",
    "targets",
    "undo",
    "visit",
];

/// Validates a fixture. The returned fixture lacks its program.
///
/// # Errors
/// Returns an error if a state belongs to an unknown subject or value, or if the name of an
/// argument is invalid.
pub fn validate(
    fixture: &file::Fixture,
    cases: &[Case],
    subjects: &[&str],
    at: ErrorAt,
) -> Result<Fixture, PlanError> {
    let factors = || cases.iter().flat_map(|case| &case.factors);
    let selector = fixture
        .state
        .as_ref()
        .map(|state| selector(state, &factors().map(|f| &*f.name).collect::<Vec<_>>(), at))
        .transpose()?;
    let known: Vec<&str> = match &selector {
        Some(Selector::Subject) => subjects.to_vec(),
        Some(Selector::Factor(name)) => {
            let factors = factors().filter(|factor| factor.name == *name);
            let values = factors.flat_map(|factor| &factor.values);
            values.map(String::as_str).collect()
        }
        None => Vec::new(),
    };
    if fixture.states.is_empty() != selector.is_none() {
        let reason = "`state` and `[fixture.states]` must be used together";
        return Err(at(fixture.name.span(), reason.into()));
    }
    let mut states = Vec::new();
    for (name, args) in &fixture.states {
        if !known.contains(&name.get_ref().as_str()) {
            let reason = match &selector {
                Some(Selector::Factor(factor)) => {
                    format!("`factor.{factor}` has no value `{}`", name.get_ref())
                }
                Some(Selector::Subject) | None => {
                    format!("there is no subject `{}`", name.get_ref())
                }
            };
            let error = at(name.span(), reason);
            return Err(error.with_nearest(name.get_ref(), known.iter().copied()));
        }
        let mut state = FixtureState {
            name: name.get_ref().clone(),
            ..FixtureState::default()
        };
        for (key, value) in args {
            match value {
                Argument::Targets(targets) if key.get_ref() == TARGETS => {
                    state.targets.clone_from(targets);
                    continue;
                }
                Argument::Targets(_) => {
                    let reason = format!("only `{TARGETS}` may be a list");
                    return Err(at(key.span(), reason));
                }
                _ => {}
            }
            check_key(key, at)?;
            if is_parameter(cases, key.get_ref()) {
                let reason = format!("`{}` is already a parameter", key.get_ref());
                return Err(at(key.span(), reason));
            }
            state.args.push((key.get_ref().clone(), value.to_string()));
        }
        states.push(state);
    }
    for name in &fixture.independent {
        let names = || states.iter().map(|state| state.name.as_str());
        if !names().any(|state| state == name.get_ref()) {
            let reason = format!("there is no state `{}`", name.get_ref());
            return Err(at(name.span(), reason).with_nearest(name.get_ref(), names()));
        }
    }
    if let Some(metric) = fixture.metrics.first().filter(|_| !fixture.visits) {
        let reason = "a fixture with `metrics` needs `visits = true`";
        return Err(at(metric.span(), reason.into()));
    }
    for key in &fixture.provides {
        check_key(key, at)?;
        let name = key.get_ref();
        if is_parameter(cases, name) {
            return Err(at(key.span(), format!("`{name}` is already a parameter")));
        }
    }
    Ok(Fixture {
        name: fixture.name.get_ref().clone(),
        program: Vec::new(),
        start: fixture.start,
        selector,
        provides: fixture
            .provides
            .iter()
            .map(|key| key.get_ref().clone())
            .collect(),
        visits: fixture.visits,
        metrics: fixture
            .metrics
            .iter()
            .map(|name| name.get_ref().clone())
            .collect(),
        independent: fixture
            .independent
            .iter()
            .map(|name| name.get_ref().clone())
            .collect(),
        states,
    })
}

/// Returns true if a case has a sweep or a factor named `name`.
fn is_parameter(cases: &[Case], name: &str) -> bool {
    cases.iter().any(|case| {
        let mut factors = case.factors.iter();
        let sweep = case.sweep.as_ref();
        sweep.is_some_and(|(sweep, _)| sweep == name) || factors.any(|f| f.name == name)
    })
}

/// Adds a fixture's metrics to the cases in which the fixture takes part.
///
/// # Errors
/// Returns an error if a case already has one of these metrics.
pub fn add_metrics(
    fixture: &file::Fixture,
    model: &Fixture,
    metrics: &[Metric],
    cases: &mut [Case],
    at: ErrorAt,
) -> Result<(), PlanError> {
    let has_factor = |case: &Case| match &model.selector {
        Some(Selector::Factor(name)) => case.factors.iter().any(|factor| factor.name == *name),
        Some(Selector::Subject) | None => true,
    };
    for case in cases.iter_mut().filter(|case| has_factor(case)) {
        for (metric, written) in metrics.iter().zip(&fixture.metrics) {
            if case.metrics.contains(metric) {
                let reason = format!(
                    "metric `{}` of case `{}` is already reported by the case's subjects or another fixture",
                    metric.id, case.name
                );
                return Err(at(written.span(), reason));
            }
            case.metrics.push(metric.clone());
            case.observed.push(metric.id.to_string());
        }
    }
    Ok(())
}

fn selector(state: &Spanned<String>, factors: &[&str], at: ErrorAt) -> Result<Selector, PlanError> {
    let name = state.get_ref();
    if name == SUBJECT {
        return Ok(Selector::Subject);
    }
    if factors.contains(&name.as_str()) {
        return Ok(Selector::Factor(name.clone()));
    }
    let reason = format!("expected `{SUBJECT}` or the name of a factor, got `{name}`");
    let names = factors.iter().copied().chain([SUBJECT]);
    Err(at(state.span(), reason).with_nearest(name, names))
}

/// Returns an error if the name cannot be an argument of a fixture's commands or replies.
fn check_key(key: &Spanned<String>, at: ErrorAt) -> Result<(), PlanError> {
    let name = key.get_ref();
    let wrong = |reason: String| Err(at(key.span(), reason));
    if !is_key(name) {
        return wrong(format!(
            "invalid name `{name}`: expected lowercase letters, digits and _, with a letter first"
        ));
    }
    if RESERVED.contains(&name.as_str()) {
        return wrong(format!("`{name}` is reserved by benchlab"));
    }
    Ok(())
}

/// Returns true if the plan needs a fixture: if the fixture has no states, or if a subject or a
/// point selects one of its states.
pub fn is_used(plan: &Plan, fixture: &Fixture) -> bool {
    let mut subjects = plan.subjects.ids();
    let mut points = plan.points.ids();
    fixture.selector.is_none()
        || subjects.any(|subject| plan.state_of_subject(fixture, subject).is_some())
        || points.any(|point| plan.state_of_point(fixture, point).is_some())
}
