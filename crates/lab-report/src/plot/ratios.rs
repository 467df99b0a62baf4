// SPDX-License-Identifier: Apache-2.0
//! Ratios to the baseline: a row per point, a dot per subject.

use super::colour::of_subject;
use super::forest::{self, Forest, ForestRow, Mark};
use super::{Plot, name_of};
use crate::content::short_label;
use crate::view::View;
use crate::{Error, number};
use lab_model::{PointId, SubjectId};
use lab_stats::analysis::Comparison;

/// The plot, if something was compared.
pub fn plot(view: &View) -> Result<Option<Plot>, Error> {
    let subjects = compared_subjects(view);
    let points = view.groups().into_iter().flat_map(|group| group.points);
    let rows = points.map(|point| row(view, point, &subjects));
    let description = format!(
        "Ratios of typical wall time to {}, logarithmic; lines are intervals, simultaneous within a row; the band \
         is the margin of {}, within which times count as equivalent. Left is faster.",
        view.baseline(),
        number::level(view.analysis.margin),
    );
    let lane = |&subject: &SubjectId| (view.name(subject).to_string(), of_subject(view, subject));
    forest::plot(Forest {
        name: name_of(view, "ratios"),
        title: format!("Time as a multiple of {}'s", view.baseline()),
        description,
        axis: format!("time / time of {}", view.baseline()),
        margin: view.analysis.margin,
        lanes: subjects.iter().map(lane).collect(),
        rows: rows.filter(|row| !row.marks.is_empty()).collect(),
    })
}

fn row(view: &View, point: PointId, subjects: &[SubjectId]) -> ForestRow {
    let here = |c: &&Comparison| c.point == point && c.ratio.estimate > 0.0;
    let mark = |c: &Comparison| {
        Some(Mark {
            lane: subjects.iter().position(|&s| s == c.subject)?,
            interval: c.ratio,
        })
    };
    ForestRow {
        // Beside other targets it has a table with the same names.
        label: match view.named {
            Some(_) => short_label(view, point),
            None => view.plan.label(point),
        },
        marks: view
            .analysis
            .comparisons
            .iter()
            .filter(here)
            .filter_map(mark)
            .collect(),
    }
}

fn compared_subjects(view: &View) -> Vec<SubjectId> {
    let compared = |s: &SubjectId| view.analysis.comparisons.iter().any(|c| c.subject == *s);
    (0..view.plan.subjects.len()).filter(compared).collect()
}
