// SPDX-License-Identifier: Apache-2.0
//! The first screen of an experiment on threads that share data: for each subject, the cost of each
//! sharing method, the waiting times, and the losses.

use super::occurrences::Occurrences;
use crate::parts::cell::{self, NONE};
use crate::parts::scope::{PointGroup, Scope};
use crate::wording;
use lab_document::format::quantity;
use lab_document::{Cell, Column, Finding, Table, say};
use lab_model::{CaseId, Cores, Direction, Metric, PointId, SubjectId, distinct};

/// The maximum number of columns of the table. If a run has more columns, the table shows the
/// columns of its first case with losses.
const MAX_COLUMNS: usize = 5;

/// The metric of the cost of an operation.
static COST: [Metric; 1] = [Metric::WALL];

/// The metrics of waiting times.
static WAITS: [Metric; 2] = [Metric::P99, Metric::MAX];

/// A point of the run as a cell of the table.
struct Entry {
    /// The values of the factors that name the row. Empty for a point without factors.
    row: String,
    /// The case, the value of the sweep, and the values of the other factors.
    column: String,
    case: CaseId,
    point: PointId,
}

/// A column of the table.
struct TableColumn<'s> {
    name: String,
    case: CaseId,
    /// The metrics of a cell.
    metrics: Vec<&'s Metric>,
}

/// Returns true if a case of the run has a metric of losses or fairness.
pub fn is_present(scope: &Scope) -> bool {
    let mut groups = groups(scope).into_iter();
    !scope.has_targets() && groups.any(|g| !losses(scope, g.case).is_empty())
}

/// Returns the groups of compared points with concurrent operations. Also returns the groups of
/// sequential cases without a sweep and without factors.
fn groups(scope: &Scope) -> Vec<PointGroup> {
    let single = scope.groups(Cores::One).into_iter();
    let single = single.filter(|g| scope.case(g).sweep.is_none() && g.factors.is_empty());
    let all = single.chain(scope.groups(Cores::All));
    all.filter(|g| !scope.case(g).uncompared).collect()
}

/// Returns the metrics of a case that measure losses or fairness.
fn losses<'s>(scope: &Scope<'s>, case: CaseId) -> Vec<&'s Metric> {
    let metrics = scope.plan.cases[case].metrics.iter();
    metrics.filter(|m| m.better != Direction::Neither).collect()
}

/// Builds the table with a row for each subject and each sharing method.
pub fn table(scope: &Scope) -> Option<Table> {
    let (entries, occurrences) = (entries(scope), Occurrences::new(scope));
    let table_columns = table_columns(scope, &entries, &occurrences);
    let rows = rows(&entries);
    let same = table_columns
        .windows(2)
        .all(|two| two[0].metrics == two[1].metrics);
    let titles = |column: &TableColumn| {
        let titles = column.metrics.iter().map(|m| m.title.to_string());
        titles.collect::<Vec<_>>().join(" / ")
    };
    let headings = table_columns.iter().map(|column| match same {
        true => Column::from(column.name.as_str()),
        false => Column::from(format!("{}: {}", column.name, titles(column))),
    });
    let has_rows = rows.iter().any(|row| !row.is_empty());
    let names = [scope.words.subject, ""].into_iter();
    let names = names.take(1 + usize::from(has_rows)).map(Column::from);
    let title = match same {
        true => say::capital(&titles(table_columns.first()?)),
        false => wording::costs_and_losses().into(),
    };
    let mut table = Table::new(title, names.chain(headings));
    for subject in scope.compared() {
        for (i, row) in rows.iter().enumerate() {
            // A point without factors is shown once for each subject.
            let is_here = |e: &&Entry| e.row == *row || (i == 0 && e.row.is_empty());
            let cells = table_columns.iter().map(|column| {
                let in_column = |e: &&Entry| (e.case, &e.column) == (column.case, &column.name);
                let entry = entries.iter().filter(in_column).find(is_here)?;
                figures(scope, (subject, entry.point), &column.metrics, &occurrences)
            });
            let cells: Vec<Option<Cell>> = cells.collect();
            if cells.iter().all(Option::is_none) {
                continue;
            }
            let names = [scope.name(subject), row].into_iter();
            let names = names.take(1 + usize::from(has_rows)).map(Cell::from);
            let cells = cells.into_iter().map(|cell| cell.unwrap_or(NONE.into()));
            table.row(names.chain(cells).collect());
        }
    }
    let caption = wording::how_to_read_losses(scope.level(), lowest_level(scope, &entries));
    (!table.rows.is_empty()).then(|| table.with_caption(&caption))
}

/// Describes the losses, then the waiting times, then the ranges of other metrics, such as fairness.
pub fn findings(scope: &Scope, loss: impl Fn(&Metric) -> Option<String>) -> Vec<Finding> {
    let entries = entries(scope);
    let metrics = |better: Direction| {
        let cases = distinct(entries.iter().map(|e| e.case));
        let all = cases.into_iter().flat_map(|case| losses(scope, case));
        distinct(all.filter(|m| m.better == better).cloned())
    };
    let less = metrics(Direction::Less);
    let lost: Vec<String> = less.iter().filter_map(loss).collect();
    let occurrences = Occurrences::new(scope);
    let none: Vec<&str> = less
        .iter()
        .filter(|metric| never_happened(scope, &scope.points(), metric, &occurrences))
        .map(|metric| &*metric.title)
        .collect();
    let none = (!none.is_empty()).then(|| wording::nothing_lost(&none));
    let concurrent = |e: &&Entry| scope.plan.cases[e.case].cores == Cores::All;
    let waiting = entries
        .iter()
        .filter(concurrent)
        .filter(|e| scope.plan.cases[e.case].latencies);
    let waiting: Vec<&Entry> = waiting.collect();
    let waits = WAITS
        .iter()
        .filter_map(|metric| range(scope, &waiting, metric));
    let all: Vec<&Entry> = entries.iter().collect();
    let counts = metrics(Direction::More);
    let counts = counts
        .iter()
        .filter_map(|metric| range(scope, &all, metric));
    let waits = say::joined(waits.chain(counts), "; ").map(|text| say::capital(&text) + ".");
    let all = lost.into_iter().chain(waits).chain(none);
    all.map(Finding::plain).collect()
}

/// Describes the smallest and the largest value of a metric: `p99 110 µs (100 to 120; rust) to 4.2 ms (4.0 to 4.6;
/// python)`.
fn range(scope: &Scope, entries: &[&Entry], metric: &Metric) -> Option<String> {
    let subject_scopes = entries.iter().flat_map(|e| {
        let subjects = scope.compared().into_iter();
        subjects.map(move |s| (s, Some(e.point)))
    });
    let known = subject_scopes
        .filter_map(|subject_scope| Some((subject_scope, scope.quantity(subject_scope, metric)?)));
    let mut known: Vec<_> = known.collect();
    known.sort_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let [min, .., max] = known.as_slice() else {
        return None;
    };
    let [min, max] = [min, max].map(|(subject_scope, quantity)| {
        let figure = match scope.interval(*subject_scope, metric) {
            Some(interval) => say::figure(interval, &metric.unit, scope.level()),
            None => quantity::sentence(quantity),
        };
        format!("{figure} with {}", scope.name(subject_scope.0))
    });
    Some(wording::range_of(metric, &min, &max))
}

/// Returns true if a loss was measured at some of the points and every reading of it is 0.
fn never_happened(
    scope: &Scope,
    points: &[PointId],
    metric: &Metric,
    occurrences: &Occurrences,
) -> bool {
    let mut measured = scope.subject_scopes(&scope.compared(), points);
    measured.retain(|subject_scope| scope.quantity(*subject_scope, metric).is_some());
    let happened = |subject_scope| occurrences.find(subject_scope, metric).is_some();
    !measured.is_empty() && !measured.into_iter().any(happened)
}

/// Returns the points of the table.
///
/// A factor is part of row names if it varies and all cases with factors have it. Other varying
/// factors are part of column names.
fn entries(scope: &Scope) -> Vec<Entry> {
    let groups = groups(scope);
    let factored: Vec<&PointGroup> = groups.iter().filter(|g| !g.factors.is_empty()).collect();
    let has = |group: &PointGroup, key: &str| group.factors.iter().any(|(k, _)| k == key);
    let keys = distinct(
        factored
            .iter()
            .flat_map(|g| g.factors.iter().map(|(k, _)| k.clone())),
    );
    let values_of = |key: &str| {
        let values = factored.iter().flat_map(|g| &g.factors);
        let values = values.filter(|(k, _)| k == key).map(|(_, v)| v.clone());
        distinct(values).len()
    };
    let varying = keys.into_iter().filter(|key| values_of(key) > 1);
    let (in_rows, in_columns): (Vec<String>, Vec<String>) =
        varying.partition(|key| factored.iter().all(|g| has(g, key)));
    let cases = distinct(groups.iter().map(|g| g.case));
    let entry = |group: &PointGroup, point: PointId| {
        let values = |keys: &[String]| {
            let factors = group.factors.iter();
            let factors = factors.filter(|(key, _)| keys.contains(key));
            factors.map(|(_, value)| value.clone()).collect::<Vec<_>>()
        };
        let case = scope.case(group);
        let name = (cases.len() > 1).then(|| case.name.clone());
        let swept = case
            .sweep
            .as_ref()
            .map(|key| format!("{key}={}", scope.swept(point)));
        let words = name.into_iter().chain(swept).chain(values(&in_columns));
        Entry {
            row: values(&in_rows).join(" "),
            column: words.collect::<Vec<_>>().join(" "),
            case: group.case,
            point,
        }
    };
    let all = groups
        .iter()
        .flat_map(|group| group.points.iter().map(move |&point| entry(group, point)));
    let all: Vec<Entry> = all.collect();
    if distinct(all.iter().map(|e| e.column.clone())).len() <= MAX_COLUMNS {
        return all;
    }
    let first = all.iter().find(|e| !losses(scope, e.case).is_empty());
    let first = first.map(|e| e.case);
    all.into_iter().filter(|e| Some(e.case) == first).collect()
}

fn rows(entries: &[Entry]) -> Vec<String> {
    let mut rows = distinct(entries.iter().map(|e| e.row.clone()));
    if rows.iter().any(|row| !row.is_empty()) {
        rows.retain(|row| !row.is_empty());
    }
    rows
}

/// Returns the columns in the order of the plan. A count that is always 0 in all rows is omitted,
/// except for the first count.
fn table_columns<'s>(
    scope: &Scope<'s>,
    entries: &[Entry],
    occurrences: &Occurrences,
) -> Vec<TableColumn<'s>> {
    let points: Vec<PointId> = entries.iter().map(|e| e.point).collect();
    let columns = distinct(entries.iter().map(|e| (e.case, e.column.clone())));
    let column = |(case, name): (CaseId, String)| {
        let planned = &scope.plan.cases[case];
        let waits = planned.latencies && planned.cores == Cores::All;
        let waits = WAITS.iter().filter(|_| waits);
        let losses = losses(scope, case).into_iter().enumerate();
        let losses = losses
            .filter(|(i, metric)| *i == 0 || !never_happened(scope, &points, metric, occurrences));
        let metrics = COST.iter().chain(waits);
        TableColumn {
            name,
            case,
            metrics: metrics.chain(losses.map(|(_, metric)| metric)).collect(),
        }
    };
    columns.into_iter().map(column).collect()
}

/// Returns a cell such as `17.1 ns / 41 % (35–48)`, or `None` if the subject does not run the
/// point.
///
/// A loss that happened in only some blocks is shown with their number, even if its median is 0.
fn figures(
    scope: &Scope,
    (subject, point): (SubjectId, PointId),
    metrics: &[&Metric],
    occurrences: &Occurrences,
) -> Option<Cell> {
    let subject_scope = (subject, Some(point));
    if !scope.plan.takes_part(subject, point) {
        return None;
    }
    if metrics
        .iter()
        .all(|metric| scope.quantity(subject_scope, metric).is_none())
    {
        return Some(cell::missing(scope, subject_scope));
    }
    let figure = |metric: &&Metric| {
        let Some(quantity) = scope.quantity(subject_scope, metric) else {
            return NONE.to_owned();
        };
        let value = quantity::short(&quantity);
        let is_loss = !WAITS.contains(metric) && **metric != Metric::WALL;
        match scope.interval(subject_scope, metric) {
            Some(interval) if is_loss && quantity.value != 0.0 && say::is_bounded(interval) => {
                let range = say::interval_text(interval, &metric.unit, interval.level).range;
                format!("{value} {}", range.replace(" to ", "–"))
            }
            _ if is_loss && quantity.value == 0.0 => {
                match occurrences.find(subject_scope, metric) {
                    Some(occurrence) => format!("{value} ({})", occurrence.text(metric)),
                    None => value,
                }
            }
            _ => value,
        }
    };
    let figures: Vec<String> = metrics.iter().map(figure).collect();
    Some(Cell::from(figures.join(" / ")))
}

/// Returns the lowest confidence level of the intervals in the table.
fn lowest_level(scope: &Scope, entries: &[Entry]) -> f64 {
    let subject_scopes = entries.iter().flat_map(|e| {
        let subjects = scope.compared().into_iter();
        let metrics = losses(scope, e.case).into_iter();
        subjects.flat_map(move |s| metrics.clone().map(move |m| ((s, Some(e.point)), m)))
    });
    let intervals =
        subject_scopes.filter_map(|(subject_scope, metric)| scope.interval(subject_scope, metric));
    let levels = intervals.filter(|i| say::is_bounded(i)).map(|i| i.level);
    levels.fold(scope.level(), f64::min)
}
