// SPDX-License-Identifier: Apache-2.0
//! Cells of tables: a value, its ratio to the baseline's value with the verdict on it, or the
//! reason for a missing value.

use super::measured::SubjectScope;
use super::scope::Scope;
use lab_document::say;
use lab_document::{Cell, Quantity, Tone};
use lab_model::{Direction, Interval, Metric, RESPONSE_TIMES, SERVICE_TIMES, Unit};
use lab_stats::analysis::Verdict;

/// The cell for a value that is missing because the subject cannot do the work.
pub const UNABLE: &str = "—";

/// The cell for a value that is missing for another reason.
pub const NONE: &str = "–";

/// The verdicts in the order in which they are counted. Each has an identifier for data and a text
/// for display.
const VERDICTS: [(&str, &str); 5] = [
    ("faster", "faster"),
    ("slower", "slower"),
    ("equivalent", "equivalent"),
    ("small-but-real", "small but real"),
    ("inconclusive", "inconclusive"),
];

/// Returns a cell with a quantity, or with a dash if there is no quantity.
pub fn or_none(quantity: Option<Quantity>) -> Cell {
    quantity.map_or(NONE.into(), Cell::from)
}

/// Returns a cell with a time in nanoseconds, or an empty cell if there is no time.
pub fn time(ns: Option<f64>) -> Cell {
    ns.map(|ns| Quantity::exact(ns, Unit::Nanoseconds)).into()
}

/// Returns a cell with a value, or with the reason for its absence.
pub fn value(scope: &Scope, subject_scope: SubjectScope, metric: &Metric) -> Cell {
    let Some(quantity) = scope.quantity(subject_scope, metric) else {
        let timed = RESPONSE_TIMES.contains(metric) || SERVICE_TIMES.contains(metric);
        return if timed && scope.cell(subject_scope, &Metric::BACKLOG).is_some() {
            Cell::from("overloaded").with_tone(Tone::Alarm)
        } else {
            missing(scope, subject_scope)
        };
    };
    let failed = *metric == Metric::ERRORS && quantity.value > 0.0;
    let cell = Cell::from(quantity);
    if failed {
        cell.with_note(failed_fraction(scope, subject_scope))
            .with_tone(Tone::Alarm)
    } else if *metric == Metric::THROUGHPUT && is_saturated(scope, subject_scope) {
        limited(cell)
    } else {
        cell
    }
}

/// Marks a rate that was limited by the load generator, not by the server.
pub fn limited(rate: Cell) -> Cell {
    rate.with_note("the generator was the limit")
        .with_tone(Tone::Alarm)
}

/// Returns true if the load generator, not the server, was the limit.
pub fn is_saturated(scope: &Scope, (subject, point): SubjectScope) -> bool {
    let mut saturated = scope.results.saturated.iter();
    saturated.any(|&(s, p)| (s, Some(p)) == (subject, point))
}

/// Formats the fraction of failed requests, such as `3 %`.
fn failed_fraction(scope: &Scope, subject_scope: SubjectScope) -> String {
    let count = |metric| {
        scope
            .quantity(subject_scope, metric)
            .map_or(0.0, |q| q.value)
    };
    let (failed, served) = (count(&Metric::ERRORS), count(&Metric::SERVED));
    say::percent(failed / (failed + served).max(1.0))
}

/// Returns a cell with a ratio to the baseline and its verdict as a note, or with the reason for
/// the missing ratio.
pub fn ratio(scope: &Scope, subject_scope: SubjectScope, metric: &Metric) -> Cell {
    let (subject, point) = subject_scope;
    if let Some(comparison) = scope.comparison(subject_scope, metric) {
        return judged(&comparison.ratio, metric, comparison.verdict.as_ref());
    }
    if scope.cell(subject_scope, metric).is_none() {
        return missing(scope, subject_scope);
    }
    let planned = &scope.plan.subjects[subject];
    if subject == scope.base() {
        Quantity::exact(1.0, Unit::Ratio).into()
    } else if planned.control_of.is_some() {
        match point.and_then(|p| scope.results.control(p, metric)) {
            Some(control) if control.met => Quantity::ratio(&control.ratio).into(),
            Some(control) => Cell::from(Quantity::ratio(&control.ratio))
                .with_note("noise floor not met")
                .with_tone(Tone::Alarm),
            None => NONE.into(),
        }
    } else if scope.exclusion(subject_scope).is_some() {
        Cell::from("not compared").with_tone(Tone::Alarm)
    } else {
        NONE.into()
    }
}

/// Returns a cell with a ratio and the verdict on it.
pub fn judged(ratio: &Interval, metric: &Metric, verdict: Option<&Verdict>) -> Cell {
    with_verdict(Quantity::ratio(ratio).into(), metric, verdict)
}

/// Adds a verdict to a cell.
pub fn with_verdict(cell: Cell, metric: &Metric, verdict: Option<&Verdict>) -> Cell {
    match verdict {
        Some(verdict) => cell
            .with_note(word(metric, verdict))
            .with_tone(tone(verdict)),
        None => cell,
    }
}

/// Returns a cell with the reason for a missing value.
pub fn missing(scope: &Scope, subject_scope: SubjectScope) -> Cell {
    let (subject, point) = subject_scope;
    if point.is_some_and(|p| !scope.plan.takes_part(subject, p)) {
        return UNABLE.into();
    }
    let reason = match scope.failure(subject_scope) {
        Some(failure) => format!("failed: {}", failure.kind),
        None if scope.exclusion(subject_scope).is_some() => "not compared".into(),
        // Without any value at this point, the subject was not measured here. Otherwise, the metric may not apply to
        // it.
        None if point.is_some() && !scope.knows(subject_scope) => "not measured".into(),
        None => return NONE.into(),
    };
    Cell::from(reason).with_tone(Tone::Alarm)
}

/// Returns a cell with the number of verdicts of each kind, such as `12 slower, 2 equivalent`.
pub fn counted(verdicts: &[Verdict]) -> Cell {
    let cell = Cell::from(counts(verdicts));
    match verdicts {
        [first, others @ ..] if others.iter().all(|v| tone(v) == tone(first)) => {
            cell.with_tone(tone(first))
        }
        _ => cell,
    }
}

/// Formats the number of verdicts of each kind, such as `12 slower, 2 equivalent`.
pub fn counts(verdicts: &[Verdict]) -> String {
    let parts = VERDICTS.iter().filter_map(|(id, word)| {
        let same = verdicts.iter().filter(|v| identifier(v) == *id).count();
        (same > 0).then(|| format!("{same} {word}"))
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// Returns a word for a verdict. For counts, costs and sizes, the words are "less" and "more"
/// instead of "faster" and "slower".
pub fn word(metric: &Metric, verdict: &Verdict) -> &'static str {
    let is_time = metric.unit == Unit::Nanoseconds && !metric.id.contains("cpu");
    let is_time = is_time || *metric == Metric::THROUGHPUT || metric.unit == Unit::Ratio;
    let (better, worse) = match metric.better {
        Direction::More => ("more", "less"),
        Direction::Less | Direction::Neither => ("less", "more"),
    };
    match verdict {
        Verdict::Faster if !is_time => better,
        Verdict::Slower if !is_time => worse,
        verdict => verdict_words(verdict).1,
    }
}

/// Returns the verdict's identifier in CSV and other data formats, regardless of the metric.
pub fn identifier(verdict: &Verdict) -> &'static str {
    verdict_words(verdict).0
}

fn verdict_words(verdict: &Verdict) -> (&'static str, &'static str) {
    VERDICTS[match verdict {
        Verdict::Faster => 0,
        Verdict::Slower => 1,
        Verdict::Equivalent => 2,
        Verdict::SmallButReal { .. } => 3,
        Verdict::Inconclusive { .. } => 4,
    }]
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

/// Returns the tone of a ratio, which is the tone of its verdict. Without a verdict, the tone
/// depends on the side of 1 on which the interval lies.
pub fn tone_of(ratio: &Interval, verdict: Option<&Verdict>) -> Tone {
    match verdict {
        Some(verdict) => tone(verdict),
        None if ratio.high < 1.0 => Tone::Better,
        None if ratio.low > 1.0 => Tone::Worse,
        None => Tone::Inconclusive,
    }
}
