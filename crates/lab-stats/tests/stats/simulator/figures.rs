// SPDX-License-Identifier: Apache-2.0
//! Looks up values in results.

use lab_model::*;
use lab_stats::analysis::Verdict;
use lab_stats::results::{Comparison, Results};

/// Returns an estimate.
///
/// Panics if there is none.
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

/// Returns an estimate, if there is one.
pub fn interval_if_any(
    results: &Results,
    subject: SubjectId,
    point: impl Into<Option<PointId>>,
    metric: &Metric,
) -> Option<Interval> {
    let value = results.value(subject, point, metric)?;
    value.interval().copied()
}

/// Returns a value without an interval, such as a count.
pub fn reading(
    results: &Results,
    subject: SubjectId,
    point: impl Into<Option<PointId>>,
    metric: &Metric,
) -> Option<f64> {
    let value = results.value(subject, point, metric)?;
    value.interval().is_none().then(|| value.value())
}

/// Returns the comparisons that are made at a point and have a verdict, each with its verdict.
pub fn judged(results: &Results) -> Vec<(&Comparison, Verdict)> {
    let comparisons = results.comparisons.iter().filter(|c| c.key.point.is_some());
    comparisons.filter_map(|c| Some((c, c.verdict?))).collect()
}

/// Returns the subjects and points that have values.
pub fn measured_cells(results: &Results) -> Vec<(SubjectId, PointId)> {
    let keys = results.cells.iter().map(|cell| &cell.key);
    let mut measured_cells: Vec<_> = keys.filter_map(|k| Some((k.subject, k.point?))).collect();
    measured_cells.dedup();
    measured_cells
}

/// Returns the warnings of one kind, as they appear in JSON reports.
pub fn warnings(results: &Results, kind: &str) -> Vec<serde_json::Value> {
    let of_kind = results.warnings.iter().filter(|w| w.kind().name() == kind);
    let data = of_kind.map(|w| serde_json::to_value(&w.fact).expect("data"));
    data.collect()
}

/// Returns the only warning of a kind.
///
/// Panics if there is not exactly one.
#[track_caller]
pub fn warning(results: &Results, kind: &str) -> serde_json::Value {
    let mut all = warnings(results, kind);
    assert_eq!(all.len(), 1, "{kind}: {all:?}");
    all.remove(0)
}
