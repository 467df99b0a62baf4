// SPDX-License-Identifier: Apache-2.0
//! The metric and the points in which a history compares the subjects of a run.

use super::scope::Scope;
use lab_model::{Metric, PointId};
use lab_stats::results::Over;

/// A metric and the points over which subjects are compared.
pub struct Respect {
    /// A time or a cost, or throughput.
    pub metric: Metric,
    /// The points, as results name them.
    pub over: Over,
    /// The only case; `None`: all of them.
    pub case: Option<usize>,
    /// Points that are compared.
    pub points: Vec<PointId>,
    /// Points at which a subject can have failed.
    pub all_points: Vec<PointId>,
    /// Failed requests are counted.
    pub counts_failed: bool,
}

impl Respect {
    /// All points in one metric.
    pub fn everywhere(scope: &Scope, metric: Metric) -> Respect {
        let points = scope.points();
        Respect {
            metric,
            over: Over::all(&points),
            case: None,
            points: points.clone(),
            all_points: points,
            counts_failed: false,
        }
    }
}
