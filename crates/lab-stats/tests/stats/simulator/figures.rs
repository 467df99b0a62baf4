// SPDX-License-Identifier: Apache-2.0
//! Figures looked up in results.

use lab_model::*;
use lab_stats::analysis::Verdict;
use lab_stats::results::{Comparison, Results};

/// A figure that was estimated; there must be one.
#[track_caller]
pub fn interval(
    results: &Results,
    subject: SubjectId,
    point: impl Into<Option<PointId>>,
    metric: &Metric,
) -> Interval {
    let found = interval_if_any(results, subject, point, metric);
    found.unwrap_or_else(|| panic!("no {metric:?} of {subject}"))
}

/// The same, if there is one.
pub fn interval_if_any(
    results: &Results,
    subject: SubjectId,
    point: impl Into<Option<PointId>>,
    metric: &Metric,
) -> Option<Interval> {
    let value = results.value(subject, point, metric)?;
    value.interval().copied()
}

/// A figure without an interval: read or counted.
pub fn reading(
    results: &Results,
    subject: SubjectId,
    point: impl Into<Option<PointId>>,
    metric: &Metric,
) -> Option<f64> {
    let value = results.value(subject, point, metric)?;
    value.interval().is_none().then(|| value.value())
}

/// The comparisons at points that have a verdict, with it.
pub fn judged(results: &Results) -> Vec<(&Comparison, Verdict)> {
    let comparisons = results.comparisons.iter().filter(|c| c.key.point.is_some());
    comparisons.filter_map(|c| Some((c, c.verdict?))).collect()
}

/// The subjects and points that have figures.
pub fn places(results: &Results) -> Vec<(SubjectId, PointId)> {
    let keys = results.cells.iter().map(|cell| &cell.key);
    let mut places: Vec<_> = keys.filter_map(|k| Some((k.subject, k.point?))).collect();
    places.dedup();
    places
}

/// The texts of the warnings of a kind.
pub fn warnings<'r>(results: &'r Results, kind: &str) -> Vec<&'r str> {
    let of_kind = results.warnings.iter().filter(|w| w.kind.name() == kind);
    of_kind.map(|w| w.text.as_str()).collect()
}
