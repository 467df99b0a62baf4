// SPDX-License-Identifier: Apache-2.0
//! Calls that may fail: who makes each exactly once, which ones are wrong, and who is fastest of those without any.

use super::measured::Place;
use super::say::{self, list};
use super::scope::Scope;
use super::{charts, findings, table};
use crate::document::{Chart, Finding, Section};
use lab_model::{Check, FAULT, Metric, PointId, SubjectId};
use lab_stats::results::{Over, Value};

/// Over the whole run.
static TOTALS: [Metric; 6] = [
    Metric::CALLS,
    Metric::WRONG_CALLS,
    Metric::LOST_CALLS,
    Metric::DOUBLED_CALLS,
    Metric::UNREPORTED_CALLS,
    Metric::FAILED_CALLS,
];

/// Point by point.
static AT_POINTS: [Metric; 4] = [
    Metric::LOST_CALLS,
    Metric::DOUBLED_CALLS,
    Metric::UNREPORTED_CALLS,
    Metric::FAILED_CALLS,
];

/// Whether it has such calls.
pub fn is_asked(scope: &Scope) -> bool {
    let mut cases = scope.plan.cases.iter();
    cases.any(|case| case.check == Check::Effects)
}

/// How many calls of each subject are wrong.
pub fn chart(scopes: &[Scope]) -> Option<Chart> {
    charts::bars_over_run(scopes, &Metric::WRONG_CALLS)
}

/// Who makes each call once, how the others err, and who is fastest of those that are right.
pub fn findings(scopes: &[Scope]) -> Vec<Finding> {
    let all = [exactly_once(scopes), errors(scopes), fastest(scopes)];
    all.into_iter().flatten().map(findings::plain).collect()
}

/// The totals of the run and what is wrong at each point.
pub fn section(scope: &Scope) -> Section {
    let mut section = Section::new("What became of the calls");
    let over_run: Vec<Place> = made(scope).map(|s| (s, None)).collect();
    let totals = table::figures(scope, "", &over_run, &TOTALS);
    section.table(totals.captioned(
        "All counted blocks. The lab reads each call's effect in the database. A call is wrong if it was answered and \
         lost, applied twice, or applied and reported as failed.",
    ));
    let points = of_calls(scope);
    for metric in &AT_POINTS {
        if over_run
            .iter()
            .any(|&place| count(scope, place, metric) > 0.0)
        {
            let title = say::capital(&metric.title);
            section.table(table::values(scope, &points, metric, &title));
        }
    }
    section
}

/// A count; 0 where there is none.
fn count(scope: &Scope, place: Place, metric: &Metric) -> f64 {
    match scope.cell(place, metric).map(|cell| &cell.value) {
        Some(Value::Reading(value)) => *value,
        Some(Value::Estimate(interval)) => interval.estimate,
        None => 0.0,
    }
}

fn made(scope: &Scope) -> impl Iterator<Item = SubjectId> {
    let made = |&s: &SubjectId| count(scope, (s, None), &Metric::CALLS) > 0.0;
    scope.compared().into_iter().filter(made)
}

fn of_calls(scope: &Scope) -> Vec<PointId> {
    let is_asked = |&p: &PointId| scope.plan.case(p).check == Check::Effects;
    scope.points().into_iter().filter(is_asked).collect()
}

/// `PostgreSQL and MariaDB: ada and java make each of their calls exactly once (80,120 to 92,311 calls).`
fn exactly_once(scopes: &[Scope]) -> Option<String> {
    let right = |scope: &Scope| -> Vec<SubjectId> {
        let right = |&s: &SubjectId| count(scope, (s, None), &Metric::WRONG_CALLS) == 0.0;
        made(scope).filter(right).collect()
    };
    let known = scopes.iter().filter(|scope| made(scope).next().is_some());
    let targets = say::grouped(known.map(|scope| {
        let names: Vec<&str> = right(scope).iter().map(|&s| scope.name(s)).collect();
        (names, scope)
    }));
    let sentences = targets.iter().map(|(names, scopes)| {
        let titles: Vec<&str> = scopes.iter().map(|scope| scope.title()).collect();
        let at = match titles.concat().is_empty() {
            true => String::new(),
            false => format!("{}: ", list(&titles)),
        };
        if names.is_empty() {
            return format!("{at}every subject has wrong calls.");
        }
        let calls = scopes.iter().flat_map(|scope| {
            let calls = |s| count(scope, (s, None), &Metric::CALLS);
            right(scope).into_iter().map(calls)
        });
        let least = calls.fold(f64::INFINITY, f64::min);
        let verb = if names.len() == 1 { "makes" } else { "make" };
        let least = say::reading(least, &Metric::CALLS.unit);
        format!(
            "{at}{} {verb} every call exactly once, of {least} or more.",
            list(names)
        )
    });
    let text = sentences.collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then(|| say::capital(&text))
}

/// `Calls applied twice: classic, smallrye.`
fn errors(scopes: &[Scope]) -> Option<String> {
    let erring = |metric: &Metric| {
        let mut names: Vec<&str> = Vec::new();
        for scope in scopes {
            let err = made(scope).filter(|&s| count(scope, (s, None), metric) > 0.0);
            let new = err
                .map(|s| scope.name(s))
                .filter(|name| !names.contains(name));
            let new: Vec<&str> = new.collect();
            names.extend(new);
        }
        (!names.is_empty()).then(|| format!("{}: {}.", say::capital(&metric.title), list(&names)))
    };
    let text: Vec<String> = AT_POINTS[..3].iter().filter_map(erring).collect();
    (!text.is_empty()).then(|| text.join(" "))
}

/// What happens at a point: the fault that the lab makes, or what the case is called.
fn fault(scope: &Scope, point: PointId) -> String {
    let params = &scope.plan.points[point].params;
    let made = params
        .iter()
        .find(|(key, value)| key == FAULT && value != "none");
    let case = || scope.plan.case(point).name.clone();
    made.map_or_else(case, |(_, value)| value.clone())
}

/// `Fastest of those that …: classic with order and percent; java with cut.`
fn fastest(scopes: &[Scope]) -> Option<String> {
    let several = scopes.iter().filter(|scope| scope.compared().len() > 1);
    let at = several.flat_map(|scope| {
        let points = of_calls(scope).into_iter();
        points.map(move |point| (fault(scope, point), (scope, point)))
    });
    let faults = say::grouped(at).into_iter().map(|(fault, places)| {
        let is_right = |name: &str| {
            places
                .iter()
                .all(|&(scope, point)| makes_all(scope, point, name))
        };
        let mut best: Vec<&str> = Vec::new();
        for &(scope, point) in &places {
            let first = first(scope, point, &is_right).into_iter();
            let new: Vec<&str> = first.filter(|name| !best.contains(name)).collect();
            best.extend(new);
        }
        (best, fault)
    });
    let parts = say::grouped(faults)
        .into_iter()
        .map(|(best, faults)| match best.is_empty() {
            true => format!("nobody with {}", list(&faults)),
            false => format!("{} with {}", list(&best), list(&faults)),
        });
    let parts: Vec<String> = parts.collect();
    let text = parts.join("; ");
    (!parts.is_empty()).then(|| {
        format!("Fastest of those that make every call, give up none and err in none: {text}.")
    })
}

/// Whether the subject of this name made all calls of a point, each once.
fn makes_all(scope: &Scope, point: PointId, name: &str) -> bool {
    let mut named = made(scope).filter(|&s| scope.name(s) == name);
    named.any(|s| {
        let is_none = |metric: &Metric| count(scope, (s, Some(point)), metric) == 0.0;
        let calls = count(scope, (s, Some(point)), &Metric::CALLS);
        calls > 0.0 && AT_POINTS.iter().all(is_none)
    })
}

fn first<'s>(scope: &'s Scope, point: PointId, is_right: &dyn Fn(&str) -> bool) -> Vec<&'s str> {
    let mut rankings = scope.results.rankings.iter();
    let here = (Over::At(Some(point)), &Metric::WALL);
    let ranking = rankings.find(|r| (r.over, &r.metric) == here);
    let compared = scope.compared();
    let counts = |s| compared.contains(&s) && is_right(scope.name(s));
    let first = ranking.map_or_else(Vec::new, |ranking| ranking.first(counts));
    first.into_iter().map(|s| scope.name(s)).collect()
}
