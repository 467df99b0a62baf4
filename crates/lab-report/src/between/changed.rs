// SPDX-License-Identifier: Apache-2.0
//! The changes between two runs, metric by metric: as a list, a chart and machine-readable rows.

use crate::BetweenReport;
use crate::parts::{cell, charts};
use crate::wording::{changes as wording, replicate_nouns};
use lab_document::say;
use lab_document::{Chart, ForestRow, Quantity, Row};
use lab_model::{Direction, Interval, Metric, Unit};
use lab_stats::analysis::Verdict;
use lab_stats::between::ProgramMatch;
use lab_stats::results::warning::Replicate;

/// The ratio of a subject's time to the baseline's time, treated as a separate metric.
const RATIO: Metric = Metric::new("wall_ratio", "ratio of time", Unit::Ratio, Direction::Less);

/// The change of one metric of a subject at a point.
pub struct ChangedFigure<'a> {
    /// The subject's name.
    pub subject: &'a str,
    /// The point's label.
    pub point: &'a str,
    /// The metric, followed by the point if the run has more than one point, such as `p99 at connections=64`.
    pub title: String,
    /// The metric. For batches and commands, this is the ratio to the baseline's time.
    pub metric: Metric,
    /// The result of comparing the subject's programs in both runs.
    pub program: ProgramMatch,
    /// The values in the first and the second run.
    pub values: [Interval; 2],
    /// The second value divided by the first.
    pub change: Interval,
    /// The verdict on the change.
    pub verdict: Verdict,
}

/// Returns the changes of all metrics for a load. For other runs, returns the changes of the ratios
/// to the baseline.
pub fn changes<'a>(report: &BetweenReport<'a>) -> Vec<ChangedFigure<'a>> {
    let changes = report.between.changes.iter();
    let judged = changes.filter_map(|c| {
        Some(ChangedFigure {
            subject: &c.subject,
            point: &c.point,
            title: String::new(),
            metric: if c.relative { RATIO } else { c.metric.clone() },
            program: c.program,
            values: c.values,
            change: c.change,
            verdict: c.verdict?,
        })
    });
    let mut all: Vec<ChangedFigure> = judged.collect();
    let has_multiple_points = all.windows(2).any(|pair| pair[0].point != pair[1].point);
    for change in &mut all {
        change.title = if has_multiple_points {
            format!("{} at {}", change.metric.title, change.point)
        } else {
            change.metric.title.to_string()
        };
    }
    all
}

/// Returns the noun for multiple units of replication of the first run, such as `blocks`.
pub fn replicates(report: &BetweenReport) -> &'static str {
    let [first, _] = report.runs;
    let unit = first.plan().map(|plan| Replicate::new(first, plan));
    replicate_nouns(unit.unwrap_or(Replicate::Block))
}

/// Builds the chart of changes, with a group for each point and metric.
pub fn chart(report: &BetweenReport, changes: &[&ChangedFigure], id: &str) -> Option<Chart> {
    let drawn = changes.iter().filter(|c| c.change.estimate > 0.0);
    let rows = drawn.map(|change| {
        let tone = cell::tone(&change.verdict);
        let row = ForestRow::new(change.subject, Quantity::ratio(&change.change), tone);
        (change.title.clone(), row)
    });
    let caption = match id {
        "answer" => "The largest changes. Left of 1 is better. The lines are intervals.",
        _ => {
            "Every change. Left of 1 is better. The lines are simultaneous intervals for all rows."
        }
    };
    let axis = "second run / first run".into();
    charts::forest(id, axis, report.between.margin, say::grouped(rows), caption)
}

/// Returns the machine-readable rows: the times, followed by the compared metrics. Rows of the
/// second run include the change.
pub fn rows(report: &BetweenReport, changes: &[ChangedFigure]) -> Vec<Row> {
    let between = report.between;
    let both_runs = |subject: &str, point: &str, metric: &Metric, values, change: &Interval| {
        let values: &[Interval; 2] = values;
        [0, 1].map(|run| Row {
            case: point.into(),
            value: Some(Quantity::estimate(&values[run], metric.unit.clone())),
            ratio: (run == 1).then(|| Quantity::ratio(change)),
            blocks: Some(between.blocks[run]),
            ..Row::new(&report.runs[run].name, subject, metric.clone())
        })
    };
    let mut rows = Vec::new();
    for level in between.times() {
        let role = if level.baseline && between.baseline.is_some() {
            "baseline"
        } else if level.reference {
            "control"
        } else {
            ""
        };
        let (subject, point) = (&level.subject, &level.point);
        let of_level = both_runs(subject, point, &Metric::WALL, &level.values, &level.change);
        rows.extend(of_level.map(|row| Row {
            role: role.into(),
            note: wording::program(level.program).into(),
            ..row
        }));
    }
    for change in changes {
        let note = match change.verdict {
            Verdict::Inconclusive {
                blocks_needed: Some(n),
            } => wording::would_decide_change(n, replicates(report)),
            _ => String::new(),
        };
        let (subject, point, metric) = (change.subject, change.point, &change.metric);
        let [first, second] = both_runs(subject, point, metric, &change.values, &change.change)
            .map(|row| Row {
                note: note.clone(),
                ..row
            });
        let verdict = cell::identifier(&change.verdict).into();
        rows.extend([first, Row { verdict, ..second }]);
    }
    rows
}
