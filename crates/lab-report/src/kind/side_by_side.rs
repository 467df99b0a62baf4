// SPDX-License-Identifier: Apache-2.0
//! The values of a factor side by side: for each subject a row for each value of the sweep.

use super::cell::{self, NONE};
use super::say;
use super::scope::{Group, Scope};
use super::table;
use crate::document::{Section, Table};
use lab_model::{Cores, Metric, PointId, SubjectId, Unit};
use lab_stats::analysis::Interval;

/// A section for each case that has a sweep and several values of a factor.
pub fn sections(scope: &Scope, cores: Cores) -> Vec<Section> {
    let groups = scope.groups(cores).into_iter();
    let cases = say::grouped(groups.map(|group| (group.case, group)));
    let cases = cases.into_iter().map(|(_, groups)| groups);
    let several = cases.filter(|g| g.len() > 1 && scope.case(&g[0]).sweep.is_some());
    several.map(|groups| of_case(scope, &groups)).collect()
}

fn of_case(scope: &Scope, groups: &[Group]) -> Section {
    let case = scope.case(&groups[0]);
    let factors = groups[0].factors.iter().map(|(key, _)| key.as_str());
    let factors = say::list(&factors.collect::<Vec<_>>());
    let mut section = Section::new(format!("{}: each {factors} side by side", case.name));
    section.text(case.work.as_str());
    for subject in scope.compared() {
        for metric in case.metrics.iter().chain([&Metric::WALL]) {
            section.table(of_metric(scope, subject, groups, metric));
        }
    }
    section
}

fn of_metric(scope: &Scope, subject: SubjectId, groups: &[Group], metric: &Metric) -> Table {
    let columns = groups.iter().map(|group| (group, values(group)));
    let columns: Vec<(&Group, String)> = columns.collect();
    let sides = (&*rows(scope, groups), &*columns);
    let sweep = scope.case(&groups[0]).sweep.as_deref();
    let title = format!("{}: {}", scope.title_of(subject), metric.title);
    let mut table = table::matrix(
        title,
        sweep.unwrap_or("n"),
        sides,
        &metric.unit,
        |x, group| {
            let Some(point) = at(scope, group, x) else {
                return NONE.into();
            };
            let place = (subject, Some(point));
            let cell = cell::value(scope, place, metric);
            match ratio(scope, subject, point, metric) {
                Some(ratio) => cell.noted(say::figure(ratio, &Unit::Ratio, scope.level())),
                None => cell,
            }
        },
    );
    if !table.rows.iter().flatten().any(|cell| cell.is_figure()) {
        table.rows.clear();
    }
    if table
        .rows
        .iter()
        .flatten()
        .any(|cell| !cell.note.is_empty())
    {
        table.caption = format!("Below a figure: as a multiple of {}'s.", values(&groups[0]));
    }
    table.without_empty_columns()
}

/// The values of the sweep, ascending.
fn rows(scope: &Scope, groups: &[Group]) -> Vec<(f64, String)> {
    let points = groups.iter().flat_map(|group| &group.points);
    let rows = points.filter_map(|&p| Some((scope.plan.points[p].x?, scope.swept(p))));
    let mut rows: Vec<(f64, String)> = rows.collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    rows.dedup_by(|a, b| a.0 == b.0);
    rows
}

fn at(scope: &Scope, group: &Group, x: f64) -> Option<PointId> {
    let mut points = group.points.iter();
    points
        .find(|p| scope.plan.points[**p].x == Some(x))
        .copied()
}

/// `atomic`, or `lock 99` of two factors.
fn values(group: &Group) -> String {
    let values = group.factors.iter().map(|(_, value)| value.as_str());
    values.collect::<Vec<_>>().join(" ")
}

/// A figure against that with the factor's first value.
fn ratio<'a>(
    scope: &Scope<'a>,
    subject: SubjectId,
    point: PointId,
    metric: &Metric,
) -> Option<&'a Interval> {
    let mut effects = scope.results.effects.iter();
    let found = effects.find(|e| {
        let is_here = matches!(e.pairs.as_slice(), &[(_, to)] if to == point);
        is_here && e.subject == subject && e.metric == *metric
    });
    found.map(|effect| &effect.ratio)
}
