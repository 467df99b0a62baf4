// SPDX-License-Identifier: Apache-2.0
//! The history of an experiment or comparison: a ratio over time, with one row per run and subject.

mod changed;
mod gates;
mod record;
mod summary;
mod tables;

use crate::parts::cell;
use changed::HistoryChanges;
pub use gates::{HistoryCondition, gates};
use lab_document::say::{self, count};
use lab_document::{
    Answer, Axis, Band, Chart, Document, Drawing, Finding, Line, Lines, Quantity, Row, Scale,
    Section, Stroke, Table,
};
use lab_model::{Direction, Interval, Metric, TargetKind, Unit};
use record::{HistoryRow, records};
pub use summary::RunSummary;

/// An experiment or comparison with at least one run.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedRuns {
    /// The experiment's or the comparison's name.
    pub name: String,
    /// The number of runs.
    pub runs: usize,
    /// The start time of the latest run, in seconds since 1970.
    pub last_unix_s: f64,
}

/// Builds the history of one experiment or comparison. `runs` starts with the oldest run.
///
/// `subjects` selects subjects by name; an empty list selects all.
pub fn document(name: &str, runs: &[RunSummary], subjects: &[String]) -> Document {
    let mut records = records(runs, subjects);
    let changes = HistoryChanges::new(&records);
    let letters: Vec<&str> = records.iter().map(|r| changes.letter(r)).collect();
    let (answer, note) = (answer(&records, &changes, runs.len()), changes.note());
    let changed = changes.table();
    for (record, letter) in records.iter_mut().zip(letters) {
        record.remarks.insert_str(0, letter);
    }
    let mut document = Document {
        title: format!("History of {name}: {}", count(runs.len(), "run")),
        question: "How did the ratios change from run to run?".into(),
        made: time_span(&records),
        benchlab_version: env!("CARGO_PKG_VERSION").into(),
        answer,
        source: "All samples are in the run files.".into(),
        ..Document::default()
    };
    let mut section = Section::new("Changes");
    section.table(changed);
    section.text(note);
    document.section(section);
    let mut section = Section::new("Run by run");
    let pairs = say::grouped(records.iter().map(|r| ((&r.name, &r.baseline.name), r)));
    for (_, mine) in &pairs {
        section.push(tables::table(mine));
    }
    for note in tables::notes(&records) {
        section.text(note);
    }
    document.section(section);
    document.rows = records.iter().flat_map(rows).collect();
    document
}

/// Builds the list of the experiments and comparisons in a directory. `omitted` is the number of
/// further experiments and comparisons that are not listed.
pub fn names(folder: &str, names: &[NamedRuns], omitted: usize) -> Document {
    let columns = ["name", "runs", "last (UTC)"];
    let mut table = Table::new("", columns).with_caption("The number of runs of each name.");
    for named in names {
        let runs = Quantity::count(named.runs as u64, "runs");
        let last = say::minute(named.last_unix_s);
        table.row(vec![named.name.as_str().into(), runs.into(), last.into()]);
    }
    let headline = match names.len() + omitted {
        0 => "There are no runs: `benchlab run sql --quick` creates one.".to_string(),
        1 => "1 experiment or comparison has runs: `benchlab history NAME` shows it.".to_string(),
        n => format!(
            "{n} experiments and comparisons have runs: `benchlab history NAME` shows one of them."
        ),
    };
    let mut document = Document {
        title: format!("Runs in {folder}"),
        benchlab_version: env!("CARGO_PKG_VERSION").into(),
        answer: Answer {
            headline,
            ..Answer::default()
        },
        rows: names.iter().map(name_row).collect(),
        ..Document::default()
    };
    if !names.is_empty() {
        let mut section = Section::new("Names");
        section.push(table);
        document.section(section);
    }
    document
}

/// Returns the machine-readable row for an experiment or comparison, with its number of runs.
fn name_row(named: &NamedRuns) -> Row {
    let unit = Unit::Count("runs".into());
    let metric = Metric::new("runs", "runs", unit.clone(), Direction::Neither);
    Row {
        value: Some(Quantity::exact(named.runs as f64, unit)),
        note: say::minute(named.last_unix_s),
        ..Row::new("", &named.name, metric)
    }
}

/// Formats the time span from the first to the last run.
fn time_span(records: &[HistoryRow]) -> String {
    let times = records.iter().filter_map(HistoryRow::started_unix_s);
    say::extremes(times).map_or(String::new(), |(first, last)| {
        format!("{} to {} UTC", say::minute(first), say::minute(last))
    })
}

fn answer(records: &[HistoryRow], changes: &HistoryChanges, run_count: usize) -> Answer {
    let mut lines: Vec<Line> = Vec::new();
    let mut subjects = say::grouped(records.iter().map(|r| (r.line(), r)));
    // Cases of the same subject are next to each other.
    let mut names: Vec<&str> = subjects.iter().map(|((name, ..), _)| *name).collect();
    names.dedup();
    subjects.sort_by_key(|((name, ..), _)| names.iter().position(|other| other == name));
    for (_, mine) in &subjects {
        let line = line(mine, lines.len(), records);
        lines.extend((!line.points.is_empty()).then_some(line));
    }
    let runs = run_names(records);
    for (name, points) in changes.levels(&runs) {
        let measured = lines.iter().find(|line| line.name == name);
        let exact = |(x, y): (f64, f64)| (x, Quantity::exact(y, Unit::Ratio));
        let line = Line {
            color: measured.map_or(0, |line| line.color),
            name: format!("{name}, means between changes"),
            stroke: Stroke::Model,
            points: points.into_iter().map(exact).collect(),
            band: Band::Hidden,
        };
        lines.push(line);
    }
    subjects.sort_by(|(_, a), (_, b)| moved(b).total_cmp(&moved(a)));
    let latest = subjects.iter().filter_map(|(_, mine)| finding(mine));
    let changed = changes.findings().into_iter();
    let findings = changed.chain(latest.map(Finding::plain));
    let headline = match (records, run_count) {
        ([], 0) => "There are no runs with this name.".to_string(),
        // Profiles have no ratios, but sections of their own.
        ([], n) => format!("No ratios in {}: nothing was compared.", count(n, "run")),
        _ => String::new(),
    };
    Answer {
        headline,
        chart: chart(records, lines),
        findings: findings.take(Answer::MAX_FINDINGS).collect(),
        undecided: changes.open(),
        ..Answer::default()
    }
}

fn chart(records: &[HistoryRow], lines: Vec<Line>) -> Option<Chart> {
    let ratio = format!("ratio to {}", records.first()?.baseline.name);
    let runs = Unit::Count("runs".into());
    (!lines.is_empty()).then(|| Chart {
        id: "history".into(),
        title: format!("{} from run to run", say::capital(&ratio)),
        caption: "Each line is a subject; the bands are the intervals of each run.".into(),
        drawing: Drawing::Lines(Lines {
            x: Axis::new("run, the oldest first", runs, Scale::LinearFromLeast),
            y: Axis::new(ratio, Unit::Ratio, Scale::LinearFromLeast),
            lines,
        }),
    })
}

/// Returns the names of the runs, the oldest first.
fn run_names<'r>(records: &'r [HistoryRow]) -> Vec<&'r str> {
    let mut runs: Vec<&str> = records.iter().map(|r| &*r.summary.run).collect();
    runs.dedup();
    runs
}

fn line(mine: &[&HistoryRow], color: usize, all: &[HistoryRow]) -> Line {
    let runs = run_names(all);
    let point = |r: &&HistoryRow| {
        let position = runs.iter().position(|run| *run == r.summary.run)?;
        Some((position as f64 + 1.0, Quantity::ratio(r.ratio.as_ref()?)))
    };
    Line {
        name: mine[0].title(),
        color,
        stroke: Stroke::Measured,
        points: mine.iter().filter_map(point).collect(),
        band: Band::Shown,
    }
}

/// Returns the minimum and maximum ratio of all runs before the latest run.
fn earlier_range(mine: &[&HistoryRow]) -> Option<(f64, f64)> {
    let before = mine[..mine.len().saturating_sub(1)].iter();
    say::extremes(before.filter_map(|r| Some(r.ratio?.estimate)))
}

/// Returns the distance of the latest ratio from the range of earlier ratios, as a natural
/// logarithm.
fn moved(mine: &[&HistoryRow]) -> f64 {
    let latest = mine.last().and_then(|r| Some(r.ratio?.estimate));
    let Some((ratio, (low, high))) = latest.zip(earlier_range(mine)) else {
        return 0.0;
    };
    (low / ratio).ln().max((ratio / high).ln()).max(0.0)
}

/// Describes the latest ratio: `java's ratio to c is 1.45 (1.40 to 1.51) in the latest of 5 runs; it was 1.38 to 1.52
/// before.`
fn finding(mine: &[&HistoryRow]) -> Option<String> {
    let latest = mine.last().filter(|latest| !latest.is_alone())?;
    let Some(ratio) = latest.ratio else {
        return verdicts(mine, latest);
    };
    let before = earlier_range(mine).map_or(String::new(), |(low, high)| {
        format!("; it was {} before", say::span(low, high))
    });
    let case = latest.case.as_ref();
    let case = case.map_or(String::new(), |case| format!(" in {case}"));
    Some(format!(
        "{}'s ratio to {}{case} is {} in the latest of {}{before}.",
        latest.name,
        latest.baseline.name,
        say::figure(&ratio, &Unit::Ratio, 0.0),
        count(mine.len(), "run"),
    ))
}

/// Counts the verdicts: `ada compared with c, point by point in the latest of 2 runs: 1 slower, 3 equivalent.`
fn verdicts(mine: &[&HistoryRow], latest: &HistoryRow) -> Option<String> {
    let counted = match latest.verdicts.as_slice() {
        [] => return None,
        many => cell::counts(many),
    };
    let (name, base, of) = (
        &latest.name,
        &latest.baseline.name,
        count(mine.len(), "run"),
    );
    Some(format!(
        "{name} compared with {base}, point by point in the latest of {of}: {counted}."
    ))
}

/// Returns the machine-readable rows of a run: the ratio, the baseline's time, the p99 and the errors.
fn rows(record: &HistoryRow) -> Vec<Row> {
    let row = |subject: &str, metric: Metric, value: Option<Quantity>| Row {
        target: record.target.map_or("", TargetKind::name).into(),
        case: record.case.clone().unwrap_or_default(),
        value,
        blocks: Some(record.blocks),
        note: record.remarks.clone(),
        ..Row::new(&record.summary.run, subject, metric)
    };
    let (compared, time_of) = match (&record.case, record.failed) {
        (Some(_), _) => (Metric::SERVER_CPU, Metric::TIME_PER_REQUEST),
        (None, Some(_)) => (Metric::THROUGHPUT, Metric::TIME_PER_REQUEST),
        (None, None) => (Metric::WALL, Metric::WALL),
    };
    let verdict = match record.verdicts.as_slice() {
        [] => record.missing.replace(' ', "-"),
        [only] => cell::identifier(only).into(),
        _ => String::new(),
    };
    let ratio = Row {
        ratio: record.ratio.as_ref().map(Quantity::ratio),
        verdict,
        ..row(&record.name, compared, None)
    };
    let time = |i: &Interval| Quantity::estimate(i, Unit::Nanoseconds);
    let baseline = record.time_ns.as_ref().map(|i| Row {
        role: "baseline".into(),
        ..row(&record.baseline.name, time_of, Some(time(i)))
    });
    let p99 = record.p99_ns.as_ref();
    let p99 = p99.map(|i| row(&record.name, Metric::P99, Some(time(i))));
    let failed = record.failed.map(|n| {
        let count = Quantity::exact(n as f64, Metric::ERRORS.unit);
        row(&record.name, Metric::ERRORS, Some(count))
    });
    let all = [Some(ratio), baseline, p99, failed];
    all.into_iter().flatten().collect()
}
