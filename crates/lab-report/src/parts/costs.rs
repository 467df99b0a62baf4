// SPDX-License-Identifier: Apache-2.0
//! The fixed cost of an operation, the cost of each unit of a sweep, and the cost of a factor.

use super::cell::{self, NONE};
use super::measured::Measured;
use super::scope::{PointGroup, Scope};
use super::table;
use lab_document::say;
use lab_document::{Cell, Column, Quantity, Section, Table, Tone};
use lab_model::{Cores, PointId, Unit};
use lab_stats::analysis::Fit;
use lab_stats::results::Effect;

/// Builds the section. It is empty without a sweep or factors.
pub fn section(scope: &Scope) -> Section {
    let mut section = Section::folded("Fixed and marginal cost");
    for group in scope.groups(Cores::One) {
        section.table(fits(scope, &group));
    }
    for table in effects(scope) {
        section.table(table);
    }
    section
}

/// Builds the table with the fixed and the marginal cost of each subject.
fn fits(scope: &Scope, group: &PointGroup) -> Table {
    let case = scope.case(group);
    let subjects = scope.subjects();
    let fits = scope.results.fits.iter().filter(|fit| {
        fit.case == group.case && fit.factors == group.factors && subjects.contains(&fit.subject)
    });
    let fits: Vec<&Fit> = fits.collect();
    // An operation of a command is a process, so its cost is per unit of the swept parameter.
    let sweep = case.sweep.as_ref().filter(|_| scope.traits.unit_is_swept);
    let unit = sweep.unwrap_or(&case.unit);
    let equation = format!("time = fixed + marginal × {unit}");
    let mut table = lines(scope, &scope.group_title(group, &equation), unit, &fits);
    table.caption = format!(
        "The fixed cost of {}, and the additional cost of each {unit}; a curved line must not be extrapolated.",
        scope.words.an_operation
    );
    table
}

/// Builds a table of fitted lines, one per row, with the fixed cost and the cost of each `unit`.
pub fn lines(scope: &Scope, title: &str, unit: &str, fits: &[&Fit]) -> Table {
    let columns = [
        Column::from(scope.words.subject),
        Column::with_unit("fixed", Unit::Nanoseconds),
        Column::with_unit(format!("for each {unit}"), Unit::Nanoseconds),
        Column::with_unit("worst deviation from the line", Unit::Share),
        "shape".into(),
    ];
    let mut table = Table::new(title, columns).with_caption(&format!(
        "The fixed cost, and the additional cost of each {unit}."
    ));
    for fit in fits {
        let (off, shape) = shape(fit);
        table.row(vec![
            scope.name(fit.subject).into(),
            Quantity::estimate(&fit.fixed_ns, Unit::Nanoseconds).into(),
            Quantity::estimate(&fit.marginal_ns, Unit::Nanoseconds).into(),
            off,
            shape,
        ]);
    }
    table
}

/// Returns two cells: the largest residual of the fit, and the shape of the points (curved or
/// straight).
fn shape(fit: &Fit) -> (Cell, Cell) {
    if fit.points < 3 {
        return (NONE.into(), "unknown: two points".into());
    }
    let shape = if fit.curved {
        Cell::from("curved").with_tone(Tone::Inconclusive)
    } else {
        "straight".into()
    };
    (
        Quantity::exact(fit.worst_residual, Unit::Share).into(),
        shape,
    )
}

/// Builds a table for each metric and each factor value except for the first. It shows the cost of
/// the value compared with the factor's first value.
pub fn effects(scope: &Scope) -> Vec<Table> {
    let subjects = scope.subjects();
    let all = scope.results.effects.iter();
    let mine = all.filter(|e| subjects.contains(&e.subject));
    let tables = say::grouped(mine.map(|effect| (FactorValues::new(scope, effect), effect)));
    let table = |(of, effects): (FactorValues, Vec<&Effect>)| {
        let rows = say::grouped(effects.iter().map(|e| (effect_location(scope, e), *e)));
        let named = rows.iter().map(|(name, effects)| (effects, name.clone()));
        let named: Vec<_> = named.collect();
        let sides = (&*named, &*table::subjects(scope, &subjects));
        let mut table = table::matrix(of.title(), "case", sides, &Unit::Ratio, |row, subject| {
            let effect = row.iter().find(|e| e.subject == subject);
            cell::or_none(effect.map(|e| Quantity::ratio(&e.ratio)))
        });
        table.caption = format!(
            "The ratios are within each {}. Above 1, the second value costs more.",
            scope.words.subject
        );
        table.without_empty_columns()
    };
    tables.into_iter().map(table).collect()
}

/// The two values of a factor that an effect compares, and the metric.
#[derive(PartialEq)]
pub struct FactorValues {
    factor: String,
    /// The title of the metric. For throughput, this is the time per request.
    pub metric_title: String,
    /// The factor's first value, or `?` if it is unknown.
    pub first: String,
    /// The value that is compared with the first value, or `?` if it is unknown.
    pub second: String,
}

impl FactorValues {
    /// Returns the factor values of an effect.
    pub fn new(measured: &Measured, effect: &Effect) -> FactorValues {
        let value = |point: Option<PointId>| {
            let value = point.and_then(|p| measured.plan.points[p].param(&effect.factor));
            value.unwrap_or("?").to_string()
        };
        let first = effect.pairs.first();
        FactorValues {
            factor: effect.factor.clone(),
            metric_title: effect.metric.cost().title.into(),
            first: value(first.map(|pair| pair.0)),
            second: value(first.map(|pair| pair.1)),
        }
    }

    /// Returns a title, such as `statement: time with text / time with prepared`.
    pub fn title(&self) -> String {
        let FactorValues {
            factor,
            metric_title,
            first,
            second,
        } = self;
        format!("{factor}: {metric_title} with {second} / {metric_title} with {first}")
    }
}

/// Names the points that an effect covers: a single point without the factor, a case, or all cases.
fn effect_location(scope: &Scope, effect: &Effect) -> String {
    match (effect.pairs.as_slice(), effect.case) {
        (&[(from, _)], _) => {
            let params = scope.plan.points[from].params.iter();
            let params = params.filter(|(key, _)| *key != effect.factor);
            let words = params.map(say::parameter);
            let name = std::iter::once(scope.plan.case(from).name.clone());
            name.chain(words).collect::<Vec<_>>().join(" ")
        }
        (_, Some(case)) => scope.plan.cases[case].name.clone(),
        (_, None) => "all cases".into(),
    }
}
