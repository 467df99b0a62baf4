// SPDX-License-Identifier: Apache-2.0
//! The effect of more connections or threads: throughput, the Universal Scalability Law, and the
//! highest rate.

use super::scope::{PointGroup, Scope};
use super::{cell, charts, sentence, table};
use crate::wording;
use lab_document::say;
use lab_document::{
    Axis, Band, Cell, Chart, Column, Item, Line, Quantity, Scale, Section, Stroke, Table, Tone,
};
use lab_model::{Interval, Metric, PointId, SubjectId, Unit};
use lab_stats::analysis::ScalingLaw;
use lab_stats::results::{Over, Scaling};
use lab_stats::usl;

/// The definition of the Universal Scalability Law, in one sentence.
const LAW: &str = "The Universal Scalability Law (N. Gunther): X(n) = λ·n / (1 + σ·(n − 1) + κ·n·(n − 1)), where λ \
                   is the throughput at n = 1, σ is contention (the serialized fraction of the work) and κ is \
                   coherency (the cost of keeping each pair of workers consistent).";

/// The number of points at which the curve of a law is drawn.
const STEPS: usize = 48;

/// Adds the throughput over a sweep, and the scalability law of each subject or, if the law could
/// not be fitted, the reason.
pub fn add(section: &mut Section, scope: &Scope, group: &PointGroup) {
    section.chart(chart(scope, group));
    section.table(throughput(scope, group));
    let law = law(scope, group);
    if law.rows.is_empty() {
        section.text(law.notes.join(" "))
    } else {
        section.push(Item::Table(law))
    }
}

/// Returns a subject's throughput at a point, in operations or requests per second.
fn rate(scope: &Scope, subject: SubjectId, point: PointId) -> Option<Interval> {
    let subject_scope = (subject, Some(point));
    let served = scope.interval(subject_scope, &Metric::THROUGHPUT).copied();
    served.or_else(|| {
        Some(say::inverse(
            scope.interval(subject_scope, &Metric::WALL)?,
            1e9,
        ))
    })
}

fn quantity(scope: &Scope, subject: SubjectId, point: PointId) -> Option<Quantity> {
    let rate = rate(scope, subject, point)?;
    Some(Quantity::estimate(&rate, unit(scope)))
}

/// Returns the unit of throughput for this kind of work.
fn unit(scope: &Scope) -> Unit {
    Unit::PerSecond(format!("{}s", scope.words.operation).into())
}

/// Returns the metric to which verdicts apply.
fn compared_in(scope: &Scope) -> Metric {
    if scope.has(&Metric::THROUGHPUT) {
        Metric::THROUGHPUT
    } else {
        Metric::WALL
    }
}

/// Builds the table of throughput with a row per subject and a column per number of connections.
fn throughput(scope: &Scope, group: &PointGroup) -> Table {
    let rate_title = format!("{}s per second", scope.words.operation);
    let columns = group.points.iter().map(|&p| (p, scope.swept(p)));
    let columns: Vec<(PointId, String)> = columns.collect();
    let rows = table::subjects(scope, &scope.compared());
    let metric = compared_in(scope);
    let title = scope.group_title(group, &rate_title);
    let sides = (&*rows, &*columns);
    let subject = scope.words.subject;
    let mut table = table::matrix(title, subject, sides, &unit(scope), |subject, point| {
        let subject_scope = (subject, Some(point));
        let Some(rate) = quantity(scope, subject, point) else {
            return cell::value(scope, subject_scope, &metric);
        };
        if cell::is_saturated(scope, subject_scope) {
            return cell::limited(rate.into());
        }
        let comparison = scope.comparison(subject_scope, &metric);
        let verdict = comparison.and_then(|c| c.verdict);
        cell::with_verdict(rate.into(), &metric, verdict.as_ref())
    });
    table.caption = format!(
        "Each column is a value of {}. Verdicts compare the time of {} with that of {}.",
        scope.case(group).sweep.as_deref().unwrap_or("n"),
        scope.words.an_operation,
        scope.base_name()
    );
    table
}

/// Returns the scalability law fitted to a subject over a group.
fn scaling_of<'a>(
    scope: &Scope<'a>,
    group: &PointGroup,
    subject: SubjectId,
) -> Option<&'a Scaling> {
    let mut scalings = scope.results.scalings.iter();
    scalings.find(|s| {
        (s.subject, s.target, s.case) == (subject, scope.target, group.case)
            && s.factors == group.factors
    })
}

fn law(scope: &Scope, group: &PointGroup) -> Table {
    let sweep = scope.case(group).sweep.as_deref().unwrap_or("n");
    let columns = [
        Column::from(scope.words.subject),
        Column::with_unit("one", unit(scope)),
        Column::with_unit("contention", Unit::Ratio),
        Column::with_unit("coherency", Unit::Ratio),
        Column::with_unit("peak at", Unit::Count(sweep.to_string().into())),
        Column::with_unit("with", unit(scope)),
        Column::with_unit("worst deviation from the law", Unit::Share),
    ];
    let title = scope.group_title(group, "the Universal Scalability Law");
    let mut table = Table::new(title, columns);
    table.caption = LAW.into();
    for subject in scope.compared() {
        let name = scope.name(subject);
        let scaling = scaling_of(scope, group, subject);
        match scaling.map(|s| (&s.law, &s.why)) {
            Some((Some(law), _)) => {
                table.row(law_row(scope, (name, sweep), law));
                let off = say::percent(law.worst_residual);
                table.notes.extend(law.departs.then(|| {
                    format!("{name}'s points do not follow the law: one deviates from it by {off}, so the fitted \
                             values are unreliable.")
                }));
            }
            Some((None, Some(why))) => table.notes.push(wording::no_law(name, why)),
            _ => {}
        }
    }
    if !table.rows.is_empty() {
        let note = "Where coherency may be 0, there is no peak, because throughput may never fall.";
        table.notes.push(note.into());
        table.notes.extend(shared_cores(scope, group));
    }
    table
}

/// Returns a note that a sweep with more threads than cores does not show the effect of additional
/// cores.
fn shared_cores(scope: &Scope, group: &PointGroup) -> Option<String> {
    if !scope.traits.takes_core_each {
        return None;
    }
    let has = scope.run.host.cores()?;
    let mut swept = group.points.iter().filter_map(|&p| scope.plan.points[p].x);
    swept.any(|x| x > has).then(|| {
        format!(
            "The machine has {has} core{}. The points do not show the effect of more cores, and the law must not be \
             extrapolated to them.",
            if has == 1.0 { "" } else { "s" }
        )
    })
}

fn law_row(scope: &Scope, (name, sweep): (&str, &str), law: &ScalingLaw) -> Vec<Cell> {
    let number = |i: &Interval, unit: Unit| Cell::from(Quantity::estimate(i, unit));
    let [at, with] = match &law.peak {
        Some(peak) => [
            number(&peak.connections, Unit::Count(sweep.to_owned().into())),
            number(&peak.throughput, unit(scope)),
        ],
        None => [cell::NONE.into(), cell::NONE.into()],
    };
    let mut row = vec![
        name.into(),
        number(&law.one, unit(scope)),
        number(&law.contention, Unit::Ratio),
        number(&law.coherency, Unit::Ratio),
        at,
        with,
        Quantity::exact(law.worst_residual, Unit::Share).into(),
    ];
    if law.departs {
        row.iter_mut()
            .for_each(|cell| cell.tone = Tone::Inconclusive);
    }
    row
}

/// Builds the chart of throughput over connections. If a subject's points follow its scalability
/// law, the chart also shows the curve of the law.
fn chart(scope: &Scope, group: &PointGroup) -> Option<Chart> {
    let mut lines = Vec::new();
    for subject in scope.compared() {
        let line = charts::line(scope, group, subject, |point| {
            quantity(scope, subject, point)
        });
        let law = scaling_of(scope, group, subject).and_then(|s| s.law.as_ref());
        let law = law.filter(|law| !law.departs);
        let ends = line.points.first().zip(line.points.last());
        let model = law.zip(ends).map(|(law, (first, last))| Line {
            stroke: Stroke::Model,
            band: Band::Hidden,
            points: curve(scope, law, (first.0, last.0)),
            ..line.clone()
        });
        lines.extend(std::iter::once(line).chain(model));
    }
    let rate_title = format!("{}s per second", scope.words.operation);
    let caption = format!(
        "The rate of each {} by {}. The bands are intervals. A dashed line is the scalability law, if the points \
         follow it.",
        scope.words.subject,
        scope.case(group).sweep.as_deref()?
    );
    let y = Axis::new(rate_title, unit(scope), Scale::Linear);
    charts::sweep_chart(scope, group, ("throughput", y, caption), lines)
}

fn curve(scope: &Scope, law: &ScalingLaw, (from, to): (f64, f64)) -> Vec<(f64, Quantity)> {
    let [one, contention, coherency] =
        [&law.one, &law.contention, &law.coherency].map(|part| part.estimate);
    let step = |i: usize| from * (to / from).powf(i as f64 / STEPS as f64);
    let at = |n: f64| usl::throughput(one, contention, coherency, n);
    let point = |n: f64| (n, Quantity::exact(at(n), unit(scope)));
    (0..=STEPS).map(|i| point(step(i))).collect()
}

/// Returns the point at which a subject has its highest rate, and that rate in operations or
/// requests per second.
pub fn peak(scope: &Scope, subject: SubjectId, points: &[PointId]) -> Option<(PointId, Interval)> {
    let mut bests = scope.results.bests.iter();
    let best = bests.find(|b| b.subject == subject && points.first() == Some(&b.first));
    if let Some(best) = best {
        return Some((best.point, best.rate));
    }
    let rates = points.iter();
    let rates = rates.filter_map(|&p| Some((p, rate(scope, subject, p)?)));
    let some = rates.filter(|(_, rate)| rate.estimate > 0.0);
    some.max_by(|a, b| a.1.estimate.total_cmp(&b.1.estimate))
}

/// Describes the subject with the highest rate over the points of a sweep. `work` is a phrase such
/// as ` in json`.
pub fn highest_rate(scope: &Scope, points: &[PointId], work: &str) -> Option<String> {
    let over = Over::Best(*points.first()?);
    let mut rankings = scope.results.rankings.iter();
    let ranking = rankings.find(|r| r.over == over && r.target == scope.target);
    let compared = scope.compared();
    let best = match (ranking, compared.as_slice()) {
        (Some(ranking), _) => ranking.first(|s| compared.contains(&s)),
        (None, &[only]) => vec![only],
        (None, _) => return None,
    };
    let (&first, tied) = best.split_first()?;
    let (point, rate) = peak(scope, first, points)?;
    let tie = match tied {
        [] => String::new(),
        many => format!(
            ". It is statistically tied with {}",
            sentence::names(scope, many)
        ),
    };
    let limited = if cell::is_saturated(scope, (first, Some(point))) {
        " The generator was the bottleneck there."
    } else {
        ""
    };
    let so_far = if say::has_level(&rate, scope.level()) {
        ""
    } else {
        "So far "
    };
    let sweep = scope.plan.case(point).sweep.as_deref()?;
    let (name, x) = (scope.name(first), scope.swept(point));
    let rate = say::figure(&rate, &unit(scope), scope.level());
    Some(format!(
        "{so_far}{name} has the highest rate{work}: {rate} at {sweep}={x}{tie}.{limited}"
    ))
}
