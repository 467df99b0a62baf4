// SPDX-License-Identifier: Apache-2.0
//! The split of an operation's time into the client's CPU time, the server's CPU time and waiting.

use crate::parts::scope::Scope;
use crate::parts::table;
use lab_document::chart::file_name;
use lab_document::{Axis, BarPart, BarRow, Bars, Chart, Drawing, Scale, Section};
use lab_model::{Cores, Metric, PointId, SubjectId, TargetKind, Unit};

/// The components of an operation's time, with their names and color numbers.
const PARTS: [(Metric, &str, usize); 3] = [
    (Metric::MEAN_CPU, "client's CPU", 0),
    (Metric::SERVER_CPU, "server's CPU", 4),
    (Metric::WAITING, "waiting", 7),
];

/// The columns of the table of all points.
static SHOWN: [Metric; 5] = [
    Metric::MEAN_WALL,
    Metric::MEAN_CPU,
    Metric::SERVER_CPU,
    Metric::WAITING,
    Metric::OVERLAP,
];

/// Builds the section.
///
/// The section is empty if the split is unknown. It is also empty for a library without a service, whose tables of
/// times already show the client's time.
pub fn section(scope: &Scope) -> Section {
    let mut section = Section::new("Breakdown of the time");
    let has_parts = |p: &PointId| {
        let mut subjects = scope.compared().into_iter();
        subjects.any(|s| scope.value(s, *p, &Metric::WAITING).is_some())
    };
    let has_service = scope.kind().is_some_and(TargetKind::is_service);
    if !(has_service || scope.has_targets()) {
        return section;
    }
    for point in main_points(scope).into_iter().filter(has_parts) {
        section.push(chart(scope, point));
    }
    let points: Vec<PointId> = scope.points().into_iter().filter(has_parts).collect();
    let subject_scopes = scope.subject_scopes(&scope.compared(), &points);
    let mut all = Section::folded("All points");
    all.table(table::figures(scope, "", &subject_scopes, &SHOWN).with_caption(
        "Means over whole blocks, including pauses. CPU times cover all threads of the client's and the server's \
         processes; waiting is the rest of the wall time. Where both worked concurrently, the CPU times exceed the \
         wall time by the overlap, and waiting is 0.",
    ));
    section.section(all);
    section
}

/// Returns one point for each case: the point with the first value of each factor and the largest
/// value of the sweep.
fn main_points(scope: &Scope) -> Vec<PointId> {
    let mut groups = scope.groups(Cores::One);
    groups.dedup_by_key(|group| group.case);
    let x = |p: &PointId| scope.plan.points[*p].x.unwrap_or(0.0);
    let largest = groups.into_iter().filter_map(|group| {
        let points = group.points.into_iter();
        points.max_by(|a, b| x(a).total_cmp(&x(b)))
    });
    largest.collect()
}

fn chart(scope: &Scope, point: PointId) -> Chart {
    let rows = scope.compared().into_iter();
    let rows = rows.filter_map(|s| bar(scope, s, point));
    let parts = PARTS.map(|(_, name, color)| (name.to_string(), color));
    Chart {
        id: file_name(&format!("{}parts-{}", scope.prefix(), scope.short(point))),
        caption: "A bar shows the CPU time of client and server and the waiting time. Where it is longer than the \
                  wall time, client and server worked concurrently."
            .into(),
        title: format!("{}: breakdown of the time", scope.short(point)),
        drawing: Drawing::Bars(Bars {
            axis: Axis::new("time", Unit::Nanoseconds, Scale::Linear),
            parts: parts.into(),
            rows: rows.collect(),
        }),
    }
}

/// Builds a subject's bar for a point.
///
/// If the subject cannot run the point, the bar shows the first point that it can run with the same
/// case and sweep value.
fn bar(scope: &Scope, subject: SubjectId, point: PointId) -> Option<BarRow> {
    let points = &scope.plan.points;
    let can = |p: &PointId| scope.plan.takes_part(subject, *p);
    let alike =
        |p: &PointId| (points[*p].case, points[*p].x) == (points[point].case, points[point].x);
    let mut siblings = scope.points().into_iter().filter(|p| alike(p) && can(p));
    let shown_point = if can(&point) { point } else { siblings.next()? };
    scope.value(subject, shown_point, &Metric::WAITING)?;
    let others = points[shown_point].params.iter();
    let others = others.filter(|param| !points[point].params.contains(param));
    let words: Vec<&str> = others.map(|(_, value)| value.as_str()).collect();
    let name = if words.is_empty() {
        scope.name(subject).into()
    } else {
        format!("{} ({})", scope.name(subject), words.join(", "))
    };
    let part = |(part, (metric, ..)): (usize, &(Metric, &str, usize))| {
        let value = scope.value(subject, shown_point, metric)?;
        Some(BarPart { part, value })
    };
    let total = scope.value(subject, shown_point, &Metric::MEAN_WALL)?;
    Some(BarRow {
        parts: PARTS.iter().enumerate().filter_map(part).collect(),
        ..BarRow::new(&name, scope.color(subject), total)
    })
}
