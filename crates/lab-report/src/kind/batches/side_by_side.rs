// SPDX-License-Identifier: Apache-2.0
//! The values of a factor side by side: for each subject, one row per value of the sweep.

use super::occurrences::Occurrences;
use crate::parts::cell::{self, NONE};
use crate::parts::measured::SubjectScope;
use crate::parts::scope::{PointGroup, Scope};
use crate::parts::{charts, table};
use lab_document::format::quantity;
use lab_document::say;
use lab_document::{Chart, Finding, ForestRow, Quantity, Section, Table};
use lab_model::{CaseId, Cores, Interval, Metric, PointId, SubjectId, Unit};
use lab_stats::results::Spread;

/// Builds a section for each of [`cases`].
pub fn sections(scope: &Scope) -> Vec<Section> {
    let cases = cases(scope);
    cases
        .iter()
        .map(|groups| case_section(scope, groups))
        .collect()
}

/// Returns the point groups of each case that runs multiple operations concurrently, sweeps a parameter and has a
/// factor with more than one value.
fn cases(scope: &Scope) -> Vec<Vec<PointGroup>> {
    let groups = scope.groups(Cores::All).into_iter();
    let cases = say::grouped(groups.map(|group| (group.case, group)));
    let cases = cases.into_iter().map(|(_, groups)| groups);
    let swept = cases.filter(|g| g.len() > 1 && scope.case(&g[0]).sweep.is_some());
    swept.collect()
}

/// Builds the chart of the cost of each factor value by subject. Returns `None` if the run has no
/// such ratios.
pub fn answer(scope: &Scope) -> Option<Chart> {
    let spreads = spreads(scope);
    let first = spreads.first()?;
    let row = |(subject, ratio): &(SubjectId, Interval)| {
        let tone = cell::tone_of(ratio, None);
        ForestRow::new(scope.name(*subject), Quantity::ratio(ratio), tone)
    };
    let groups = spreads.iter().map(|spread| {
        let rows = spread.ratios.iter().map(row).collect();
        (value_at(scope, spread.to), rows)
    });
    let at = sweep_setting(scope, first)?;
    let axis = format!("time at {at} relative to {}", value_at(scope, first.from));
    let caption = format!(
        "Each ratio compares two times of the same {}. Left of 1 is better. The lines are intervals.",
        scope.words.subject
    );
    let margin = scope.results.margin;
    charts::forest("answer", axis, margin, groups.collect(), &caption)
}

/// Returns the variation of the factor's effect between subjects. It is empty if there is more than
/// one target.
fn spreads<'a>(scope: &Scope<'a>) -> &'a [Spread] {
    if scope.has_targets() {
        &[]
    } else {
        &scope.results.spreads
    }
}

/// Formats the swept parameter with its value, such as `threads=2`.
fn sweep_setting(scope: &Scope, spread: &Spread) -> Option<String> {
    let sweep = scope.plan.case(spread.to).sweep.as_deref()?;
    Some(format!("{sweep}={}", scope.swept(spread.to)))
}

/// Formats the values of a point's factors.
fn value_at(scope: &Scope, point: PointId) -> String {
    let point = &scope.plan.points[point];
    factor_values(point.factors(&scope.plan.cases[point.case]))
}

/// Describes the costs of the factor's values.
pub fn findings(scope: &Scope) -> Vec<Finding> {
    costs(scope).map(Finding::plain).into_iter().collect()
}

/// Describes the losses in a metric that should be 0, over all compared cases that have the metric.
pub fn loss(scope: &Scope, metric: &Metric) -> Option<String> {
    let cases = cases(scope).into_iter();
    let cases = cases.filter(|groups| {
        let case = scope.case(&groups[0]);
        !case.uncompared && case.metrics.contains(metric)
    });
    let occurrences = Occurrences::new(scope);
    let losses = cases.filter_map(|groups| greatest_loss(scope, &groups, metric, &occurrences));
    say::joined(losses, " ")
}

/// Describes the cost of each factor value.
///
/// An example is `At threads=2 atomic takes 2.5 (go) to 11 (rust) times unsafe's time, and lock 1.8
/// (java) to 35 (ada) times.` The subjects with the lowest and the highest ratio are named if these
/// ratios are distinguishable.
pub fn costs(scope: &Scope) -> Option<String> {
    let spreads = spreads(scope);
    let first = spreads.first()?;
    let level = scope.results.level;
    let mut has_level = true;
    let costs = spreads.iter().filter_map(|spread| {
        let (min, max) = spread.ratios.first().zip(spread.ratios.last())?;
        has_level &= say::has_level(&min.1, level) && say::has_level(&max.1, level);
        let name = |(subject, _): &(SubjectId, Interval)| {
            if spread.apart {
                format!(" ({})", scope.name(*subject))
            } else {
                String::new()
            }
        };
        let [low, high] = [min, max].map(|end| {
            let ratio = say::interval_text(&end.1, &Unit::Ratio, level).value;
            ratio + &name(end)
        });
        let range = if min.0 == max.0 || low == high {
            low
        } else {
            format!("{low} to {high}")
        };
        Some((value_at(scope, spread.to), range))
    });
    let costs: Vec<(String, String)> = costs.collect();
    let so_far = if has_level { "At" } else { "So far, at" };
    let (at, base) = (sweep_setting(scope, first)?, value_at(scope, first.from));
    let ((value, range), others) = costs.split_first()?;
    let others = others
        .iter()
        .map(|(value, range)| format!(", {value} {range} times"));
    Some(format!(
        "{so_far} {at} {value} takes {range} times {base}'s time{}.",
        others.collect::<String>()
    ))
}

/// Describes the losses in a metric that should be 0: the largest value, then the losses that
/// happened in fewer than half of the blocks, then the values of the factor without any loss.
///
/// An example is `Lost increments: up to 46 % (44 to 48) with unsafe (c at threads=8); up to 5 % in
/// 3 of 10 blocks with lock (c at threads=8); none with atomic.`
fn greatest_loss(
    scope: &Scope,
    groups: &[PointGroup],
    metric: &Metric,
    occurrences: &Occurrences,
) -> Option<String> {
    let sweep = scope.case(&groups[0]).sweep.as_deref()?;
    let cases = scope.plan.cases.enumerated();
    let is_measured = |id: CaseId| {
        scope
            .points()
            .iter()
            .any(|&p| scope.plan.points[p].case == id)
    };
    let cases = cases.filter(|(id, case)| case.metrics.contains(metric) && is_measured(*id));
    let case = match cases.count() {
        1 => String::new(),
        _ => format!("{} ", scope.case(&groups[0]).name),
    };
    let at = |group: &PointGroup, (subject, point): SubjectScope| {
        let swept = point.map_or(String::new(), |p| scope.swept(p));
        let (values, name) = (values(group), scope.name(subject));
        format!("with {values} ({name} at {case}{sweep}={swept})")
    };
    let mut greatest: Option<(&PointGroup, SubjectScope, &Interval)> = None;
    let (mut rare, mut none) = (Vec::new(), Vec::new());
    for group in groups {
        let subject_scopes = scope.subject_scopes(&scope.compared(), &group.points);
        let known = subject_scopes.iter().filter_map(|&subject_scope| {
            Some((subject_scope, scope.interval(subject_scope, metric)?))
        });
        let max = known.max_by(|a, b| a.1.estimate.total_cmp(&b.1.estimate));
        let Some((subject_scope, max)) = max else {
            continue;
        };
        if max.estimate > 0.0 {
            if greatest.is_none_or(|(.., most)| max.estimate >= most.estimate) {
                greatest = Some((group, subject_scope, max));
            }
            continue;
        }
        let happened = subject_scopes.iter().filter_map(|&subject_scope| {
            Some((subject_scope, occurrences.find(subject_scope, metric)?))
        });
        match happened.max_by(|a, b| a.1.max.total_cmp(&b.1.max)) {
            Some((subject_scope, occurrence)) => {
                let text = occurrence.text(metric);
                rare.push(format!("{text} {}", at(group, subject_scope)));
            }
            None => none.push(values(group)),
        }
    }
    let greatest = greatest.map(|(group, subject_scope, max)| {
        let max = say::figure(max, &metric.unit, scope.level());
        format!("up to {max} {}", at(group, subject_scope))
    });
    let lost: Vec<String> = greatest.into_iter().chain(rare).collect();
    if lost.is_empty() {
        return None;
    }
    let none = (!none.is_empty()).then(|| format!("none with {}", say::list(&none)));
    let losses = say::joined(lost.into_iter().chain(none), "; ")?;
    Some(format!("{}: {losses}.", say::capital(&metric.title)))
}

fn case_section(scope: &Scope, groups: &[PointGroup]) -> Section {
    let case = scope.case(&groups[0]);
    let factors = groups[0].factors.iter().map(|(key, _)| key.as_str());
    let factors = say::list(&factors.collect::<Vec<_>>());
    let mut section = Section::new(format!("{}: each {factors} side by side", case.name));
    section.text(case.work.as_str());
    for subject in scope.compared() {
        for metric in case.metrics.iter().chain([&Metric::WALL]) {
            section.table(metric_table(scope, subject, groups, metric));
        }
    }
    section
}

fn metric_table(
    scope: &Scope,
    subject: SubjectId,
    groups: &[PointGroup],
    metric: &Metric,
) -> Table {
    let columns = groups.iter().map(|group| (group, values(group)));
    let columns: Vec<(&PointGroup, String)> = columns.collect();
    let sides = (&*rows(scope, groups), &*columns);
    let sweep = scope.case(&groups[0]).sweep.as_deref();
    let title = format!("{}: {}", scope.title_of(subject), metric.title);
    let mut table = table::matrix(
        title,
        sweep.unwrap_or("n"),
        sides,
        &metric.unit,
        |x, group| {
            let Some(point) = point_at(scope, group, x) else {
                return NONE.into();
            };
            let subject_scope = (subject, Some(point));
            let cell = cell::value(scope, subject_scope, metric);
            match ratio(scope, subject, point, metric) {
                Some(ratio) => cell.with_note(say::figure(ratio, &Unit::Ratio, scope.level())),
                None if cell.is_number() => {
                    cell.with_note(operations_of_batch(scope, subject, point, metric))
                }
                None => cell,
            }
        },
    );
    table.caption = format!("A row for each value of {}.", sweep.unwrap_or("n"));
    if !table.rows.iter().flatten().any(|cell| cell.is_number()) {
        table.rows.clear();
    }
    if table
        .rows
        .iter()
        .flatten()
        .any(|cell| !cell.note.is_empty())
    {
        table.caption += &match metric.unit {
            Unit::Share => " Below each value: the number of operations in a batch.".into(),
            _ => format!(
                " Below each value: its ratio to the value for {}.",
                values(&groups[0])
            ),
        };
    }
    table.without_empty_columns()
}

/// Formats the number of operations in a batch, such as `of 5,000,000`, for a metric that is a
/// fraction of the operations.
fn operations_of_batch(
    scope: &Scope,
    subject: SubjectId,
    point: PointId,
    metric: &Metric,
) -> String {
    let mut pilots = scope.run.pilots.iter();
    let pilot = pilots.find(|p| (p.subject, p.point) == (subject, point));
    match (&metric.unit, pilot) {
        (Unit::Share, Some(pilot)) => format!("of {}", quantity::integer(pilot.operations)),
        _ => String::new(),
    }
}

/// Returns the values of the sweep in ascending order.
fn rows(scope: &Scope, groups: &[PointGroup]) -> Vec<(f64, String)> {
    let points = groups.iter().flat_map(|group| &group.points);
    let rows = points.filter_map(|&p| Some((scope.plan.points[p].x?, scope.swept(p))));
    let mut rows: Vec<(f64, String)> = rows.collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    rows.dedup_by(|a, b| a.0 == b.0);
    rows
}

fn point_at(scope: &Scope, group: &PointGroup, x: f64) -> Option<PointId> {
    let mut points = group.points.iter();
    points
        .find(|p| scope.plan.points[**p].x == Some(x))
        .copied()
}

/// Formats a group's factor values, such as `atomic`, or `lock 99` for two factors.
fn values(group: &PointGroup) -> String {
    factor_values(group.factors.iter())
}

/// Joins the values of factors.
fn factor_values<'f>(factors: impl Iterator<Item = &'f (String, String)>) -> String {
    let values = factors.map(|(_, value)| value.as_str());
    values.collect::<Vec<_>>().join(" ")
}

/// Returns the ratio of a metric at a point to the same metric at the factor's first value.
fn ratio<'a>(
    scope: &Scope<'a>,
    subject: SubjectId,
    point: PointId,
    metric: &Metric,
) -> Option<&'a Interval> {
    let mut effects = scope.results.effects.iter();
    let effect = effects.find(|e| {
        let is_here = matches!(e.pairs.as_slice(), &[(_, to)] if to == point);
        is_here && e.subject == subject && e.metric == *metric
    });
    effect.map(|effect| &effect.ratio)
}
