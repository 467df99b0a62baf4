// SPDX-License-Identifier: Apache-2.0
//! Servers against the baseline: a row for each metric and point, a dot for each server.

use crate::content::load::metric_name;
use crate::load::LoadView;
use crate::plot::Plot;
use crate::plot::colour::of_subject;
use crate::plot::forest::{self, Forest, ForestRow, Mark};
use crate::{Error, number};
use lab_model::{PointId, SubjectId};
use lab_stats::load::analysis::Metric;

/// Above so many points only these have rows.
const MANY: usize = 4;
const MAIN: [Metric; 2] = [Metric::Throughput, Metric::P99];

/// The plot, if something was compared.
pub fn plot(view: &LoadView) -> Result<Option<Plot>, Error> {
    let baseline = view.view.baseline();
    let subjects: Vec<SubjectId> = view.view.shown();
    let others = subjects
        .into_iter()
        .filter(|&s| s != view.view.plan.baseline);
    let others: Vec<SubjectId> = others.collect();
    let points = view.view.plan.points.len();
    let metrics: &[Metric] = if points > MANY {
        &MAIN
    } else {
        &Metric::IN_TURNS
    };
    let rows = (0..points).flat_map(|p| metrics.iter().map(move |m| (p, *m)));
    let rows = rows.map(|(point, metric)| row(view, point, metric, &others));
    let lane = |&s: &SubjectId| (view.view.name(s).to_string(), of_subject(&view.view, s));
    forest::plot(Forest {
        name: "ratios".into(),
        title: format!("Compared with {baseline}"),
        description: format!(
            "Ratios to {baseline}, logarithmic; lines are intervals, simultaneous within a point; the band is the \
             margin of {}, within which two count as equivalent. Left is better.",
            number::level(view.analysis.margin),
        ),
        axis: format!("time or cost / that of {baseline}"),
        margin: view.analysis.margin,
        lanes: others.iter().map(lane).collect(),
        rows: rows.filter(|row| !row.marks.is_empty()).collect(),
    })
}

fn row(view: &LoadView, point: PointId, metric: Metric, subjects: &[SubjectId]) -> ForestRow {
    let mark = |(lane, &subject): (usize, &SubjectId)| {
        let comparison = view.comparison(subject, point, metric)?;
        (comparison.ratio.estimate > 0.0).then_some(Mark {
            lane,
            interval: comparison.ratio,
        })
    };
    ForestRow {
        label: format!("{}{}", metric_name(metric), view.at(point)),
        marks: subjects.iter().enumerate().filter_map(mark).collect(),
    }
}
