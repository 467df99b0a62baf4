// SPDX-License-Identifier: Apache-2.0
//! A load run as tidy CSV: one row per server and point with all figures and bounds.

use super::{Row, trouble, write};
use crate::Error;
use crate::content::load::failed;
use crate::load::LoadView;
use crate::served::ServedView;
use crate::view::verdict_word;
use lab_model::{ErrorKind, PointId, SubjectId};
use lab_stats::analysis::{Interval, Verdict};
use lab_stats::load::analysis::{LoadCell, Metric, Quantiles};

/// A figure's columns: itself and its bounds.
type Bounds = [&'static str; 3];

macro_rules! bounds {
    ($of:literal, $what:literal, $unit:literal) => {
        [
            concat!($of, $what, $unit),
            concat!($of, $what, "_low", $unit),
            concat!($of, $what, "_high", $unit),
        ]
    };
}

const PLACE: [&str; 8] = [
    "run",
    "subject",
    "role",
    "point",
    "connections",
    "status",
    "note",
    "blocks",
];

const COUNTS: [&str; 6] = [
    "offered",
    "served",
    "failed",
    "connects",
    "drain_ns",
    "saturated",
];

const ERRORS: [&str; 7] = [
    "errors_connect",
    "errors_timeout",
    "errors_reset",
    "errors_malformed",
    "errors_status",
    "errors_body",
    "errors_unfinished",
];

type Figure = (Bounds, fn(&LoadCell) -> Option<Interval>);

const FIGURES: [Figure; 8] = [
    (bounds!("offered", "", "_per_s"), |c| Some(c.offered_per_s)),
    (bounds!("served", "", "_per_s"), |c| Some(c.served_per_s)),
    (bounds!("received", "", "_bytes_per_s"), |c| {
        Some(c.received_bytes_per_s)
    }),
    (bounds!("generator_cpu", "", "_ns"), |c| c.generator_cpu_ns),
    (bounds!("generator_busy", "", ""), |c| {
        Some(c.generator_busy)
    }),
    (bounds!("server_cpu", "", "_ns"), |c| c.server_cpu_ns),
    (bounds!("server_cores", "", ""), |c| c.server_cores),
    (bounds!("server", "", "_bytes"), |c| c.server_bytes),
];

macro_rules! times {
    ($name:literal) => {
        [
            bounds!($name, "_p50", "_ns"),
            bounds!($name, "_p75", "_ns"),
            bounds!($name, "_p90", "_ns"),
            bounds!($name, "_p99", "_ns"),
            bounds!($name, "_p999", "_ns"),
            bounds!($name, "_p9999", "_ns"),
        ]
    };
}

type Times = ([Bounds; 6], &'static str, fn(&LoadCell) -> &Quantiles);

const TIMES: [Times; 3] = [
    (times!("response"), "response_max_ns", |c| &c.response),
    (times!("service"), "service_max_ns", |c| &c.service),
    (times!("lag"), "lag_max_ns", |c| &c.lag),
];

/// Of a ratio: its columns, its level, its p-value and its verdict.
type Ratio = (Metric, Bounds, [&'static str; 4]);

macro_rules! ratio {
    ($metric:expr, $name:literal) => {
        (
            $metric,
            bounds!($name, "_ratio", ""),
            [
                concat!($name, "_ratio_level"),
                concat!($name, "_p"),
                concat!($name, "_verdict"),
                concat!($name, "_blocks_needed"),
            ],
        )
    };
}

const RATIOS: [Ratio; 6] = [
    ratio!(Metric::Throughput, "time_per_request"),
    ratio!(Metric::P50, "p50"),
    ratio!(Metric::P90, "p90"),
    ratio!(Metric::P99, "p99"),
    ratio!(Metric::P999, "p999"),
    ratio!(Metric::ServerCpu, "server_cpu"),
];

/// The columns, in order; units are in their names.
pub fn columns() -> Vec<&'static str> {
    let figures = FIGURES.iter().flat_map(|(bounds, _)| *bounds);
    let times = TIMES.iter().flat_map(|(bounds, most, _)| {
        let bounds = bounds.iter().flatten().copied();
        bounds.chain([*most])
    });
    let ratios = RATIOS.iter().flat_map(|(_, bounds, further)| {
        let bounds = bounds.iter().copied();
        bounds.chain(*further)
    });
    let counts = COUNTS.into_iter().chain(ERRORS);
    let all = PLACE.into_iter().chain(counts).chain(figures).chain([
        "server_threads",
        "rate_level",
        "times_level",
    ]);
    all.chain(times).chain(ratios).collect()
}

/// What servers that the lab starts have besides, behind the role: what they are, and the point's parameters.
const SERVED_PLACE: [&str; 8] = [
    "language",
    "driver",
    "case",
    "keep_alive",
    "load",
    "workers",
    "loops",
    "part_of_peak",
];

/// At the end: the same of the server, whatever the point.
const SERVED_WHOLE: [&str; 9] = [
    "memory_ratio",
    "memory_ratio_low",
    "memory_ratio_high",
    "memory_verdict",
    "startup_ns",
    "startup_low_ns",
    "startup_high_ns",
    "cold_ns",
    "warm_up",
];

/// The columns of servers that the lab starts, in order: those of any load run, and further ones.
pub fn served_columns() -> Vec<&'static str> {
    let mut columns = columns();
    let behind = columns
        .iter()
        .position(|c| *c == "role")
        .map_or(0, |i| i + 1);
    columns.splice(behind..behind, SERVED_PLACE);
    columns.extend(SERVED_WHOLE);
    columns
}

/// The report as CSV.
pub fn render(view: &LoadView) -> Result<String, Error> {
    let rows = pairs(view).map(|(subject, point)| row(view, subject, point));
    write(&columns(), rows)
}

/// That of servers that the lab started.
pub fn served(view: &ServedView) -> Result<String, Error> {
    let rows = pairs(view.load).map(|(subject, point)| served_row(view, subject, point));
    write(&served_columns(), rows)
}

fn pairs(view: &LoadView) -> impl Iterator<Item = (SubjectId, PointId)> {
    let (subjects, points) = (view.view.plan.subjects.len(), view.view.plan.points.len());
    (0..points).flat_map(move |point| (0..subjects).map(move |subject| (subject, point)))
}

fn served_row(view: &ServedView, subject: SubjectId, point: PointId) -> Row {
    let mut row = row(view.load, subject, point);
    let plan = view.common().plan;
    let server = &plan.subjects[subject];
    row.set("language", &server.language);
    row.set("driver", &server.driver);
    row.set("case", &plan.case(point).name);
    row.set("keep_alive", plan.keeps_alive(point));
    row.set(
        "load",
        if plan.is_open(point) {
            "open"
        } else {
            "closed"
        },
    );
    if let Some(part) = plan.part_of_peak(point) {
        row.number("part_of_peak", part);
    }
    for key in ["workers", "loops"] {
        if let Some(said) = view.setting(subject, key) {
            row.set(key, said);
        }
    }
    if let Some(print) = view.footprint(subject) {
        let columns = ["memory_ratio", "memory_ratio_low", "memory_ratio_high"];
        print.ratio.iter().for_each(|r| row.interval(columns, r));
        let verdict = print.verdict.as_ref().map_or("", verdict_word);
        row.set("memory_verdict", verdict);
        let columns = ["startup_ns", "startup_low_ns", "startup_high_ns"];
        print
            .startup_ns
            .iter()
            .for_each(|i| row.interval(columns, i));
    }
    let case = plan.points[point].case;
    let mut pilots = view.common().run.pilots.iter();
    let pilot = pilots.find(|p| {
        p.subject == subject && plan.points.get(p.point).is_some_and(|of| of.case == case)
    });
    if let Some(pilot) = pilot {
        row.set("cold_ns", pilot.cold_ns);
        row.set("warm_up", super::warm_up(pilot.class));
    }
    row
}

fn row(view: &LoadView, subject: SubjectId, point: PointId) -> Row {
    let mut row = Row::default();
    let plan = view.view.plan;
    row.set("run", &view.view.run.name);
    row.set("subject", view.view.name(subject));
    let role = match &plan.subjects[subject] {
        _ if subject == plan.baseline => "baseline",
        control if control.control_of.is_some() => "control",
        limit if limit.limit => "limit",
        _ => "subject",
    };
    row.set("role", role);
    row.set("point", view.point(point));
    for (key, value) in &plan.points[point].params {
        if key == "connections" {
            row.set("connections", value);
        }
    }
    let cell = view.cell(subject, point);
    let failure = view.view.failure(subject, point);
    let refusal = view.view.refusal(subject, point);
    row.set(
        "status",
        match (cell, failure, refusal) {
            (_, Some(_), _) => "failed",
            (None, ..) => "missing",
            (Some(_), None, Some(_)) => "refused",
            (Some(_), None, None) => "measured",
        },
    );
    row.set("note", trouble(&view.view, subject, point));
    cell.into_iter().for_each(|cell| figures(&mut row, cell));
    ratios(&mut row, view, subject, point);
    row
}

fn figures(row: &mut Row, cell: &LoadCell) {
    row.set("blocks", cell.blocks);
    row.set("offered", cell.offered);
    row.set("served", cell.served);
    row.set("failed", failed(cell));
    row.set("connects", cell.connects);
    row.set("drain_ns", cell.drain_ns);
    row.set("saturated", cell.saturated);
    for (column, kind) in ERRORS.into_iter().zip(ErrorKind::ALL) {
        let found = cell.errors.iter().find(|(k, _)| *k == kind);
        row.set(column, found.map_or(0, |(_, n)| *n));
    }
    for (columns, of) in FIGURES {
        of(cell).iter().for_each(|i| row.interval(columns, i));
    }
    if let Some(threads) = cell.server_threads {
        row.set("server_threads", threads);
    }
    row.number("rate_level", cell.served_per_s.level);
    if let Some(median) = cell.response.p50_ns {
        row.number("times_level", median.level);
    }
    for (columns, most, times) in TIMES {
        let times = times(cell);
        for (columns, (_, _, of)) in columns.into_iter().zip(crate::load::QUANTILES) {
            of(times).iter().for_each(|i| row.interval(columns, i));
        }
        times.max_ns.iter().for_each(|ns| row.set(most, ns));
    }
}

fn ratios(row: &mut Row, view: &LoadView, subject: SubjectId, point: PointId) {
    for (metric, columns, [level, p, verdict, needed]) in RATIOS {
        let Some(comparison) = view.comparison(subject, point, metric) else {
            continue;
        };
        row.interval(columns, &comparison.ratio);
        row.number(level, comparison.ratio.level);
        row.number(p, comparison.p);
        row.set(verdict, verdict_word(&comparison.verdict));
        if let Verdict::Inconclusive {
            blocks_needed: Some(n),
        } = comparison.verdict
        {
            row.set(needed, n);
        }
    }
}
