// SPDX-License-Identifier: Apache-2.0
//! A report as tidy CSV (RFC 4180): one row per subject and point, numbers as numbers, and a row for
//! each imported figure. Cells that do not apply are empty.

pub mod load;
pub mod load_between;

use crate::view::{Standing, View, verdict_word};
use crate::{Error, Report};
use lab_model::{PointId, Run, SubjectId, WarmUp};
use lab_stats::analysis::{
    Cell, Comparison, Control, Interval, LatencyQuantiles, ProcessUse, ServerCost,
};
use serde::Serialize;

/// The columns, in order; units are in their names.
pub const COLUMNS: [&str; 92] = [
    "run",
    "subject",
    "language",
    "driver",
    "role",
    "case",
    "factors",
    "sweep",
    "x",
    "status",
    "blocks",
    "wall_ns",
    "wall_low_ns",
    "wall_high_ns",
    "cpu_ns",
    "cpu_low_ns",
    "cpu_high_ns",
    "whole_wall_ns",
    "whole_wall_low_ns",
    "whole_wall_high_ns",
    "whole_cpu_ns",
    "whole_cpu_low_ns",
    "whole_cpu_high_ns",
    "level",
    "cold_ns",
    "warm_up",
    "ratio",
    "ratio_low",
    "ratio_high",
    "ratio_level",
    "p",
    "verdict",
    "blocks_needed",
    "whole_ratio",
    "whole_ratio_low",
    "whole_ratio_high",
    "cpu_ratio",
    "cpu_ratio_low",
    "cpu_ratio_high",
    "disagree",
    "merged",
    "operations",
    "note",
    "command",
    "revision",
    "user_ns",
    "user_low_ns",
    "user_high_ns",
    "sys_ns",
    "sys_low_ns",
    "sys_high_ns",
    "peak_rss_bytes",
    "peak_rss_low_bytes",
    "peak_rss_high_bytes",
    "minor_faults",
    "minor_faults_low",
    "minor_faults_high",
    "major_faults",
    "major_faults_low",
    "major_faults_high",
    "voluntary_switches",
    "voluntary_switches_low",
    "voluntary_switches_high",
    "involuntary_switches",
    "involuntary_switches_low",
    "involuntary_switches_high",
    "statuses",
    "target",
    "server_cpu_ns",
    "server_cpu_low_ns",
    "server_cpu_high_ns",
    "waiting_ns",
    "waiting_low_ns",
    "waiting_high_ns",
    "overlap_ns",
    "overlap_low_ns",
    "overlap_high_ns",
    "p50_ns",
    "p50_low_ns",
    "p50_high_ns",
    "p90_ns",
    "p90_low_ns",
    "p90_high_ns",
    "p99_ns",
    "p99_low_ns",
    "p99_high_ns",
    "p999_ns",
    "p999_low_ns",
    "p999_high_ns",
    "max_ns",
    "max_low_ns",
    "max_high_ns",
];

/// The report as CSV.
pub fn render(report: &Report) -> Result<String, Error> {
    let mut rows = Vec::new();
    for view in View::all(report) {
        for point in 0..view.plan.points.len() {
            for subject in 0..view.plan.subjects.len() {
                rows.push(measured(&view, subject, point));
            }
        }
    }
    let runs = std::iter::once(report.run).chain(report.others);
    rows.extend(runs.flat_map(imported));
    write(&COLUMNS, rows)
}

/// Headings and rows as CSV.
pub(crate) fn write(
    columns: &[&'static str],
    rows: impl IntoIterator<Item = Row>,
) -> Result<String, Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns)?;
    for row in rows {
        writer.write_record(row.values(columns))?;
    }
    text(writer)
}

/// Rows whose fields are the columns; none at all have no headings.
pub fn rows<T: Serialize>(rows: &[T]) -> Result<String, Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| writer.serialize(row))?;
    text(writer)
}

fn text(mut writer: csv::Writer<Vec<u8>>) -> Result<String, Error> {
    writer.flush().map_err(csv::Error::from)?;
    let bytes = writer
        .into_inner()
        .map_err(|e| csv::Error::from(e.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A row by column names.
#[derive(Default)]
pub(crate) struct Row(Vec<(&'static str, String)>);

impl Row {
    pub(crate) fn set(&mut self, column: &'static str, value: impl ToString) {
        self.0.push((column, value.to_string()));
    }

    pub(crate) fn interval(&mut self, columns: [&'static str; 3], interval: &Interval) {
        for (column, value) in
            columns
                .into_iter()
                .zip([interval.estimate, interval.low, interval.high])
        {
            self.number(column, value);
        }
    }

    /// Nothing for what is no number: readers take `inf` and `NaN` for text.
    pub(crate) fn number(&mut self, column: &'static str, value: f64) {
        if value.is_finite() {
            self.set(column, value);
        }
    }

    fn values(&self, columns: &[&'static str]) -> Vec<&str> {
        debug_assert!(
            self.0.iter().all(|(column, _)| columns.contains(column)),
            "one is not a column"
        );
        let value = |column: &&str| {
            self.0
                .iter()
                .find(|(c, _)| c == column)
                .map_or("", |(_, v)| v.as_str())
        };
        columns.iter().map(value).collect()
    }
}

fn measured(view: &View, subject: SubjectId, point: PointId) -> Row {
    let mut row = Row::default();
    let (who, what, case) = (
        &view.plan.subjects[subject],
        &view.plan.points[point],
        view.plan.case(point),
    );
    row.set("run", &view.run.name);
    row.set("subject", &who.name);
    row.set("language", &who.language);
    row.set("driver", &who.driver);
    row.set("case", &case.name);
    let factors = what
        .factors(case)
        .map(|(key, value)| format!("{key}={value}"));
    row.set("factors", factors.collect::<Vec<_>>().join(" "));
    row.set("sweep", case.sweep.as_deref().unwrap_or(""));
    row.set("x", what.x.map_or(String::new(), |x| x.to_string()));
    let target = view.plan.targets.get(who.target);
    row.set("target", target.map_or("", |t| t.kind.name()));
    row.set("role", role(view, subject));
    let (status, note) = match view.standing(subject, point) {
        Standing::Missing(_) if view.failure(subject, point).is_some() => {
            ("failed", trouble(view, subject, point))
        }
        Standing::Missing(_) => ("missing", trouble(view, subject, point)),
        Standing::Unable => {
            let what = view.unable(subject).join(", ");
            ("unable", format!("the subject cannot do {what}"))
        }
        Standing::Apart(cell, _) => {
            figures(&mut row, cell);
            ("refused", trouble(view, subject, point))
        }
        Standing::Compared(cell, comparison) => {
            figures(&mut row, cell);
            compared(&mut row, comparison);
            ("measured", String::new())
        }
        Standing::Control(cell) => {
            figures(&mut row, cell);
            let control = view.analysis.controls.iter().find(|c| c.point == point);
            control.into_iter().for_each(|c| noise(&mut row, c));
            ("measured", String::new())
        }
        Standing::Baseline(cell) | Standing::Overhead(cell) => {
            figures(&mut row, cell);
            ("measured", String::new())
        }
    };
    row.set("status", status);
    row.set("note", note);
    if let Some(command) = &who.command {
        row.set("command", &command.line);
        row.set("revision", command.revision.as_deref().unwrap_or(""));
    }
    let place = (subject, point);
    let costs = &view.analysis.server_costs;
    let cost = costs.iter().find(|c| (c.subject, c.point) == place);
    cost.into_iter().for_each(|cost| split(&mut row, cost));
    let latencies = &view.analysis.latencies;
    let found = latencies.iter().find(|l| (l.subject, l.point) == place);
    found.into_iter().for_each(|l| latency(&mut row, l));
    let uses = view.uses(subject, point).into_iter();
    uses.for_each(|uses| used(&mut row, uses));
    row
}

/// Where the time goes.
fn split(row: &mut Row, cost: &ServerCost) {
    let server = ["server_cpu_ns", "server_cpu_low_ns", "server_cpu_high_ns"];
    if let Some(time) = &cost.server_ns {
        row.interval(server, time);
    }
    let waiting = ["waiting_ns", "waiting_low_ns", "waiting_high_ns"];
    row.interval(waiting, &cost.waiting_ns);
    let overlap = ["overlap_ns", "overlap_low_ns", "overlap_high_ns"];
    row.interval(overlap, &cost.overlap_ns);
}

/// The latencies of single operations.
fn latency(row: &mut Row, latencies: &LatencyQuantiles) {
    let all = [
        (
            ["p50_ns", "p50_low_ns", "p50_high_ns"],
            Some(latencies.p50_ns),
        ),
        (["p90_ns", "p90_low_ns", "p90_high_ns"], latencies.p90_ns),
        (["p99_ns", "p99_low_ns", "p99_high_ns"], latencies.p99_ns),
        (
            ["p999_ns", "p999_low_ns", "p999_high_ns"],
            latencies.p999_ns,
        ),
        (
            ["max_ns", "max_low_ns", "max_high_ns"],
            Some(latencies.max_ns),
        ),
    ];
    for (columns, quantile) in all {
        if let Some(quantile) = quantile {
            row.interval(columns, &quantile);
        }
    }
}

/// What whole commands used.
fn used(row: &mut Row, uses: &ProcessUse) {
    row.interval(["user_ns", "user_low_ns", "user_high_ns"], &uses.user_ns);
    row.interval(["sys_ns", "sys_low_ns", "sys_high_ns"], &uses.sys_ns);
    let peak = [
        "peak_rss_bytes",
        "peak_rss_low_bytes",
        "peak_rss_high_bytes",
    ];
    row.interval(peak, &uses.peak_rss_bytes);
    let minor = ["minor_faults", "minor_faults_low", "minor_faults_high"];
    row.interval(minor, &uses.minor_faults);
    let major = ["major_faults", "major_faults_low", "major_faults_high"];
    row.interval(major, &uses.major_faults);
    let voluntary = [
        "voluntary_switches",
        "voluntary_switches_low",
        "voluntary_switches_high",
    ];
    row.interval(voluntary, &uses.voluntary_switches);
    let involuntary = [
        "involuntary_switches",
        "involuntary_switches_low",
        "involuntary_switches_high",
    ];
    row.interval(involuntary, &uses.involuntary_switches);
    let statuses: Vec<String> = uses.statuses.iter().map(i32::to_string).collect();
    row.set("statuses", statuses.join(" "));
}

fn role(view: &View, subject: SubjectId) -> &'static str {
    match &view.plan.subjects[subject] {
        _ if subject == view.plan.baseline => "baseline",
        s if s.control_of.is_some() => "control",
        s if s.overhead => "overhead",
        s if s.limit => "limit",
        _ => "subject",
    }
}

fn figures(row: &mut Row, cell: &Cell) {
    row.set("blocks", cell.blocks);
    row.interval(["wall_ns", "wall_low_ns", "wall_high_ns"], &cell.wall_ns);
    row.interval(["cpu_ns", "cpu_low_ns", "cpu_high_ns"], &cell.cpu_ns);
    row.interval(
        ["whole_wall_ns", "whole_wall_low_ns", "whole_wall_high_ns"],
        &cell.whole_wall_ns,
    );
    row.interval(
        ["whole_cpu_ns", "whole_cpu_low_ns", "whole_cpu_high_ns"],
        &cell.whole_cpu_ns,
    );
    row.number("level", cell.wall_ns.level);
    row.set(
        "cold_ns",
        cell.cold_ns.map_or(String::new(), |ns| ns.to_string()),
    );
    row.set("warm_up", cell.warm_up.map_or("", warm_up));
}

fn warm_up(class: WarmUp) -> &'static str {
    match class {
        WarmUp::Flat => "flat",
        WarmUp::Warming => "warming",
        WarmUp::Slowing => "slowing",
        WarmUp::NoSteadyState => "no-steady-state",
    }
}

fn compared(row: &mut Row, comparison: &Comparison) {
    row.interval(["ratio", "ratio_low", "ratio_high"], &comparison.ratio);
    row.number("ratio_level", comparison.ratio.level);
    row.number("p", comparison.p);
    row.set("verdict", verdict_word(&comparison.verdict));
    if let lab_stats::analysis::Verdict::Inconclusive {
        blocks_needed: Some(n),
    } = comparison.verdict
    {
        row.set("blocks_needed", n);
    }
    row.interval(
        ["whole_ratio", "whole_ratio_low", "whole_ratio_high"],
        &comparison.whole_ratio,
    );
    row.interval(
        ["cpu_ratio", "cpu_ratio_low", "cpu_ratio_high"],
        &comparison.cpu_ratio,
    );
    row.set("disagree", comparison.disagree);
    row.set("merged", comparison.merged);
}

fn noise(row: &mut Row, control: &Control) {
    row.interval(["ratio", "ratio_low", "ratio_high"], &control.ratio);
    row.number("ratio_level", control.ratio.level);
    row.set(
        "verdict",
        if control.met {
            "noise floor met"
        } else {
            "noise floor not met"
        },
    );
}

fn trouble(view: &View, subject: SubjectId, point: PointId) -> String {
    let failure = view
        .failure(subject, point)
        .map(|f| format!("{}: {}", f.kind, f.message));
    failure
        .or_else(|| view.refusal(subject, point).map(|r| r.why.clone()))
        .unwrap_or_default()
}

fn imported(run: &Run) -> impl Iterator<Item = Row> {
    run.imports.iter().flat_map(|import| {
        import.times.iter().map(|time| {
            let mut row = Row::default();
            row.set("run", &run.name);
            row.set("language", &import.language);
            row.set("driver", &import.driver);
            row.set("case", &time.title);
            row.set("status", "imported");
            row.number("wall_ns", time.time_ns);
            row.set("operations", time.count);
            row.set("note", "imported: a single reading without interval");
            row
        })
    })
}
