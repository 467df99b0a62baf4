// SPDX-License-Identifier: Apache-2.0
//! Multiple targets: one table of all subjects on all targets, and the range of the ratios.

use crate::parts::cell;
use crate::parts::scope::Scope;
use crate::parts::standings::{Standing, standing};
use crate::wording;
use lab_document::{Cell, Column, Quantity, Table, say};
use lab_model::{Metric, Unit};
use lab_stats::analysis::Verdict;
use lab_stats::results::Over;

/// The ratios of a target's subjects over all its points.
pub struct TargetRatios<'s> {
    scope: &'s Scope<'s>,
    all: Vec<Standing>,
    /// The largest number of points that any of the ratios covers.
    points: u32,
}

/// Returns the ratios on each target. Empty for a single target.
pub fn ratios<'s>(scopes: &'s [Scope<'s>], metric: &Metric) -> Vec<TargetRatios<'s>> {
    let with_targets = scopes.iter().filter(|scope| scope.has_targets());
    let ratios = with_targets.map(|scope| {
        let over = Over::all(&scope.points());
        let others = scope.others().into_iter();
        let all: Vec<Standing> = others
            .filter_map(|subject| standing(scope, subject, metric, over))
            .collect();
        let points = all.iter().map(|s| s.points).max().unwrap_or(0);
        TargetRatios { scope, all, points }
    });
    ratios.collect()
}

/// Builds a table with a row per subject and a column per target. Returns `None` if nothing is compared.
pub fn table(targets: &[TargetRatios], metric: &Metric) -> Option<Table> {
    let first = targets.first()?.scope;
    if targets.iter().all(|target| target.all.is_empty()) {
        return None;
    }
    let columns = targets
        .iter()
        .map(|target| Column::with_unit(target.scope.title(), Unit::Ratio));
    let subject = Column::from(first.words.subject);
    let mut table = Table::new(
        wording::ratios_on_targets(first.base_name(), metric),
        std::iter::once(subject).chain(columns),
    );
    let names = targets.iter().flat_map(|TargetRatios { scope, .. }| {
        let subjects = scope.compared().into_iter();
        subjects.map(|subject| scope.name(subject))
    });
    for name in say::distinct(names) {
        let cells = targets.iter().map(|target| target.cell(name, metric));
        table.named_row(name, cells.collect::<Vec<_>>());
    }
    let margin = say::percent(first.results.margin);
    Some(table.with_caption(&wording::how_to_read_ratios(&margin)))
}

/// Describes the smallest and the largest ratio over all points. Returns `None` if fewer than two
/// ratios are known.
pub fn headline(targets: &[TargetRatios], metric: &Metric) -> Option<String> {
    let first = targets.first()?.scope;
    let complete = targets.iter().flat_map(|target| {
        let all = target.all.iter();
        let complete = all.filter(|s| s.points == target.points && say::is_bounded(&s.ratio));
        complete.map(|standing| (target.scope, standing))
    });
    let mut all: Vec<(&Scope, &Standing)> = complete.collect();
    all.sort_by(|(_, a), (_, b)| a.ratio.estimate.total_cmp(&b.ratio.estimate));
    let [min, .., max] = all.as_slice() else {
        return None;
    };
    let named = |(scope, standing): &(&Scope, &Standing)| wording::OnTarget {
        subject: scope.name(standing.subject).into(),
        target: scope.title(),
        ratio: standing.ratio,
    };
    Some(wording::range_over_targets(
        metric,
        first.base_name(),
        [named(min), named(max)],
        first.results.level,
    ))
}

impl TargetRatios<'_> {
    /// Returns the cell with the ratio of the named subject.
    ///
    /// Omits the words "faster" and "slower", because the value implies them. Adds a note if the
    /// mean covers fewer points than the other means.
    fn cell(&self, name: &str, metric: &Metric) -> Cell {
        let mut compared = self.scope.compared().into_iter();
        let Some(subject) = compared.find(|&s| self.scope.name(s) == name) else {
            return cell::NONE.into();
        };
        if subject == self.scope.base() {
            return Quantity::exact(1.0, Unit::Ratio).into();
        }
        let Some(standing) = self.all.iter().find(|s| s.subject == subject) else {
            return cell::missing(self.scope, (subject, self.scope.points().first().copied()));
        };
        let verdict = standing.verdict.as_ref();
        let cell = cell::judged(&standing.ratio, metric, verdict);
        match verdict {
            _ if standing.points < self.points => {
                cell.with_note(wording::fewer_points(standing.points, self.points))
            }
            Some(Verdict::Faster | Verdict::Slower) => cell.with_note(""),
            _ => cell,
        }
    }
}
