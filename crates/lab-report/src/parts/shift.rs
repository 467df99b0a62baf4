// SPDX-License-Identifier: Apache-2.0
//! Differences between distributions of response times: the ratio at each percentile.

use super::scope::Scope;
use lab_document::{Axis, Band, Chart, Drawing, Line, Lines, Quantity, Scale, Stroke};
use lab_model::{PointId, Unit};
use lab_stats::results::Shift;

/// Builds the chart of the shift functions of all servers at a point: the ratio to the baseline at
/// each percentile.
pub fn chart(scope: &Scope, point: PointId) -> Option<Chart> {
    let compared = scope.compared();
    let all = scope.results.shifts.iter();
    let shifts = all.filter(|shift| shift.point == point && compared.contains(&shift.subject));
    let lines: Vec<Line> = shifts.map(|shift| line(scope, shift)).collect();
    let base = scope.base_name();
    (!lines.is_empty()).then(|| Chart {
        id: "shift".into(),
        title: format!("Response time relative to {base}, by percentile"),
        caption: format!(
            "Above 1, a percentile is higher than that of {base}. The bands of a line are simultaneous for that line only, \
             and no verdict is based on them."
        ),
        drawing: Drawing::Lines(Lines {
            x: Axis::new("fraction of the requests", Unit::Share, Scale::Percentiles),
            y: Axis::new(format!("multiple of {base}'s"), Unit::Ratio, Scale::Log),
            lines,
        }),
    })
}

fn line(scope: &Scope, shift: &Shift) -> Line {
    let parts = shift.parts.iter();
    let points = parts.map(|(part, ratio)| (f64::from(*part) / 10_000.0, Quantity::ratio(ratio)));
    Line {
        name: scope.name(shift.subject).into(),
        color: scope.color(shift.subject),
        stroke: Stroke::Measured,
        points: points.collect(),
        band: Band::Shown,
    }
}
