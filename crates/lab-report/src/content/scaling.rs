// SPDX-License-Identifier: Apache-2.0
//! What many connections bring: throughput, the Universal Scalability Law, latencies.

use super::Room;
use super::cases::{mark, sweep_value, tone};
use crate::number::{self, Quantity, full, short};
use crate::table::{Cell, Column, Table, Tone};
use crate::view::{Group, Standing, UNABLE, View};
use lab_model::{PointId, SubjectId};
use lab_stats::analysis::{Interval, LatencyQuantiles, Scaling, ScalingLaw};

/// The law in a sentence.
pub const LAW: &str = "The Universal Scalability Law (N. Gunther): X(n) = λ·n / (1 + σ·(n − 1) + κ·n·(n − 1)), with λ \
                       the throughput of one connection, σ contention (what has to be done one after the other) and κ \
                       coherency (what keeping in step costs each pair).";

/// All tables of a group of points that do several operations at once.
pub fn scaling_tables(view: &View, group: &Group, room: Room) -> Vec<Table> {
    let tables = [
        throughput_table(view, group),
        law_table(view, group, room),
        latency_table(view, group, room),
    ];
    let tables = tables.into_iter();
    tables.filter(|table| !table.rows.is_empty()).collect()
}

/// Operations per second, from the typical time of one: 1 / time, the bounds changing places.
pub fn throughput(time_ns: &Interval) -> Interval {
    let rate = |ns: f64| if ns > 0.0 { 1e9 / ns } else { f64::NAN };
    Interval {
        estimate: rate(time_ns.estimate),
        low: rate(time_ns.high),
        high: rate(time_ns.low),
        level: time_ns.level,
    }
}

/// What a subject's scaling over a group is.
pub fn scaling_of<'a>(view: &View<'a>, group: &Group, subject: SubjectId) -> Option<&'a Scaling> {
    let mut scalings = view.analysis.scalings.iter();
    scalings.find(|s| {
        let factors = s.factors.iter().eq(group.factors.iter().copied());
        s.subject == subject && s.case == group.case && factors
    })
}

fn shown(room: Room) -> fn(Quantity, &Interval) -> String {
    match room {
        Room::Narrow => short,
        Room::Wide => full,
    }
}

/// Rows are subjects, columns the numbers of connections.
fn throughput_table(view: &View, group: &Group) -> Table {
    let values = group.points.iter().map(|&p| sweep_value(view, p));
    let columns = std::iter::once(view.words.subject.to_string()).chain(values);
    let label = view.group_label(group);
    let mut table = Table::new(
        format!("{label}: {}s per second", view.words.operation),
        columns,
    );
    for subject in view.shown() {
        let cells = group.points.iter().map(|&p| rate(view, subject, p));
        let name = Cell::from(view.name(subject));
        table
            .rows
            .push(std::iter::once(name).chain(cells).collect());
    }
    table.notes.push(format!(
        "Verdicts are on the time of an operation as a multiple of {}'s: < takes less, > more, = equivalent, ~ small \
         but real, ? inconclusive.",
        view.baseline()
    ));
    table
}

fn rate(view: &View, subject: SubjectId, point: PointId) -> Cell {
    let standing = view.standing(subject, point);
    let Some(cell) = view.cell(subject, point) else {
        return match standing {
            Standing::Unable => UNABLE.into(),
            Standing::Missing(why) => Cell::from(why).tone(Tone::Alarm),
            _ => "–".into(),
        };
    };
    let rate = throughput(&cell.wall_ns);
    let text = short(Quantity::Rate, &rate);
    match standing {
        Standing::Compared(_, c) => {
            let verdict = &c.verdict;
            Cell::from(format!("{text} {}", mark(verdict))).tone(tone(verdict))
        }
        Standing::Apart(_, why) => Cell::from(text).sub(why).tone(Tone::Alarm),
        _ => text.into(),
    }
}

/// What the law says of each subject.
pub fn law_table(view: &View, group: &Group, room: Room) -> Table {
    let columns = ["one", "contention", "coherency", "peak at", "with"];
    let columns = std::iter::once(view.words.subject).chain(columns);
    let mut table = Table::new(
        view.group_title(group, "the Universal Scalability Law"),
        columns.map(String::from),
    );
    if room == Room::Wide {
        table.columns.push(Column {
            title: "worst off the law".into(),
            numeric: true,
        });
    }
    for subject in view.shown() {
        let Some(scaling) = scaling_of(view, group, subject) else {
            continue;
        };
        let name = view.name(subject);
        match (&scaling.law, &scaling.why) {
            (Some(law), _) => {
                table.rows.push(law_row(name, law, room));
                let off = number::percent(law.worst_residual);
                let astray = law.departs.then(|| {
                    format!("{name}'s points do not follow the law: one lies {off} off it. Its row says little.")
                });
                table.notes.extend(astray);
            }
            (None, Some(why)) => table.notes.push(format!("{name}: {why}.")),
            (None, None) => {}
        }
    }
    table.notes.push(
        "Peak: the number of connections at which the law is highest, and its throughput there; – where coherency may \
         be 0, so that throughput is not shown to fall."
            .into(),
    );
    table.notes.push(LAW.into());
    table
}

fn law_row(name: &str, law: &ScalingLaw, room: Room) -> Vec<Cell> {
    let show = shown(room);
    let peak = |of: fn(&lab_stats::analysis::Peak) -> Interval, quantity| {
        let interval = law.peak.as_ref().map(of);
        interval.map_or(Cell::from("–"), |i| show(quantity, &i).into())
    };
    let mut row = vec![
        name.into(),
        show(Quantity::Rate, &law.one).into(),
        plain(&law.contention, room).into(),
        plain(&law.coherency, room).into(),
        peak(|p| p.connections, Quantity::Ratio),
        peak(|p| p.throughput, Quantity::Rate),
    ];
    if room == Room::Wide {
        row.push(number::percent(law.worst_residual).into());
    }
    if law.departs {
        row.iter_mut().for_each(|cell| cell.tone = Tone::Open);
    }
    row
}

/// A coefficient, which can be 0.
fn plain(interval: &Interval, room: Room) -> String {
    match interval.high <= 0.0 {
        true => "0".into(),
        false => shown(room)(Quantity::Ratio, interval),
    }
}

/// A quantile in words and its value.
type Quantile = (&'static str, fn(&LatencyQuantiles) -> Option<Interval>);

/// Rows are subjects; narrow, the first, the middle and the last number of connections.
fn latency_table(view: &View, group: &Group, room: Room) -> Table {
    let quantiles: &[Quantile] = match room {
        Room::Narrow => &[("p50", |l| Some(l.p50_ns)), ("p99", |l| l.p99_ns)],
        Room::Wide => &[
            ("p50", |l| Some(l.p50_ns)),
            ("p99", |l| l.p99_ns),
            ("p99.9", |l| l.p999_ns),
        ],
    };
    let points = some_points(view, group);
    let places = || {
        points
            .iter()
            .flat_map(|&point| quantiles.iter().map(move |quantile| (point, quantile)))
    };
    let headings =
        places().map(|(point, (name, _))| format!("{name} at {}", sweep_value(view, point)));
    let columns = std::iter::once(view.words.subject.to_string()).chain(headings);
    let label = view.group_label(group);
    let here = view.analysis.latencies.iter();
    let here = here.filter(|l| points.contains(&l.point));
    let (scale, unit) = number::common_unit(Quantity::Time, here.map(|l| l.p50_ns.estimate));
    let in_unit = match room {
        Room::Narrow => format!(",{unit}"),
        Room::Wide => String::new(),
    };
    let title = format!("{label}: latency of an operation{in_unit}");
    let mut table = Table::new(title, columns);
    for subject in view.shown() {
        let found = |point| {
            let mut latencies = view.analysis.latencies.iter();
            latencies.find(|l| (l.subject, l.point) == (subject, point))
        };
        if points.iter().all(|&p| found(p).is_none()) {
            continue;
        }
        let cells = places().map(|(point, (_, of))| {
            let interval = found(point).and_then(of);
            let show = |i: Interval| match room {
                Room::Narrow => number::short_in(scale, "", &i),
                Room::Wide => full(Quantity::Time, &i),
            };
            interval.map_or(Cell::from("–"), |i| show(i).into())
        });
        let name = Cell::from(view.name(subject));
        table
            .rows
            .push(std::iter::once(name).chain(cells).collect());
    }
    table.notes.push(
        "Half of a block's operations take no longer than p50, 99 % no longer than p99: up to 1/32 too high, never \
         too low."
            .into(),
    );
    table
}

/// One connection, about 8, and the most.
fn some_points(view: &View, group: &Group) -> Vec<PointId> {
    let x = |p: PointId| view.plan.points[p].x.unwrap_or(0.0);
    let mut points = group.points.clone();
    points.sort_by(|&a, &b| x(a).total_cmp(&x(b)));
    let middle = points.iter().copied().find(|&p| x(p) >= 8.0);
    let mut some: Vec<PointId> = [points.first().copied(), middle, points.last().copied()]
        .into_iter()
        .flatten()
        .collect();
    some.dedup();
    some
}
