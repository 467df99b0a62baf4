// SPDX-License-Identifier: Apache-2.0
//! The latencies of operations that are due at a fixed rate: a heat map for each subject over the time of its turns.

use crate::parts::scope::Scope;
use lab_document::{Axis, Chart, Drawing, HeatColumn, HeatMap, HeatMaps, Scale, Section};
use lab_model::{PointId, SubjectId, Timeline, Unit};
use std::collections::BTreeMap;

/// The maximum number of columns of a heat map.
const COLUMNS: usize = 48;

/// Builds a chart for each point whose subjects report the progress of their operations.
pub fn section(scope: &Scope) -> Section {
    let mut section = Section::new("Over time");
    for point in scope.single_points() {
        section.chart(chart(scope, point));
    }
    section
}

fn chart(scope: &Scope, point: PointId) -> Option<Chart> {
    let map = |subject| HeatMap {
        name: scope.name(subject).into(),
        color: scope.color(subject),
        unit: Unit::Count("steps".into()),
        columns: columns(&steps(scope, subject, point)),
    };
    let mut maps: Vec<HeatMap> = scope.compared().into_iter().map(map).collect();
    maps.retain(|map| map.columns.len() > 1);
    let label = scope.point(point);
    (!maps.is_empty()).then(|| Chart {
        id: lab_document::chart::file_name(&format!("{}timeline-{label}", scope.prefix())),
        title: format!("{label}: the longest operation of each tenth of a second"),
        caption: "The turns of each subject, one after the other. A high mark is an operation that was slow at that \
                  time. Latencies are measured from the time when the operation was due."
            .into(),
        drawing: Drawing::Heat(HeatMaps {
            axis: Axis::new("longest operation", Unit::Nanoseconds, Scale::Log),
            columns: "time measured".into(),
            maps,
        }),
    })
}

/// Returns the longest latency in each time step of a subject's turns at a point, in nanoseconds.
/// The steps are in chronological order.
fn steps(scope: &Scope, subject: SubjectId, point: PointId) -> Vec<u64> {
    let timelines = scope.run.complete_blocks().flat_map(|b| &b.timelines);
    let timelines = timelines.filter(|t| (t.subject, t.point) == (subject, point));
    timelines
        .flat_map(|t| t.longest_ns.iter().copied())
        .collect()
}

/// Groups steps into columns. Steps in which no operation was due are ignored.
fn columns(steps: &[u64]) -> Vec<HeatColumn> {
    let each = steps.len().div_ceil(COLUMNS).max(1);
    let column = |(number, steps): (usize, &[u64])| {
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for ns in steps.iter().filter(|ns| **ns > 0) {
            *counts.entry(*ns).or_default() += 1;
        }
        let begin_ns = (number * each) as u64 * Timeline::STEP_NS;
        HeatColumn {
            label: format!("{} s", begin_ns as f64 / 1e9),
            counts: counts.into_iter().map(|(ns, n)| (ns as f64, n)).collect(),
        }
    };
    steps.chunks(each).enumerate().map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_marks_of_its_steps() {
        let mut steps = vec![3_000_000; 96];
        steps[2] = 0;
        steps[5] = 900_000_000;
        let columns = columns(&steps);
        assert_eq!(columns.len(), 48);
        assert_eq!(columns[1].label, "0.2 s");
        assert_eq!(columns[0].counts, [(3e6, 2)]);
        assert_eq!(columns[1].counts, [(3e6, 1)]);
        assert_eq!(columns[2].counts, [(3e6, 1), (9e8, 1)]);
    }
}
