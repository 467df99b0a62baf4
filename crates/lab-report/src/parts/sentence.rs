// SPDX-License-Identifier: Apache-2.0
//! Sentences about verdicts, with the names and intervals that a scope provides.

use super::scope::Scope;
use super::standings::{Standing, Standings};
use crate::wording::{self, Compared, Order, Ranked};
use lab_document::say::{self, list};
use lab_model::{Metric, PointId, SubjectId};
use lab_stats::analysis::Verdict;
use lab_stats::results::Comparison;

/// Describes a comparison: `go is faster than c at connect: 0.63 times c's time (0.61 to 0.66).`
pub fn comparison(scope: &Scope, comparison: &Comparison, at: &str) -> String {
    let subject_scope = (comparison.key.subject, comparison.key.point);
    let mean = scope.comparison(subject_scope, &Metric::MEAN_WALL);
    let mean = mean.filter(|_| comparison.key.metric == Metric::WALL);
    wording::comparison(&Compared {
        comparison,
        subject: scope.name(comparison.key.subject),
        baseline: scope.base_name(),
        mean: mean.map(|mean| &mean.ratio).filter(|r| say::is_bounded(r)),
        at,
        level: scope.results.level,
    })
}

/// Describes the subject and point with the most costly pauses, if they exceed the margin.
pub fn pauses(scope: &Scope) -> Option<String> {
    let compared = scope.compared();
    let mut all = scope.results.pausing.iter();
    let key = all.find(|key| compared.contains(&key.subject))?;
    let cost = scope.interval((key.subject, key.point), &Metric::PAUSES)?;
    let at = key
        .point
        .map(|point| location(scope, point))
        .unwrap_or_default();
    let name = scope.name(key.subject);
    Some(wording::pauses(name, &at, cost, scope.level()))
}

/// Describes the order of multiple subjects in at most two sentences. Returns `None` without intervals.
pub fn order(scope: &Scope, standings: &Standings, over: &str) -> Option<String> {
    let ranked = |standing: &Standing| ranked(scope, standing);
    wording::order(&Order {
        metric: &standings.metric,
        baseline: scope.base_name(),
        first: standings.first().into_iter().map(ranked).collect(),
        next: standings.complete().get(1).map(|next| ranked(next)),
        last: standings.last().map(ranked),
        subjects: standings.complete().len(),
        over,
        level: standings.level,
    })
}

/// Adds the subject's name to a standing.
pub fn ranked<'a>(scope: &Scope<'a>, standing: &Standing) -> Ranked<'a> {
    Ranked {
        name: scope.name(standing.subject),
        ratio: standing.ratio,
        is_baseline: standing.subject == scope.base(),
        is_equivalent: standing.subject == scope.base()
            || standing.verdict == Some(Verdict::Equivalent),
    }
}

/// Formats a location, such as ` at select limit=100`. Empty if the run has only one point.
pub fn location(scope: &Scope, point: PointId) -> String {
    match scope.points().len() {
        1 if scope.plan.has_one_case() => String::new(),
        _ => format!(" at {}", scope.short(point)),
    }
}

/// Lists the names of subjects.
pub fn names(scope: &Scope, subjects: &[SubjectId]) -> String {
    let names: Vec<&str> = subjects.iter().map(|&s| scope.name(s)).collect();
    list(&names)
}
