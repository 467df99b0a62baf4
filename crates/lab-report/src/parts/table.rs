// SPDX-License-Identifier: Apache-2.0
//! Tables for all kinds of work: metrics side by side, and one metric as a matrix.

use super::cell;
use super::measured::SubjectScope;
use super::scope::Scope;
use lab_document::say::{self, list};
use lab_document::{Cell, Column, Table};
use lab_model::{CaseId, Metric, PointId, SubjectId, Unit};
use lab_stats::analysis::Verdict;

/// Builds a table with a row per subject and point, and a column per metric.
///
/// Omits metrics that no row has. Each compared metric is followed by a column with its ratio to
/// the baseline.
pub fn figures(
    scope: &Scope,
    title: &str,
    subject_scopes: &[SubjectScope],
    metrics: &[Metric],
) -> Table {
    let any = |is: &dyn Fn(SubjectScope) -> bool| {
        subject_scopes
            .iter()
            .any(|&subject_scope| is(subject_scope))
    };
    let measured = metrics
        .iter()
        .filter(|m| any(&|subject_scope| scope.cell(subject_scope, m).is_some()));
    let shown = measured.map(|m| {
        (
            m,
            any(&|subject_scope| scope.comparison(subject_scope, m).is_some()),
        )
    });
    let shown: Vec<(&Metric, bool)> = shown.collect();
    let row_names = RowNames::new(scope, subject_scopes);
    let mut columns = row_names.columns();
    for (metric, compared) in &shown {
        columns.push(Column::with_unit(
            metric.title.to_string(),
            metric.unit.clone(),
        ));
        let ratio = || Column::with_unit(format!("ratio of {}", metric.cost().title), Unit::Ratio);
        columns.extend(compared.then(ratio));
    }
    let mut table = Table::new(title, columns);
    if shown.is_empty() {
        return table;
    }
    for &subject_scope in subject_scopes {
        let mut cells = Vec::new();
        for (metric, compared) in &shown {
            cells.push(cell::value(scope, subject_scope, metric));
            cells.extend(compared.then(|| cell::ratio(scope, subject_scope, metric)));
        }
        // The reason for missing values is given once.
        if !scope.knows(subject_scope) {
            cells[1..].fill_with(|| cell::NONE.into());
        }
        table.row(
            row_names
                .cells(subject_scope)
                .into_iter()
                .chain(cells)
                .collect(),
        );
    }
    if shown.iter().any(|(_, compared)| *compared) {
        table.caption = format!("Ratios are to {}'s: {}.", scope.base_name(), better(scope));
        let points: Vec<PointId> = subject_scopes
            .iter()
            .filter_map(|subject_scope| subject_scope.1)
            .collect();
        table.notes.extend(low_level(scope, &points));
    }
    table
}

/// The format of row names: the subject, the point, or both.
struct RowNames<'s> {
    scope: &'s Scope<'s>,
    points: bool,
    subjects: bool,
}

impl<'s> RowNames<'s> {
    fn new(scope: &'s Scope<'s>, subject_scopes: &[SubjectScope]) -> RowNames<'s> {
        let differ = |same: fn(&SubjectScope, &SubjectScope) -> bool| {
            subject_scopes.windows(2).any(|p| !same(&p[0], &p[1]))
        };
        let points = differ(|a, b| a.1 == b.1);
        RowNames {
            scope,
            points,
            subjects: !points || differ(|a, b| a.0 == b.0),
        }
    }

    fn columns(&self) -> Vec<Column> {
        let point = self.points.then(|| Column::from("point"));
        let subject = self.subjects.then(|| self.scope.words.subject.into());
        point.into_iter().chain(subject).collect()
    }

    fn cells(&self, (subject, point): SubjectScope) -> Vec<Cell> {
        let point = point.filter(|_| self.points);
        let point = point.map(|p| Cell::from(self.scope.short(p)));
        let subject = self.subjects.then(|| self.scope.title_of(subject).into());
        point.into_iter().chain(subject).collect()
    }
}

/// The rows or columns of a matrix with their names.
type Side<K> = [(K, String)];

/// Builds a table with the given rows and columns, in which all cells have the same unit.
pub fn matrix<R: Copy, C: Copy>(
    title: impl Into<String>,
    head: &str,
    (rows, columns): (&Side<R>, &Side<C>),
    unit: &Unit,
    cell: impl Fn(R, C) -> Cell,
) -> Table {
    let titled = columns
        .iter()
        .map(|(_, name)| Column::with_unit(name, unit.clone()));
    let mut table = Table::new(title, std::iter::once(head.into()).chain(titled));
    for (row, name) in rows {
        let cells = columns.iter().map(|(column, _)| cell(*row, *column));
        table.named_row(name.as_str(), cells);
    }
    table
}

/// Returns points with their names for a matrix.
pub fn points(scope: &Scope, points: &[PointId]) -> Vec<(PointId, String)> {
    points.iter().map(|&p| (p, scope.short(p))).collect()
}

/// Returns subjects with their names for a matrix.
pub fn subjects(scope: &Scope, subjects: &[SubjectId]) -> Vec<(SubjectId, String)> {
    subjects.iter().map(|&s| (s, scope.title_of(s))).collect()
}

/// Builds the table of ratios to the baseline with their verdicts, by point and subject.
pub fn ratios(scope: &Scope, at: &[PointId], metric: &Metric) -> Table {
    let others = scope.others();
    let title = format!(
        "{} relative to {}",
        say::capital(&metric.cost().title),
        scope.base_name()
    );
    let sides = (&*points(scope, at), &*subjects(scope, &others));
    let mut table = matrix(title, "point", sides, &Unit::Ratio, |p, s| {
        cell::ratio(scope, (s, Some(p)), metric)
    });
    table.caption = format!("{}.", say::capital(&better(scope)));
    if others.is_empty() {
        table.rows.clear();
    }
    table.notes.extend(omitted_parameters(scope, at));
    table.notes.extend(low_level(scope, at));
    table.notes.extend(unable(scope));
    table
}

/// Builds the table of values by point and subject.
pub fn values(scope: &Scope, at: &[PointId], metric: &Metric, title: &str) -> Table {
    let sides = (&*points(scope, at), &*subjects(scope, &scope.compared()));
    let mut table = matrix(title, "point", sides, &metric.unit, |p, s| {
        cell::value(scope, (s, Some(p)), metric)
    });
    table.notes.extend(omitted_parameters(scope, at));
    table
}

/// Builds the table of each subject over multiple points.
///
/// Its columns are the mean ratio over the points of each case, the mean ratio over all points, and
/// the number of verdicts of each kind at single points. The table has no rows if nothing is
/// compared. `keep_alive` selects the kind of connections for servers, and is `None` for other
/// kinds of work.
pub fn overall(scope: &Scope, metric: &Metric, keep_alive: Option<bool>) -> Table {
    let all = scope
        .results
        .overall
        .iter()
        .filter(|o| (&o.metric, o.target, o.keep_alive) == (metric, scope.target, keep_alive));
    let all: Vec<_> = all.collect();
    let mut cases: Vec<Option<CaseId>> = all.iter().map(|o| o.case).collect();
    cases.sort_by_key(|case| (case.is_none(), *case));
    cases.dedup();
    let name = |case: Option<CaseId>| case.map_or("all", |c| scope.plan.cases[c].name.as_str());
    let mut columns = vec![Column::from(scope.words.subject)];
    columns.extend(
        cases
            .iter()
            .map(|&c| Column::with_unit(name(c), Unit::Ratio)),
    );
    columns.push("verdicts at single points".into());
    let title = format!(
        "{} relative to {}, over multiple points",
        say::capital(&metric.cost().title),
        scope.base_name()
    );
    let mut table = Table::new(title, columns);
    for subject in scope.subjects() {
        let mine =
            |case: &Option<CaseId>| all.iter().find(|o| (o.subject, o.case) == (subject, *case));
        if cases.iter().all(|case| mine(case).is_none()) {
            continue;
        }
        let cells = cases.iter().map(|case| match mine(case) {
            Some(o) => cell::judged(&o.ratio, metric, o.verdict.as_ref()),
            None => cell::NONE.into(),
        });
        let verdicts = cell::counted(&verdicts(scope, subject, metric));
        table.named_row(scope.title_of(subject), cells.chain([verdicts]));
    }
    table.caption = format!(
        "Geometric means of the ratios at single points: {}.",
        better(scope)
    );
    table
}

/// Returns the verdicts on a subject's ratios at single points.
pub fn verdicts(scope: &Scope, subject: SubjectId, metric: &Metric) -> Vec<Verdict> {
    let points = scope.points().into_iter();
    let all = points.filter_map(|p| scope.comparison((subject, Some(p)), metric));
    all.filter_map(|c| c.verdict).collect()
}

fn better(scope: &Scope) -> String {
    let margin = say::percent(scope.results.margin);
    format!("below 1 is better, and within 1 ± {margin} counts as equivalent")
}

/// Returns a note on the parameters that short names of points omit.
fn omitted_parameters(scope: &Scope, points: &[PointId]) -> Option<String> {
    let words = scope.omitted_parameters(points);
    let is_needed = !words.is_empty() && !scope.plan.has_one_case();
    is_needed.then(|| format!("Unless stated otherwise: {}.", words.join(", ")))
}

/// Returns a note on the confidence level of the ratios at some points, if there are too few blocks.
fn low_level(scope: &Scope, points: &[PointId]) -> Option<String> {
    let comparisons = scope.results.comparisons.iter();
    let comparisons = comparisons.filter(|c| c.key.point.is_some_and(|p| points.contains(&p)));
    level_note(scope.results.level, comparisons.map(|c| c.ratio.level))
}

/// Returns a note if a confidence level is below the requested level because there are too few
/// blocks.
pub fn level_note(asked: f64, levels: impl Iterator<Item = f64>) -> Option<String> {
    // Without an interval, the level is 0.
    let (min, max) = say::extremes(levels.filter(|level| *level > 0.0))?;
    let held = if max - min < 5e-4 {
        say::percent(min)
    } else {
        format!("{} to {}", say::percent(min), say::percent(max))
    };
    let asked_level = say::percent(asked);
    (min < asked - 1e-9).then(|| {
        format!(
            "There are too few blocks for {asked_level}: the confidence level of the ratios is {held}."
        )
    })
}

/// Returns a sentence for each subject that does not support all parameters.
fn unable(scope: &Scope) -> Vec<String> {
    let note = |subject: SubjectId| {
        let params = scope.unable(subject);
        let name = scope.name(subject);
        (!params.is_empty()).then(|| {
            format!(
                "{} {name} does not support {}.",
                cell::UNABLE,
                list(&params)
            )
        })
    };
    scope.compared().into_iter().filter_map(note).collect()
}
