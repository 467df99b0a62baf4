// SPDX-License-Identifier: Apache-2.0
//! Charts of a load over its time slices: percentiles, the distribution of times, and rates.

use super::charts;
use super::measured::SubjectScope;
use super::scope::{PointGroup, Scope};
use crate::wording;
use lab_document::format::quantity;
use lab_document::{
    Axis, Band, BarRow, Chart, Distribution, DistributionLine, Drawing, HeatColumn, HeatMap,
    HeatMaps, Line, Lines, Quantity, Scale, Stroke,
};
use lab_model::{Cores, Metric, Slice, SliceTimes, SubjectId, Unit};
use std::collections::BTreeMap;

/// The maximum number of lines or heat maps in one chart.
const MAX_CHARTED: usize = 6;

/// The maximum number of histograms in one chart.
const MAX_HISTOGRAMS: usize = 2;

/// The maximum number of columns of a heat map over time.
const COLUMNS: usize = 48;

/// Returns the slices of a server at a point, from complete blocks, in chronological order.
fn slices<'a>(scope: &Scope<'a>, (subject, point): SubjectScope) -> Vec<&'a Slice> {
    let run = scope.run;
    let all = run.complete_blocks().flat_map(|b| &b.slices);
    all.filter(|s| (s.subject, Some(s.point)) == (subject, point))
        .collect()
}

/// Selects the subjects and points to chart, with their colors and names.
///
/// Subjects without served requests at a point are omitted. If too many pairs of a subject and a
/// point remain, an evenly spaced selection is returned. If the points differ, each pair has its
/// own color.
fn charted_scopes(
    scope: &Scope,
    subject_scopes: &[SubjectScope],
) -> Vec<(SubjectScope, usize, String)> {
    let served = |&&subject_scope: &&SubjectScope| {
        let served = scope.quantity(subject_scope, &Metric::SERVED);
        served.is_some_and(|n| n.value > 0.0)
    };
    let served: Vec<&SubjectScope> = subject_scopes.iter().filter(served).collect();
    let charted = match served.len() {
        n if n > MAX_CHARTED => (0..MAX_CHARTED)
            .map(|i| *served[i * (n - 1) / (MAX_CHARTED - 1)])
            .collect(),
        _ => served.into_iter().copied().collect::<Vec<SubjectScope>>(),
    };
    let same_point = charted.windows(2).all(|pair| pair[0].1 == pair[1].1);
    let charted = charted.into_iter().enumerate();
    let charted = charted.map(|(i, subject_scope)| {
        if same_point {
            (
                subject_scope,
                scope.color(subject_scope.0),
                scope.name(subject_scope.0).into(),
            )
        } else {
            (subject_scope, i, scope.subject_scope_name(subject_scope))
        }
    });
    charted.collect()
}

/// Merges distributions into one, in ascending order of values.
fn merge_counts<'c>(all: impl Iterator<Item = &'c SliceTimes>) -> Vec<(f64, u64)> {
    let mut sum: BTreeMap<u64, u64> = BTreeMap::new();
    for (value, count) in all.flat_map(|times| times.counts().into_owned().0) {
        let total = sum.entry(value).or_default();
        *total = total.saturating_add(count);
    }
    sum.into_iter().map(|(ns, n)| (ns as f64, n)).collect()
}

fn response() -> Axis {
    Axis::new("response time", Unit::Nanoseconds, Scale::Log)
}

/// Builds the chart of response times by percentile. If `service` is true, the chart also shows
/// service times.
pub fn percentiles(scope: &Scope, subject_scopes: &[SubjectScope], service: bool) -> Option<Chart> {
    let mut lines = Vec::new();
    for (subject_scope, color, name) in charted_scopes(scope, subject_scopes) {
        if scope.cell(subject_scope, &Metric::BACKLOG).is_some() {
            continue;
        }
        let slices = slices(scope, subject_scope);
        let mut add = |name, color, of: fn(&Slice) -> &SliceTimes| {
            let counts = merge_counts(slices.iter().map(|slice| of(slice)));
            lines.extend((!counts.is_empty()).then_some(DistributionLine {
                name,
                color,
                counts,
            }));
        };
        add(name.clone(), color, |s| &s.response);
        if service {
            let name = format!("{name}, service time");
            add(name, color + MAX_CHARTED, |s| &s.service);
        }
    }
    (!lines.is_empty()).then(|| Chart {
        id: "percentiles".into(),
        title: "Response time by percentile".into(),
        caption: "The time that this fraction of the served requests did not exceed; each step to the right is ten \
                  times rarer."
            .into(),
        drawing: Drawing::Distribution(Distribution {
            values: response(),
            shares: Scale::Percentiles,
            lines,
        }),
    })
}

/// Builds the chart of the requests by response time, with a group per server. Returns `None` if there are many groups.
///
/// The steps of the logarithmic axis are 1, 2 and 5.
pub fn histogram(scope: &Scope, subject_scopes: &[SubjectScope]) -> Option<Chart> {
    let charted = charted_scopes(scope, subject_scopes);
    if charted.len() > MAX_HISTOGRAMS {
        return None;
    }
    let groups: Vec<_> = charted
        .iter()
        .filter(|(subject_scope, ..)| scope.cell(*subject_scope, &Metric::BACKLOG).is_none())
        .map(|(subject_scope, color, name)| {
            let counts = merge_counts(
                slices(scope, *subject_scope)
                    .iter()
                    .map(|slice| &slice.response),
            );
            let title = match charted.len() {
                1 => String::new(),
                _ => name.clone(),
            };
            (title, histogram_rows(&counts, *color))
        })
        .collect();
    let chart = charts::bars(
        "histogram",
        "requests",
        &Unit::Count("requests".into()),
        groups,
    )?;
    Some(Chart {
        title: "Response times".into(),
        caption: wording::load::histogram().into(),
        ..chart
    })
}

/// Builds a row for each step between the lowest and the highest value. `counts` are in ascending order.
fn histogram_rows(counts: &[(f64, u64)], color: usize) -> Vec<BarRow> {
    let (Some((first, _)), Some((last, _))) = (counts.first(), counts.last()) else {
        return Vec::new();
    };
    let steps = (0..).flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * 10_f64.powi(power)));
    let steps: Vec<f64> = steps.take_while(|step| *step < last * 5.0).collect();
    let pairs = steps
        .windows(2)
        .filter(|pair| pair[1] > *first && pair[0] <= *last);
    let row = |pair: &[f64]| {
        let inside = counts
            .iter()
            .filter(|(ns, _)| (pair[0]..pair[1]).contains(ns));
        let requests = inside.map(|(_, n)| n).sum();
        let [low, high] = [pair[0], pair[1]].map(|ns| quantity::tick(ns, &Unit::Nanoseconds, ns));
        BarRow::new(
            &format!("{low} to {high}"),
            color,
            Quantity::count(requests, "requests"),
        )
    };
    pairs.map(row).collect()
}

/// Builds the heat maps of response times over slices or points.
pub fn heat(scope: &Scope, subject_scopes: &[SubjectScope]) -> Option<Chart> {
    let (maps, columns, over) = match scope.points().len() {
        1 => (
            over_slices(scope, subject_scopes),
            "time under load",
            "over the time under load",
        ),
        _ => (over_points(scope), "connections", "by connections"),
    };
    // Each heat map takes memory and time, so no more are built than are shown.
    let maps: Vec<HeatMap> = maps
        .filter(|m| m.columns.len() > 1)
        .take(MAX_CHARTED)
        .collect();
    (!maps.is_empty()).then(|| Chart {
        id: "heat".into(),
        title: format!("Distribution of response times {over}"),
        caption: "The darker a cell, the larger its fraction of the requests in its column.".into(),
        drawing: Drawing::Heat(HeatMaps {
            axis: response(),
            columns: columns.into(),
            maps,
        }),
    })
}

/// The unit of the cells of a heat map.
fn requests() -> Unit {
    Unit::Count("requests".into())
}

type Maps<'s> = Box<dyn Iterator<Item = HeatMap> + 's>;

fn over_slices<'s>(scope: &'s Scope, subject_scopes: &[SubjectScope]) -> Maps<'s> {
    let map = move |(subject_scope, color, name): (SubjectScope, usize, String)| {
        let slices = slices(scope, subject_scope);
        let each = slices.len().div_ceil(COLUMNS).max(1);
        let mut begin_ns = 0_u64;
        let column = |slices: &[&Slice]| {
            let label = format!("{} s", (begin_ns as f64 / 1e7).round() / 100.0);
            begin_ns += slices.iter().map(|s| s.wall_ns).sum::<u64>();
            HeatColumn {
                label,
                counts: merge_counts(slices.iter().map(|s| &s.response)),
            }
        };
        HeatMap {
            name,
            color,
            unit: requests(),
            columns: slices.chunks(each).map(column).collect(),
        }
    };
    Box::new(charted_scopes(scope, subject_scopes).into_iter().map(map))
}

/// Builds a heat map for each server with the points of a sweep as columns.
fn over_points<'s>(scope: &'s Scope) -> Maps<'s> {
    let groups = scope.groups(Cores::All).into_iter();
    let each = groups.flat_map(move |group| {
        let subjects = scope.compared().into_iter();
        subjects.map(move |subject| (group.clone(), subject))
    });
    let map = move |(color, (group, subject)): (usize, (PointGroup, SubjectId))| {
        let columns = group.points.iter().map(|&point| {
            let slices = slices(scope, (subject, Some(point)));
            HeatColumn {
                label: scope.swept(point),
                counts: merge_counts(slices.iter().map(|s| &s.response)),
            }
        });
        let name = format!("{} {}", scope.name(subject), scope.group_label(&group));
        HeatMap {
            name: name.trim().into(),
            color,
            unit: requests(),
            columns: columns.filter(|c| !c.counts.is_empty()).collect(),
        }
    };
    Box::new(each.enumerate().map(map))
}

/// Builds the chart of served requests per second over slices. It also shows the offered requests
/// of an open loop, and the errors if requests failed.
pub fn over_time(scope: &Scope, subject_scopes: &[SubjectScope], open: bool) -> Option<Chart> {
    if scope.points().len() > 1 {
        return None;
    }
    let mut lines = Vec::new();
    for &subject_scope in subject_scopes {
        let (name, color) = (scope.name(subject_scope.0), scope.color(subject_scope.0));
        let slices = slices(scope, subject_scope);
        let mut add = |name: String, color, stroke, rate: fn(&Slice) -> f64| {
            lines.push(Line {
                name,
                color,
                stroke,
                points: over_slices_of(&slices, rate),
                band: Band::Hidden,
            });
        };
        add(name.into(), color, Stroke::Steps, |s| {
            per_second(s.served, s.served_in_ns())
        });
        if open {
            add(format!("{name}, offered"), color, Stroke::Model, |s| {
                per_second(s.offered, s.wall_ns)
            });
        }
        if slices.iter().any(|s| !s.errors.is_empty()) {
            add(
                format!("{name}, failed"),
                color + MAX_CHARTED,
                Stroke::Steps,
                |s| per_second(s.errors.iter().map(|(_, n)| n).sum(), s.wall_ns),
            );
        }
    }
    lines.retain(|line| line.points.len() > 2);
    let rate = Metric::THROUGHPUT.unit;
    (!lines.is_empty()).then(|| Chart {
        id: "rate".into(),
        title: "Requests per second over the time under load".into(),
        caption: "Requests served in each slice of the load; a dip is a stall.".into(),
        drawing: Drawing::Lines(Lines {
            x: Axis::new("time under load", Unit::Nanoseconds, Scale::Linear),
            y: Axis::new("requests per second", rate, Scale::Linear),
            lines,
        }),
    })
}

fn per_second(requests: u64, ns: u64) -> f64 {
    requests as f64 / (ns.max(1) as f64 / 1e9)
}

/// Returns the rate at the beginning of each slice, and the rate of the last slice also at its end.
fn over_slices_of(slices: &[&Slice], rate: fn(&Slice) -> f64) -> Vec<(f64, Quantity)> {
    let mut begin_ns = 0_u64;
    let mut points = Vec::new();
    for slice in slices {
        let rate = Quantity::exact(rate(slice), Metric::THROUGHPUT.unit);
        points.push((begin_ns as f64, rate));
        begin_ns += slice.wall_ns;
    }
    let last = points.last().map(|(_, rate)| rate.clone());
    points.extend(last.map(|rate| (begin_ns as f64, rate)));
    points
}
