// SPDX-License-Identifier: Apache-2.0
//! Calls that may fail.
//!
//! The report shows the subjects that make each call exactly once, the errors of the other
//! subjects, the fastest correct subjects, the longest outage that each subject survives, and the
//! load after an outage.

use crate::parts::measured::{SubjectScope, over_run};
use crate::parts::scope::Scope;
use crate::parts::{charts, table};
use crate::wording;
use lab_document::say::{self, list};
use lab_document::{Chart, Finding, Section};
use lab_model::{Check, FAULT, Interval, Metric, NO_FAULT, PointId, SubjectId, Unit};
use lab_stats::results::{Over, Value};
use std::cmp::Ordering;

/// The text that replaces the name of the winner if the winner is inconclusive.
const UNDECIDED: &str = "inconclusive";

/// The maximum load after an outage for which a server is usually sized, as a multiple of the load
/// before the outage.
const DOUBLE: f64 = 2.0;

/// Metrics that are reported once for the whole run.
static TOTALS: [Metric; 6] = [
    Metric::CALLS,
    Metric::WRONG_CALLS,
    Metric::LOST_CALLS,
    Metric::DOUBLED_CALLS,
    Metric::UNREPORTED_CALLS,
    Metric::FAILED_CALLS,
];

/// Metrics that are reported at each point.
static AT_POINTS: [Metric; 4] = [
    Metric::LOST_CALLS,
    Metric::DOUBLED_CALLS,
    Metric::UNREPORTED_CALLS,
    Metric::FAILED_CALLS,
];

/// Returns true if a run has calls that may fail.
pub fn is_present(scope: &Scope) -> bool {
    let mut cases = scope.plan.cases.iter();
    cases.any(|case| case.check == Check::Effects)
}

/// Builds the chart of each subject's calls with a wrong result.
pub fn chart(scopes: &[Scope]) -> Option<Chart> {
    charts::bars_over_run(scopes, &Metric::WRONG_CALLS)
}

/// Summarizes correctness first, then speed.
///
/// The findings are the subjects that make each call exactly once, the errors of the other
/// subjects, the longest survived outages, the load after an outage, and the best policy for each
/// fault.
pub fn findings(scopes: &[Scope]) -> Vec<Finding> {
    let faults = by_fault(scopes);
    let all = [
        right_subjects(scopes),
        errors(scopes),
        survived(scopes),
        load(scopes),
        fastest(&faults),
        careful(&faults),
    ];
    all.into_iter().flatten().map(Finding::plain).collect()
}

/// Builds two tables: the run's totals, and the calls with a wrong result at each point.
pub fn section(scope: &Scope) -> Section {
    let mut section = Section::new("Outcome of the calls");
    let over_run = over_run(callers(scope));
    let totals = table::figures(scope, "", &over_run, &TOTALS);
    section.table(totals.with_caption(
        "All measured blocks. benchlab reads each call's effect in the database. A call is wrong if it was \
         acknowledged but lost, applied twice, or applied but reported as failed.",
    ));
    let points = call_points(scope);
    for metric in &AT_POINTS {
        if over_run
            .iter()
            .any(|&subject_scope| count(scope, subject_scope, metric) > 0.0)
        {
            let title = say::capital(&metric.title);
            section.table(table::values(scope, &points, metric, &title));
        }
    }
    section
}

/// Returns the value of a metric that is a count, or 0 if the metric has no value.
fn count(scope: &Scope, subject_scope: SubjectScope, metric: &Metric) -> f64 {
    match scope.cell(subject_scope, metric).map(|cell| &cell.value) {
        Some(Value::Reading(value)) => *value,
        Some(Value::Estimate(interval)) => interval.estimate,
        None => 0.0,
    }
}

/// Iterates over the subjects that made calls.
fn callers(scope: &Scope) -> impl Iterator<Item = SubjectId> {
    let has_calls = |&s: &SubjectId| count(scope, (s, None), &Metric::CALLS) > 0.0;
    scope.compared().into_iter().filter(has_calls)
}

/// Returns the points of the cases that check the effects of calls.
fn call_points(scope: &Scope) -> Vec<PointId> {
    let has_calls = |&p: &PointId| scope.plan.case(p).check == Check::Effects;
    scope.points().into_iter().filter(has_calls).collect()
}

/// Lists the subjects without wrong calls: `PostgreSQL and MariaDB: ada and java made no wrong calls in at least
/// 80,120 calls each.`
fn right_subjects(scopes: &[Scope]) -> Option<String> {
    let right = |scope: &Scope| -> Vec<SubjectId> {
        let is_right = |&s: &SubjectId| count(scope, (s, None), &Metric::WRONG_CALLS) == 0.0;
        callers(scope).filter(is_right).collect()
    };
    let with_calls = scopes
        .iter()
        .filter(|scope| callers(scope).next().is_some());
    let targets = say::grouped(with_calls.map(|scope| {
        let names: Vec<&str> = right(scope).iter().map(|&s| scope.name(s)).collect();
        (names, scope)
    }));
    let sentences = targets.iter().map(|(names, scopes)| {
        let titles: Vec<&str> = scopes.iter().map(|scope| scope.title()).collect();
        let at = if titles.concat().is_empty() {
            String::new()
        } else {
            format!("{}: ", list(&titles))
        };
        if names.is_empty() {
            return format!("{at}every subject has wrong calls.");
        }
        let calls = scopes.iter().flat_map(|scope| {
            let calls = |s| count(scope, (s, None), &Metric::CALLS);
            right(scope).into_iter().map(calls)
        });
        let min = calls.fold(f64::INFINITY, f64::min);
        let bounds = scopes.iter().flat_map(|scope| {
            let bound = |s| scope.interval((s, None), &Metric::WRONG_CALLS).copied();
            right(scope).into_iter().map(bound)
        });
        let bounds: Option<Vec<Interval>> = bounds.collect();
        let bound = bounds.and_then(|all| {
            let bound = all.iter().map(|interval| interval.high).reduce(f64::max)?;
            let level = all.iter().map(|interval| interval.level).reduce(f64::min)?;
            Some(wording::wrong_at_most(bound, level))
        });
        let bound = bound.unwrap_or_default();
        let each = if names.len() == 1 { "" } else { " each" };
        let min = say::reading(min, &Metric::CALLS.unit);
        format!(
            "{at}{} made no wrong calls in at least {min} calls{each}{bound}.",
            list(names)
        )
    });
    say::paragraph(sentences).map(|text| say::capital(&text))
}

/// Lists the subjects with errors: `Calls applied twice: classic (2), smallrye (31). Calls given up: ada (6).`
fn errors(scopes: &[Scope]) -> Option<String> {
    let erring = |metric: &Metric| {
        let of_each = scopes.iter().flat_map(|scope| {
            let calls = |s| (scope.name(s), count(scope, (s, None), metric));
            callers(scope).map(calls).collect::<Vec<_>>()
        });
        let sums = say::grouped(of_each);
        let sums = sums
            .into_iter()
            .map(|(name, calls)| (name, calls.iter().sum::<f64>()));
        let names = sums.filter(|(_, calls)| *calls > 0.0);
        let names =
            names.map(|(name, calls)| format!("{name} ({})", say::reading(calls, &metric.unit)));
        let names = say::joined(names, ", ")?;
        Some(format!("{}: {names}.", say::capital(&metric.title)))
    };
    say::paragraph(AT_POINTS.iter().filter_map(erring))
}

/// Returns the fault injected at a point, or the name of the point's case.
fn fault(scope: &Scope, point: PointId) -> String {
    match scope.plan.points[point].param(FAULT) {
        Some(fault) if fault != NO_FAULT => fault.into(),
        _ => scope.plan.case(point).name.clone(),
    }
}

/// A fault and the points that inject it.
type Fault<'s> = (String, Vec<(&'s Scope<'s>, PointId)>);

/// Groups points by fault. Includes only points at which more than one subject makes calls.
fn by_fault<'s>(scopes: &'s [Scope<'s>]) -> Vec<Fault<'s>> {
    let compared_scopes = scopes.iter().filter(|scope| scope.compared().len() > 1);
    let at = compared_scopes.flat_map(|scope| {
        let points = call_points(scope).into_iter();
        points.map(move |point| (fault(scope, point), (scope, point)))
    });
    say::grouped(at)
}

/// Lists the fastest subject without errors for each fault: `Fastest of …: classic with order; java with cut;
/// inconclusive with percent.`
fn fastest(faults: &[Fault]) -> Option<String> {
    let best = faults.iter().map(|(fault, scoped_points)| {
        let right = subjects_without(&AT_POINTS, scoped_points);
        let is_right = |name: &str| right.contains(&name);
        let firsts = scoped_points
            .iter()
            .map(|&(scope, point)| fastest_at(scope, point, &is_right));
        let firsts: Vec<Vec<&str>> = firsts.collect();
        let best = if right.is_empty() {
            "no subject".into()
        } else if firsts.iter().all(|first| first.len() == 1) {
            list(&say::distinct(firsts.concat()))
        } else {
            UNDECIDED.into()
        };
        (best, fault)
    });
    let best: Vec<(String, Vec<&String>)> = say::grouped(best);
    let is_known = best
        .iter()
        .any(|(best, _)| ![UNDECIDED, "no subject"].contains(&best.as_str()));
    let parts = best
        .iter()
        .map(|(best, faults)| format!("{best} with {}", list(faults)));
    let text = say::joined(parts, "; ").filter(|_| is_known)?;
    Some(format!(
        "Fastest among the subjects that have no wrong calls and never give up: {text}."
    ))
}

/// For each fault under which every subject has errors, lists the subjects whose only errors are
/// calls that they gave up: `Where every subject has wrong calls or gives up calls, these have no
/// wrong calls: java and ada with killed.`
fn careful(faults: &[Fault]) -> Option<String> {
    let lossy = faults
        .iter()
        .filter(|(_, scoped_points)| subjects_without(&AT_POINTS, scoped_points).is_empty());
    let careful = lossy
        .map(|(fault, scoped_points)| (subjects_without(&AT_POINTS[..3], scoped_points), fault));
    let some_careful = careful.filter(|(names, _)| !names.is_empty());
    let parts = say::grouped(some_careful)
        .into_iter()
        .map(|(names, faults)| format!("{} with {}", list(&names), list(&faults)));
    let text = say::joined(parts, "; ")?;
    Some(format!(
        "Where every subject has wrong calls or gives up calls, these have no wrong calls: {text}."
    ))
}

/// Lists the longest survived outages: `Longest outage after which no call is wrong or given up: 20 s with classic;
/// below 0.1 s with none and tenacity.`
fn survived(scopes: &[Scope]) -> Option<String> {
    let outages: Vec<(&str, Outage)> = scopes.iter().flat_map(outages).collect();
    let lengths = outages.iter().map(|(_, outage)| outage.length_s);
    let shortest = lengths.fold(f64::INFINITY, f64::min);
    let survived = say::grouped(outages).into_iter();
    let survived = survived.map(|(name, outages)| (max_survived_outage(&outages), name));
    let mut survived = say::grouped(survived);
    survived.sort_by(|(one, _), (other, _)| other.partial_cmp(one).unwrap_or(Ordering::Equal));
    let parts = survived
        .into_iter()
        .map(|(length_s, names)| match length_s {
            Some(length_s) => format!("{} with {}", seconds(length_s), list(&names)),
            None => format!("below {} with {}", seconds(shortest), list(&names)),
        });
    let text = say::joined(parts, "; ")?;
    Some(format!(
        "Longest outage after which no call is wrong or given up: {text}."
    ))
}

/// The result of a subject's calls during outages of one length.
struct Outage {
    length_s: f64,
    is_survived: bool,
}

/// Returns the outages that the target's subjects encountered. Planned outages may be missing,
/// because a batch may finish before its server is killed.
fn outages<'s>(scope: &'s Scope<'s>) -> Vec<(&'s str, Outage)> {
    let at = call_points(scope).into_iter();
    let at = at.filter_map(|point| Some((point, scope.plan.outage_s(point)?)));
    let of_each = at.flat_map(|(point, length_s)| {
        let met =
            callers(scope).filter(move |&s| count(scope, (s, Some(point)), &Metric::BACK) > 0.0);
        met.map(move |s| {
            let is_without = |kind| count(scope, (s, Some(point)), kind) == 0.0;
            let is_survived = AT_POINTS.iter().all(is_without);
            (
                scope.name(s),
                Outage {
                    length_s,
                    is_survived,
                },
            )
        })
    });
    of_each.collect()
}

/// Returns the longest survived outage, in seconds. Counts only outages that are shorter than every
/// outage that was not survived. Returns `None` if there is no such outage.
fn max_survived_outage(outages: &[Outage]) -> Option<f64> {
    let failed = outages.iter().filter(|outage| !outage.is_survived);
    let limit = failed
        .map(|outage| outage.length_s)
        .fold(f64::INFINITY, f64::min);
    let lengths = outages.iter().map(|outage| outage.length_s);
    lengths
        .filter(|length_s| *length_s < limit)
        .reduce(f64::max)
}

fn seconds(length_s: f64) -> String {
    say::reading(length_s * 1e9, &Unit::Nanoseconds)
}

/// Compares the load after an outage with the load before: `Load in the busiest second after an
/// outage: less than twice the normal load with ada and java; more than twice the normal load with
/// classic.`
fn load(scopes: &[Scope]) -> Option<String> {
    let at = scopes.iter().flat_map(|scope| {
        let loads = call_points(scope).into_iter().flat_map(move |point| {
            let load = move |s| scope.interval((s, Some(point)), &Metric::LOAD_AFTER);
            callers(scope).filter_map(move |s| Some((scope.name(s), (load(s)?, scope.level()))))
        });
        loads.collect::<Vec<_>>()
    });
    let verdicts = say::grouped(at).into_iter().map(|(name, loads)| {
        let all = |is: fn(&Interval) -> bool| {
            let mut loads = loads.iter();
            loads.all(|(load, level)| say::has_level(load, *level) && is(load))
        };
        let verdict = match (
            all(|load| load.high < DOUBLE),
            all(|load| load.low > DOUBLE),
        ) {
            (true, _) => "less than twice the normal load with",
            (_, true) => "more than twice the normal load with",
            _ => "inconclusive with",
        };
        (verdict, name)
    });
    let parts = say::grouped(verdicts)
        .into_iter()
        .map(|(verdict, names)| format!("{verdict} {}", list(&names)));
    let text = say::joined(parts, "; ")?;
    Some(format!(
        "Load in the busiest second after an outage: {text}."
    ))
}

/// Returns the subjects that made calls at all of the points and had none of the errors that the
/// metrics `kinds` count.
fn subjects_without<'s>(
    kinds: &[Metric],
    scoped_points: &[(&'s Scope<'s>, PointId)],
) -> Vec<&'s str> {
    let is_without = |name: &&str| {
        scoped_points.iter().all(|&(scope, point)| {
            let count_of = |s, metric: &Metric| count(scope, (s, Some(point)), metric);
            let errs = |s| kinds.iter().any(|kind| count_of(s, kind) != 0.0);
            let mut named = callers(scope).filter(|&s| scope.name(s) == *name);
            named.any(|s| count_of(s, &Metric::CALLS) > 0.0 && !errs(s))
        })
    };
    let names = scoped_points
        .iter()
        .flat_map(|&(scope, _)| callers(scope).map(|s| scope.name(s)).collect::<Vec<_>>());
    say::distinct(names)
        .into_iter()
        .filter(is_without)
        .collect()
}

/// Returns the fastest correct subject at a point, and the subjects that are tied with it.
fn fastest_at<'s>(
    scope: &'s Scope,
    point: PointId,
    is_right: &dyn Fn(&str) -> bool,
) -> Vec<&'s str> {
    let ranking = scope.ranking(Over::At(Some(point)), scope.plan.main_metric());
    let compared = scope.compared();
    let counts = |s| compared.contains(&s) && is_right(scope.name(s));
    let first = ranking.map_or_else(Vec::new, |ranking| ranking.first(counts));
    first.into_iter().map(|s| scope.name(s)).collect()
}
