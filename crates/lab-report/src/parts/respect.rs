// SPDX-License-Identifier: Apache-2.0
//! The metric and the points by which a history compares the subjects of a run.

use super::scope::Scope;
use lab_model::{CaseId, Metric, PointId};
use lab_stats::results::Over;

/// A metric and the points over which subjects are compared.
pub struct ComparedMetric {
    /// The metric: a time, a cost or throughput.
    pub metric: Metric,
    /// The compared points, in the form in which results store them.
    pub over: Over,
    /// The case to which the comparison is limited. `None` means all cases.
    pub case: Option<CaseId>,
    /// The points that are compared.
    pub points: Vec<PointId>,
    /// All points at which failed requests are counted, including points that are not compared.
    pub all_points: Vec<PointId>,
    /// True if failed requests are counted.
    pub counts_failed: bool,
}

impl ComparedMetric {
    /// Selects one metric at all points.
    pub fn everywhere(scope: &Scope, metric: Metric) -> ComparedMetric {
        let points = scope.points();
        ComparedMetric {
            metric,
            over: Over::all(&points),
            case: None,
            points: points.clone(),
            all_points: points,
            counts_failed: false,
        }
    }
}
