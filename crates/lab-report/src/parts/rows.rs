// SPDX-License-Identifier: Apache-2.0
//! Every value of a run as a machine-readable row. Rows include comparisons.

use super::cell;
use super::costs::FactorValues;
use super::findings;
use super::measured::{Measured, SubjectScope};
use crate::wording;
use lab_document::{Quantity, Row};
use lab_model::{CaseId, Direction, Imported, Metric, PointId, Run, SubjectId, Unit};
use lab_stats::analysis::Verdict;
use lab_stats::processes;
use lab_stats::results::{Cell, Comparison, Control, Effect, Overall};
use lab_stats::table::BatchTable;
use std::collections::BTreeMap;

/// Returns the rows: all values, subjects without values, means over points, effects, and imported values.
pub fn rows(measured: &Measured) -> Vec<Row> {
    let results = measured.results;
    let table = BatchTable::new(measured.run, measured.plan);
    let row = |cell| Row {
        samples: samples(&table, cell),
        ..figure(measured, cell)
    };
    let mut rows: Vec<Row> = results.cells.iter().map(row).collect();
    // A ratio can be known even if the metric itself has no value.
    for comparison in &results.comparisons {
        let subject_scope = (comparison.key.subject, comparison.key.point);
        if measured
            .cell(subject_scope, &comparison.key.metric)
            .is_none()
        {
            let mut row = self::row(measured, subject_scope, comparison.key.metric.clone());
            compare(measured, &mut row, comparison);
            rows.push(row);
        }
    }
    rows.extend(operations(measured));
    rows.extend(results.overall.iter().map(|o| overall(measured, o)));
    rows.extend(results.effects.iter().map(|e| effect(measured, e)));
    rows.extend(absent(measured));
    let imports = std::iter::once(measured.run).chain(measured.others);
    rows.extend(imports.flat_map(imported_rows));
    rows
}

/// Returns the time of an operation in each block. Empty for metrics other than the time.
fn samples(table: &BatchTable, cell: &Cell) -> Vec<f64> {
    match cell.key.point {
        Some(point) if cell.key.metric == Metric::WALL => {
            let visits = table.visits(cell.key.subject, point);
            visits.flatten().map(|visit| visit.wall_ns).collect()
        }
        _ => Vec::new(),
    }
}

fn figure(measured: &Measured, cell: &Cell) -> Row {
    let metric = &cell.key.metric;
    let subject_scope = (cell.key.subject, cell.key.point);
    let mut row = row(measured, subject_scope, metric.clone());
    row.value = Some(super::measured::figure(cell));
    row.blocks = Some(cell.blocks);
    if let Some(comparison) = measured.comparison(subject_scope, metric) {
        compare(measured, &mut row, comparison);
    } else if let Some(control) = control_of(measured, subject_scope, metric) {
        row.ratio = Some(Quantity::ratio(&control.ratio));
        row.note = if control.met {
            "noise floor met".into()
        } else {
            "noise floor not met".into()
        };
    }
    row
}

/// Returns rows with the number of timed operations, for points at which no cell contains it.
fn operations(measured: &Measured) -> Vec<Row> {
    let mut counts: BTreeMap<(PointId, SubjectId), u64> = BTreeMap::new();
    for sample in measured.run.complete_blocks().flat_map(|b| &b.samples) {
        *counts.entry((sample.point, sample.subject)).or_default() += sample.batch.operations;
    }
    let counts = counts
        .into_iter()
        .map(|((point, subject), count)| ((subject, Some(point)), count));
    let unknown = counts
        .filter(|(subject_scope, _)| measured.cell(*subject_scope, &Metric::OPERATIONS).is_none());
    let rows = unknown.map(|(subject_scope, count)| Row {
        value: Some(Quantity::exact(count as f64, Metric::OPERATIONS.unit)),
        ..row(measured, subject_scope, Metric::OPERATIONS)
    });
    rows.collect()
}

fn row(measured: &Measured, (subject, point): SubjectScope, metric: Metric) -> Row {
    let plan = measured.plan;
    let planned = plan.subjects.get(subject);
    let target = planned.and_then(|s| plan.targets.get(s.target));
    let point = point.and_then(|p| plan.points.get(p));
    let case = point.and_then(|p| plan.cases.get(p.case));
    let name = planned.map_or("?", |s| &s.name);
    Row {
        role: role(measured, subject).into(),
        target: target.map_or(String::new(), |t| t.kind.name().into()),
        case: case.map_or(String::new(), |c| c.name.clone()),
        params: point.map_or(Vec::new(), |p| p.params.clone()),
        ..Row::new(&measured.run.name, name, metric)
    }
}

fn role(measured: &Measured, subject: SubjectId) -> &'static str {
    let Some(planned) = measured.plan.subjects.get(subject) else {
        return "";
    };
    if planned.overhead {
        "overhead"
    } else if planned.control_of.is_some() {
        "control"
    } else if subject == measured.baseline(planned.target) {
        "baseline"
    } else if planned.reference {
        "reference"
    } else {
        ""
    }
}

fn compare(measured: &Measured, row: &mut Row, comparison: &Comparison) {
    row.ratio = Some(Quantity::ratio(&comparison.ratio));
    row.p = comparison.p;
    row.verdict = verdict(comparison.verdict.as_ref());
    let mut notes = Vec::new();
    if let Some(Verdict::Inconclusive {
        blocks_needed: Some(n),
    }) = comparison.verdict
    {
        let needed = findings::replicates(measured, n as usize);
        notes.push(wording::replicates_would_resolve(needed));
    }
    if comparison.merged {
        notes.push("adjacent blocks merged".into());
    }
    row.note = notes.join("; ");
}

fn control_of<'a>(
    measured: &Measured<'a>,
    (subject, point): SubjectScope,
    metric: &Metric,
) -> Option<&'a Control> {
    let planned = measured.plan.subjects.get(subject)?;
    let is_copy = planned.control_of == Some(measured.baseline(planned.target));
    measured.results.control(point?, metric).filter(|_| is_copy)
}

/// Builds the row of a mean over points, which has no parameters.
fn overall(measured: &Measured, overall: &Overall) -> Row {
    let alone = match overall.keep_alive {
        Some(false) => ", a connection for each request",
        _ => "",
    };
    Row {
        ratio: Some(Quantity::ratio(&overall.ratio)),
        p: overall.p,
        verdict: verdict(overall.verdict.as_ref()),
        case: case(measured, overall.case),
        note: format!("geometric mean over {} points{alone}", overall.points),
        ..row(measured, (overall.subject, None), overall.metric.clone())
    }
}

/// Builds the row of an effect, which is the ratio of a metric between two values of a factor.
///
/// The row contains both values of the factor, the second value first, and the common parameters of
/// the pairs of points.
fn effect(measured: &Measured, effect: &Effect) -> Row {
    let values = FactorValues::new(measured, effect);
    let metric = Metric {
        id: format!("{}_effect", effect.metric.id).into(),
        title: format!("effect on {}", values.metric_title).into(),
        unit: Unit::Ratio,
        better: Direction::Neither,
    };
    let single = match effect.pairs.as_slice() {
        &[(from, _)] => Some(from),
        _ => None,
    };
    let base_row = row(measured, (effect.subject, single), metric);
    let others = base_row
        .params
        .iter()
        .filter(|(key, _)| *key != effect.factor);
    let factor = (
        effect.factor.clone(),
        format!("{} / {}", values.second, values.first),
    );
    Row {
        case: single.map_or(case(measured, effect.case), |_| base_row.case.clone()),
        params: others.cloned().chain([factor]).collect(),
        value: Some(Quantity::ratio(&effect.ratio)),
        note: values.title(),
        ..base_row
    }
}

fn case(measured: &Measured, case: Option<CaseId>) -> String {
    let case = case.and_then(|c| measured.plan.cases.get(c));
    case.map_or(String::new(), |c| c.name.clone())
}

fn verdict(verdict: Option<&Verdict>) -> String {
    verdict.map_or(String::new(), |v| cell::identifier(v).into())
}

/// Returns rows for subjects that have no value at a point, with the reason.
fn absent(measured: &Measured) -> Vec<Row> {
    let plan = measured.plan;
    let mut rows = Vec::new();
    for subject in plan.subjects.ids() {
        for point in plan.points.ids() {
            let is_on_target = plan.subjects[subject].target == plan.points[point].target;
            let subject_scope = (subject, Some(point));
            if !is_on_target || measured.knows(subject_scope) {
                continue;
            }
            let mut row = row(measured, subject_scope, Metric::WALL);
            row.note = match (
                plan.takes_part(subject, point),
                measured.failure(subject_scope),
                measured.exclusion(subject_scope),
            ) {
                (false, ..) => "not supported".into(),
                (true, Some(failure), _) => format!("failed: {}", failure.kind),
                (true, None, Some(exclusion)) => wording::exclusion(&exclusion.reason),
                (true, None, None) => "not measured".into(),
            };
            rows.push(row);
        }
    }
    rows
}

/// Returns the rows of values that another tool measured.
pub fn imported_rows(run: &Run) -> Vec<Row> {
    let imports = run.imports().iter();
    imports
        .flat_map(|import| import_rows(run, import))
        .collect()
}

/// Metrics of a whole process that imported files may contain.
pub static PROCESS_METRICS: [Metric; 5] = [
    Metric::THREADS,
    Metric::MEMORY,
    Metric::PEAK_MEMORY,
    Metric::USER_CPU,
    Metric::SYSTEM_CPU,
];

/// Returns the values of [`PROCESS_METRICS`] in an imported benchmark, in the units of these metrics.
pub fn process_values(import: &Imported) -> [Option<u64>; 5] {
    [
        import.threads,
        import.rss_bytes,
        import.peak_rss_bytes,
        import.user_ns,
        import.sys_ns,
    ]
}

/// Returns the name of an imported subject.
pub fn name(import: &Imported) -> String {
    if !import.subject.is_empty() {
        return import.subject.clone();
    }
    let name = format!("{} {}", import.language, import.driver);
    name.trim().into()
}

fn import_rows(run: &Run, import: &Imported) -> Vec<Row> {
    let row = |case: &str, metric: &Metric, value: f64| Row {
        role: "imported".into(),
        case: case.into(),
        value: Some(Quantity::exact(value, metric.unit.clone())),
        ..Row::new(&run.name, &name(import), metric.clone())
    };
    let times = import.times.iter().flat_map(|time| {
        [
            row(&time.title, &Metric::MEAN_WALL, time.time_ns),
            row(&time.title, &Metric::OPERATIONS, time.count as f64),
        ]
    });
    let of_process = PROCESS_METRICS.iter().zip(process_values(import));
    let of_process = of_process.filter_map(|(metric, value)| Some(row("", metric, value? as f64)));
    let series = import.series.iter().map(|series| Row {
        params: series.params.clone(),
        value: processes::typical(series)
            .map(|i| Quantity::estimate(&i, series.metric.unit.clone())),
        blocks: Some(series.processes.len() as u32),
        samples: processes::values(series),
        ..row(&series.case, &series.metric, 0.0)
    });
    times.chain(of_process).chain(series).collect()
}
