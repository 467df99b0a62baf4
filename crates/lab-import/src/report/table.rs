// SPDX-License-Identifier: Apache-2.0
//! Cells and rows that the documents share.

use lab_document::{Cell, Quantity, Row, Tone};
use lab_model::{ImportedSeries, Interval, Unit};
use lab_stats::analysis::Verdict;
use lab_stats::processes::{self, ProcessChange};

use crate::wording;

/// The maximum number of rows of a table on the first screen. Longer tables get a section.
pub const ROWS: usize = 30;

/// Returns the typical value of a series.
///
/// The value has an interval only if the series was measured in multiple processes.
pub fn typical(series: &ImportedSeries) -> Option<Quantity> {
    let interval = processes::typical(series)?;
    Some(quantity(&interval, &series.metric.unit))
}

/// Converts an interval to a quantity, or to a plain number if the interval's level is 0.
pub fn quantity(interval: &Interval, unit: &Unit) -> Quantity {
    if interval.level > 0.0 {
        Quantity::estimate(interval, unit.clone())
    } else {
        Quantity::exact(interval.estimate, unit.clone())
    }
}

/// Returns a cell that shows a change with its verdict.
pub fn change(change: Option<&ProcessChange>, series: &ImportedSeries) -> Cell {
    let Some(change) = change else {
        return Cell::from("–");
    };
    let cell = Cell::from(quantity(&change.ratio, &Unit::Ratio));
    match &change.verdict {
        Some(verdict) => cell
            .with_note(wording::verdict(&series.metric, verdict))
            .with_tone(tone(verdict)),
        None => cell.with_note("no verdict"),
    }
}

/// Returns the tone of a verdict.
pub fn tone(verdict: &Verdict) -> Tone {
    match verdict {
        Verdict::Faster | Verdict::SmallButReal { faster: true } => Tone::Better,
        Verdict::Slower | Verdict::SmallButReal { faster: false } => Tone::Worse,
        Verdict::Equivalent => Tone::Same,
        Verdict::Inconclusive { .. } => Tone::Inconclusive,
    }
}

/// Returns the machine-readable row of a series.
pub fn row(
    run: &str,
    subject: &str,
    series: &ImportedSeries,
    change: Option<&ProcessChange>,
) -> Row {
    let verdict = change.and_then(|change| change.verdict.as_ref());
    Row {
        role: "imported".into(),
        case: series.case.clone(),
        params: series.params.clone(),
        value: typical(series),
        ratio: change.map(|change| quantity(&change.cost, &Unit::Ratio)),
        p: change.map(|change| change.p).filter(|p| p.is_finite()),
        verdict: verdict.map_or(String::new(), |v| wording::identifier(v).into()),
        blocks: Some(series.processes.len() as u32),
        samples: processes::values(series),
        note: if series.processes.len() == 1 {
            "one process: no verdict".into()
        } else {
            String::new()
        },
        ..Row::new(run, subject, series.metric.clone())
    }
}

/// Formats the numbers of processes and values: `10`, or `3 of 5 values` if processes have multiple
/// values.
pub fn processes(series: &ImportedSeries) -> String {
    let values: usize = series.processes.iter().map(Vec::len).sum();
    let count = series.processes.len();
    if values == count {
        count.to_string()
    } else if values.is_multiple_of(count) {
        format!("{count} of {} values", values / count)
    } else {
        format!("{count} ({values} values)")
    }
}
