// SPDX-License-Identifier: Apache-2.0
//! Multiple targets: one table of all subjects on all targets, and the range of their ratios.

use crate::parts::cell;
use crate::parts::scope::Scope;
use crate::parts::standings::{Standing, standing};
use crate::wording;
use lab_document::{Cell, Column, Quantity, Table, say};
use lab_model::{Interval, Metric, SubjectId, Unit};
use lab_stats::analysis::Verdict;
use lab_stats::results::Over;

/// Builds a table with a row per subject and a column per target. Returns `None` for a single target, or if nothing is
/// compared.
pub fn table(scopes: &[Scope], metric: &Metric) -> Option<Table> {
    let first = scopes.first().filter(|scope| scope.has_targets())?;
    let has_ratios = |scope: &Scope| !ratios(scope, metric).is_empty();
    if !scopes.iter().any(has_ratios) {
        return None;
    }
    let columns = scopes
        .iter()
        .map(|scope| Column::of(scope.title(), Unit::Ratio));
    let subject = Column::from(first.words.subject);
    let mut table = Table::new(
        wording::ratios_on_targets(first.base_name(), metric),
        std::iter::once(subject).chain(columns),
    );
    let mut names: Vec<&str> = Vec::new();
    for scope in scopes {
        let all = scope.compared().into_iter().map(|s| scope.name(s));
        all.for_each(|name| {
            if !names.contains(&name) {
                names.push(name);
            }
        });
    }
    for name in names {
        let cells = scopes.iter().map(|scope| self::cell(scope, name, metric));
        table.named_row(name, cells.collect::<Vec<_>>());
    }
    let margin = say::percent(first.results.margin);
    Some(table.captioned(&wording::how_to_read_ratios(&margin)))
}

/// Describes the smallest and the largest ratio over all points. Returns `None` for a single target.
pub fn headline(scopes: &[Scope], metric: &Metric) -> Option<String> {
    let first = scopes.first().filter(|scope| scope.has_targets())?;
    let complete = scopes.iter().flat_map(|scope| {
        let mut all = ratios(scope, metric);
        let most = all.iter().map(|s| s.points).max();
        all.retain(|s| Some(s.points) == most && say::is_bounded(&s.ratio));
        all.into_iter().map(move |s| (scope, s))
    });
    let mut all: Vec<(&Scope, Standing)> = complete.collect();
    all.sort_by(|(_, a), (_, b)| a.ratio.estimate.total_cmp(&b.ratio.estimate));
    let [least, .., most] = all.as_slice() else {
        return None;
    };
    let named = |(scope, standing): &(&Scope, Standing)| wording::OnTarget {
        subject: scope.name(standing.subject).into(),
        target: scope.title(),
        ratio: standing.ratio,
    };
    Some(wording::range_over_targets(
        metric,
        first.base_name(),
        [named(least), named(most)],
        first.results.level,
    ))
}

/// Returns the ratios of a target's subjects over all its points.
fn ratios(scope: &Scope, metric: &Metric) -> Vec<Standing> {
    let over = Over::all(&scope.points());
    let others = scope.others().into_iter();
    others
        .filter_map(|subject| standing(scope, subject, metric, over))
        .collect()
}

fn cell(scope: &Scope, name: &str, metric: &Metric) -> Cell {
    let mut compared = scope.compared().into_iter();
    let Some(subject) = compared.find(|&s| scope.name(s) == name) else {
        return cell::NONE.into();
    };
    if subject == scope.base() {
        return Quantity::exact(1.0, Unit::Ratio).into();
    }
    let all = ratios(scope, metric);
    let most = all.iter().map(|s| s.points).max().unwrap_or(0);
    match all.iter().find(|s| s.subject == subject) {
        Some(standing) => judged(&standing.ratio, metric, standing, most),
        None => missing(scope, subject),
    }
}

/// Returns a cell with a ratio, without the words "faster" and "slower", which the value implies. Marks a mean over
/// fewer points than the others.
fn judged(ratio: &Interval, metric: &Metric, standing: &Standing, most: u32) -> Cell {
    let verdict = standing.verdict.as_ref();
    let cell = cell::judged(ratio, metric, verdict);
    let fewer = wording::fewer_points(standing.points, most);
    match verdict {
        _ if standing.points < most => cell.noted(fewer),
        Some(Verdict::Faster | Verdict::Slower) => cell.noted(""),
        _ => cell,
    }
}

fn missing(scope: &Scope, subject: SubjectId) -> Cell {
    let first = scope.points().first().copied();
    match (
        scope.failure((subject, first)),
        scope.refusal((subject, first)),
    ) {
        (Some(failure), _) => Cell::from(format!("failed: {}", failure.kind)),
        (None, Some(_)) => Cell::from("not compared"),
        (None, None) => cell::NONE.into(),
    }
}
