// SPDX-License-Identifier: Apache-2.0
//! Charts that all kinds share: ratios with their intervals, values as bars, and values over a sweep.

use super::cell;
use super::measured::SubjectScope;
use super::scope::{PointGroup, Scope};
use super::standings::{Standing, Standings};
use crate::wording;
use lab_document::chart::file_name;
use lab_document::say;
use lab_document::{
    Axis, Band, BarRow, Bars, Chart, Drawing, Forest, ForestGroup, ForestRow, Line, Lines,
    Quantity, Scale, Stroke, Tone,
};
use lab_model::{Metric, PointId, SubjectId, Unit};
use lab_stats::results::Over;

/// The caption of all forest plots.
const BEST_FIRST: &str = "The best is first. Left of 1 is better. The lines are intervals.";

/// Builds the chart that shows which subject is best.
///
/// The chart shows overall ratios, or the ratios at each point if two subjects are compared. If
/// there is no comparison, it shows values.
pub fn answer(scopes: &[Scope], metric: &Metric) -> Option<Chart> {
    let scope = scopes.first()?;
    let by_point = scope.others().len() == 1 && scope.points().len() > 1;
    let groups = scopes.iter().map(|scope| {
        let points = scope.points();
        match scope.others().as_slice() {
            &[only] if points.len() > 1 => point_rows(scope, only, &points, metric),
            _ => standing_rows(scope, metric, Over::all(&points)),
        }
    });
    let titled = scopes.iter().map(|scope| scope.title().to_string());
    let caption = if by_point {
        "A row for each point. Left of 1 is better. The lines are intervals."
    } else {
        BEST_FIRST
    };
    let groups = titled.zip(groups).collect();
    let forest = forest(
        "answer",
        ratio_axis(scope, metric),
        scope.results.margin,
        groups,
        caption,
    );
    forest.or_else(|| bars_at(scope, "figures", &scope.points(), metric))
}

/// Builds a row for each subject including the baseline, the best first.
///
/// Adds a note to a mean over fewer points than the other subjects' means, because such means are
/// not comparable.
fn standing_rows(scope: &Scope, metric: &Metric, over: Over) -> Vec<ForestRow> {
    let standings = Standings::new(scope, metric, over);
    let all = standings.ranked.iter().map(|s| s.points).max();
    let row = |s: &Standing| {
        let name = scope.name(s.subject);
        if s.subject != scope.base() {
            let name = match all {
                Some(all) if s.points < all => {
                    format!("{name} ({})", wording::fewer_points(s.points, all))
                }
                _ => name.to_string(),
            };
            let tone = cell::tone_of(&s.ratio, s.verdict.as_ref());
            return ForestRow::new(name, Quantity::ratio(&s.ratio), tone);
        }
        let label = if scope.is_reference(s.subject) {
            "1 (the reference)"
        } else {
            "1 (baseline)"
        };
        ForestRow {
            label: label.into(),
            ..ForestRow::new(name, Quantity::exact(1.0, Unit::Ratio), Tone::Plain)
        }
    };
    standings.ranked.iter().map(row).collect()
}

/// Builds a row for each point at which a subject is compared.
fn point_rows(
    scope: &Scope,
    subject: SubjectId,
    points: &[PointId],
    metric: &Metric,
) -> Vec<ForestRow> {
    let row = |&point: &PointId| {
        let comparison = scope.comparison((subject, Some(point)), metric)?;
        let tone = comparison.verdict.as_ref().map_or(Tone::Plain, cell::tone);
        let ratio = Quantity::ratio(&comparison.ratio);
        Some(ForestRow::new(scope.short(point), ratio, tone))
    };
    points.iter().filter_map(row).collect()
}

/// Builds the chart of ratios at every point, with a group per point. Returns `None` for a single point.
pub fn every_ratio(scope: &Scope, points: &[PointId], metric: &Metric) -> Option<Chart> {
    if points.len() < 2 {
        return None;
    }
    let group = |&point: &PointId| {
        let mut rows = standing_rows(scope, metric, Over::At(Some(point)));
        rows.retain(|row| row.label.is_empty());
        (scope.short(point), rows)
    };
    forest(
        &format!("{}ratios-{}", scope.prefix(), metric.id),
        ratio_axis(scope, metric),
        scope.results.margin,
        points.iter().map(group).collect(),
        "A group for each point. Left of 1 is better. The lines are simultaneous intervals for all rows.",
    )
}

/// Builds a chart with a group for each of the given metrics and points, the best subject first.
pub fn standings<'m>(
    scope: &Scope,
    id: &str,
    axis: String,
    groups: impl IntoIterator<Item = (String, &'m Metric, Over)>,
) -> Option<Chart> {
    let groups = groups.into_iter();
    let groups = groups.map(|(title, metric, over)| (title, standing_rows(scope, metric, over)));
    forest(id, axis, scope.results.margin, groups.collect(), BEST_FIRST)
}

/// Returns the axis label for ratios, such as `time relative to c`.
pub fn ratio_axis(scope: &Scope, metric: &Metric) -> String {
    format!("{} relative to {}", metric.cost().title, scope.base_name())
}

/// Builds a forest plot of ratios around 1 on a logarithmic axis, with the margin of equivalence. Returns `None`
/// without rows.
pub fn forest(
    id: &str,
    axis: String,
    margin: f64,
    groups: Vec<(String, Vec<ForestRow>)>,
    caption: &str,
) -> Option<Chart> {
    let groups = groups.into_iter().filter(|(_, rows)| !rows.is_empty());
    let groups = groups.map(|(title, rows)| ForestGroup { title, rows });
    let groups: Vec<ForestGroup> = groups.collect();
    (!groups.is_empty()).then(|| Chart {
        id: file_name(id),
        title: say::capital(&axis),
        caption: caption.into(),
        drawing: Drawing::Forest(Forest {
            axis: Axis::new(axis, Unit::Ratio, Scale::Log),
            reference: 1.0,
            margin: Some(margin),
            groups,
        }),
    })
}

/// Builds the bar chart of a metric for all subjects at some points, with a group per point.
pub fn bars_at(scope: &Scope, id: &str, points: &[PointId], metric: &Metric) -> Option<Chart> {
    let group = |&point: &PointId| {
        let title = match points.len() {
            1 => String::new(),
            _ => scope.short(point),
        };
        (title, bar_rows(scope, Some(point), metric))
    };
    let id = format!("{}{id}", scope.prefix());
    bars(&id, &metric.title, &metric.unit, points.iter().map(group))
}

/// Builds a bar chart of a metric over the whole run.
pub fn bars_over_run(scopes: &[Scope], metric: &Metric) -> Option<Chart> {
    let groups = scopes
        .iter()
        .map(|scope| (scope.title().to_string(), bar_rows(scope, None, metric)));
    bars(&metric.id, &metric.title, &metric.unit, groups)
}

fn bar_rows(scope: &Scope, point: Option<PointId>, metric: &Metric) -> Vec<BarRow> {
    let subjects = scope.compared().into_iter();
    let rows = subjects.filter_map(|subject| {
        let total = scope.quantity((subject, point), metric)?;
        Some(BarRow::new(
            scope.name(subject),
            scope.color(subject),
            total,
        ))
    });
    rows.collect()
}

/// Builds a bar chart from groups of bars that start at 0. Returns `None` without rows.
pub fn bars(
    id: &str,
    title: &str,
    unit: &Unit,
    groups: impl IntoIterator<Item = (String, Vec<BarRow>)>,
) -> Option<Chart> {
    let mut rows: Vec<BarRow> = Vec::new();
    for (group, mut bars) in groups {
        if let Some(first) = bars.first_mut() {
            first.group = group;
        }
        rows.append(&mut bars);
    }
    let title = say::capital(title);
    (!rows.is_empty()).then(|| Chart {
        id: file_name(id),
        caption: format!("{title}, from zero; the lines at the bars' ends are intervals."),
        drawing: Drawing::Bars(Bars::whole(
            Axis::new(title.clone(), unit.clone(), Scale::Linear),
            rows,
        )),
        title,
    })
}

/// Builds the chart of a metric over the sweep of a group, with a line per subject. Returns `None` for fewer than two
/// points.
pub fn over_sweep(scope: &Scope, group: &PointGroup, metric: &Metric) -> Option<Chart> {
    let lines = scope.compared().into_iter();
    let lines = lines.map(|subject| {
        let value = |point| scope.quantity((subject, Some(point)), metric);
        line(scope, group, subject, value)
    });
    let sweep = scope.case(group).sweep.clone()?;
    let y = Axis::new(metric.title.to_string(), metric.unit.clone(), Scale::Log);
    let caption = format!(
        "{} of each {} by {sweep}; the bands are intervals.",
        say::capital(&metric.title),
        scope.words.subject
    );
    sweep_chart(scope, group, (&metric.id, y, caption), lines.collect())
}

/// Builds a chart of lines over a group's sweep. Returns `None` if no line has two points.
pub fn sweep_chart(
    scope: &Scope,
    group: &PointGroup,
    (id, y, caption): (&str, Axis, String),
    mut lines: Vec<Line>,
) -> Option<Chart> {
    let sweep = scope.case(group).sweep.clone()?;
    lines.retain(|line| line.points.len() > 1);
    let label = scope.group_label(group);
    let points = lines.iter().flat_map(|line| &line.points);
    let scale = match points.map(|(x, _)| *x).fold(f64::INFINITY, f64::min) {
        0.0 => Scale::Linear,
        _ => Scale::Log,
    };
    (!lines.is_empty()).then(|| Chart {
        id: file_name(&format!("{}{id}-{label}", scope.prefix())),
        title: scope.group_title(group, &format!("{} over {sweep}", y.title)),
        caption,
        drawing: Drawing::Lines(Lines {
            x: Axis::new(sweep.clone(), Unit::Count(sweep.into()), scale),
            y,
            lines,
        }),
    })
}

/// Builds the line of a subject's values over a sweep, ordered by the value of the swept parameter.
pub fn line(
    scope: &Scope,
    group: &PointGroup,
    subject: SubjectId,
    value: impl Fn(PointId) -> Option<Quantity>,
) -> Line {
    let points = group.points.iter();
    let points = points.filter_map(|&p| Some((scope.plan.points[p].x?, value(p)?)));
    let mut points: Vec<(f64, Quantity)> = points.collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Line {
        name: scope.name(subject).into(),
        color: scope.color(subject),
        stroke: Stroke::Measured,
        points,
        band: Band::Shown,
    }
}

/// Builds the chart for a subject that was measured alone, with a bar per metric.
pub fn bars_of_metrics(
    scope: &Scope,
    title: &str,
    subject_scope: SubjectScope,
    metrics: &[Metric],
) -> Option<Chart> {
    let rows = metrics.iter().filter_map(|metric| {
        let total = scope.quantity(subject_scope, metric)?;
        Some(BarRow::new(
            &metric.title,
            scope.color(subject_scope.0),
            total,
        ))
    });
    let unit = &metrics.first()?.unit;
    bars("answer", title, unit, [(String::new(), rows.collect())])
}
