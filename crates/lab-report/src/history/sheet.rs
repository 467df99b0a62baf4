// SPDX-License-Identifier: Apache-2.0
//! A history as tables to read: one for each subject and baseline, the oldest run first.

use super::Known;
use super::record::Record;
use crate::content::{MARKS, Room, count, mark, minute, tone};
use crate::number::{Quantity, brief_in, full, range, short, whole};
use crate::spark;
use crate::table::{Cell, Table, Tone};
use lab_stats::analysis::Interval;

/// Tables and notes under one title.
pub struct Sheet {
    /// What it is about.
    pub title: String,
    /// With titles of their own.
    pub tables: Vec<Table>,
    /// What to know about all of them.
    pub notes: Vec<String>,
}

/// A letter for what is other in a run than in the latest, or wanting.
type Remark = (char, fn(&Record) -> bool, &'static str);

const REMARKS: [Remark; 6] = [
    (
        'h',
        |r| r.other_host,
        "another host (cpu or kernel) than in the latest run",
    ),
    (
        'b',
        |r| r.other_baseline,
        "another program of the baseline than in the latest run",
    ),
    (
        's',
        |r| r.other_subject,
        "another program of the subject than in the latest run",
    ),
    (
        'p',
        |r| r.other_points,
        "other points than in the latest run",
    ),
    (
        'f',
        |r| r.few_blocks,
        "too few blocks for the level that was asked for",
    ),
    ('u', |r| !r.ended, "the run has not ended"),
];

/// What has no figure.
const NONE: &str = "–";

/// The runs of one name.
pub fn history(name: &str, records: &[Record], room: Room) -> Sheet {
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for pair in records.iter().map(|r| (r.subject.as_str(), r.baseline)) {
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    let of = |pair: &(&str, &str)| {
        let mine = records
            .iter()
            .filter(|r| (r.subject.as_str(), r.baseline) == *pair);
        let mine: Vec<&Record> = mine.collect();
        match mine.iter().any(|r| r.case.is_some()) {
            true => case_table(&mine, room),
            false => table(&mine, room),
        }
    };
    let mut runs: Vec<&str> = records.iter().map(|r| r.run).collect();
    runs.dedup();
    Sheet {
        title: format!("History of {name}: {}", count(runs.len(), "run")),
        tables: pairs.iter().map(of).collect(),
        notes: notes(records),
    }
}

/// The names that there are.
pub fn names(folder: &str, names: &[Known]) -> Sheet {
    let title = "What `benchlab history NAME` shows";
    let mut table = Table::new(title, ["name", "runs", "last (UTC)"].map(String::from));
    for known in names {
        table.rows.push(vec![
            known.name.as_str().into(),
            known.runs.to_string().into(),
            minute(known.last_unix_s).into(),
        ]);
    }
    let none = "There are none; `benchlab run sql --quick` makes one.";
    let (tables, notes) = match names {
        [] => (Vec::new(), vec![none.into()]),
        _ => (vec![table], Vec::new()),
    };
    Sheet {
        title: format!("Runs in {folder}"),
        tables,
        notes,
    }
}

/// The runs of one subject.
fn table(records: &[&Record], room: Room) -> Table {
    let columns = [
        "began (UTC)",
        "revision",
        "ratio",
        "verdict",
        "baseline",
        "p99",
        "errors",
        "blocks",
        "mark",
    ];
    let mut table = Table::new(title(records), columns.map(String::from));
    for text in [1, 3, 8] {
        table.columns[text].numeric = false;
    }
    table.rows = records.iter().map(|r| row(r, room)).collect();
    for optional in [8, 6, 5, 4, 1] {
        let empty = |row: &Vec<Cell>| ["", NONE].contains(&row[optional].text.as_str());
        if table.rows.iter().all(empty) {
            table.columns.remove(optional);
            table
                .rows
                .iter_mut()
                .for_each(|row| drop(row.remove(optional)));
        }
    }
    table
}

/// The runs of one server, whose cases stand side by side.
fn case_table(records: &[&Record], room: Room) -> Table {
    let mut cases: Vec<&str> = Vec::new();
    let mut runs: Vec<&str> = Vec::new();
    for record in records {
        let case = record.case.unwrap_or_default();
        if !cases.contains(&case) {
            cases.push(case);
        }
        if !runs.contains(&record.run) {
            runs.push(record.run);
        }
    }
    let columns = ["began (UTC)"].into_iter().chain(cases.iter().copied());
    let columns = columns.chain(["blocks", "mark"]);
    let title = format!(
        "{}, CPU time of a request / {}'s",
        records[0].subject, records[0].baseline
    );
    let mut table = Table::new(title, columns.map(String::from));
    for run in runs {
        let mine: Vec<&&Record> = records.iter().filter(|r| r.run == run).collect();
        let ratio = |case: &&str| {
            let record = mine.iter().find(|r| r.case.unwrap_or_default() == *case);
            record.map_or(NONE.into(), |record| case_cell(record, room))
        };
        let first = mine[0];
        let remarks = REMARKS
            .iter()
            .filter(|(_, is, _)| mine.iter().any(|r| is(r)));
        let mut row = vec![Cell::from(minute(first.started_unix_s.unwrap_or_default()))];
        row.extend(cases.iter().map(ratio));
        row.push(first.blocks.to_string().into());
        row.push(
            remarks
                .map(|(letter, ..)| letter)
                .collect::<String>()
                .into(),
        );
        table.rows.push(row);
    }
    if table
        .rows
        .iter()
        .all(|row| row.last().is_none_or(|cell| cell.text.is_empty()))
    {
        table.drop_columns(&["mark"]);
    }
    table
}

/// A ratio with the mark of its verdict, or why there is none.
fn case_cell(record: &Record, room: Room) -> Cell {
    let (Some(ratio), Some(verdict)) = (&record.shown_ratio, record.verdicts.first()) else {
        let missing = record.verdict.filter(|_| record.verdicts.is_empty());
        return Cell::from(missing.unwrap_or(NONE)).tone(Tone::Alarm);
    };
    let ratio = match room {
        Room::Narrow => brief_in(1.0, "", ratio),
        Room::Wide => full(Quantity::Ratio, ratio),
    };
    Cell::from(format!("{ratio}{}", mark(verdict))).tone(tone(verdict))
}

/// `java, ratio to c: ▃▄▃▇ (1.38 to 1.52)`; the range is that of the intervals, so that noise is
/// not drawn large.
fn title(records: &[&Record]) -> String {
    let Record {
        subject, baseline, ..
    } = records[0];
    if records[0].alone {
        return format!("{subject}, with nothing to compare");
    }
    let bounds = |of: fn(&Interval) -> f64| {
        let ratios = records.iter().filter_map(|r| r.shown_ratio.as_ref());
        ratios.map(of).collect::<Vec<_>>()
    };
    let low = bounds(|r| r.low).into_iter().fold(f64::INFINITY, f64::min);
    let high = bounds(|r| r.high).into_iter().fold(0.0, f64::max);
    let bars = match bounds(|r| r.estimate).len() {
        0 | 1 => String::new(),
        _ => format!(
            ": {} ({})",
            spark::bars(records.iter().map(|r| r.ratio), low, high),
            range(Quantity::Ratio, low, high),
        ),
    };
    format!("{subject}, ratio to {baseline}{bars}")
}

fn row(record: &Record, room: Room) -> Vec<Cell> {
    let interval = |quantity, interval: &Option<Interval>| match (interval, room) {
        (None, _) => NONE.into(),
        (Some(i), Room::Narrow) => short(quantity, i),
        (Some(i), Room::Wide) => full(quantity, i),
    };
    let remarks = REMARKS.iter().filter(|(_, is, _)| is(record));
    vec![
        minute(record.started_unix_s.unwrap_or_default()).into(),
        record.revision.map(abbreviated).unwrap_or_default().into(),
        interval(Quantity::Ratio, &record.shown_ratio).into(),
        verdict(record),
        interval(Quantity::Time, &record.shown_time).into(),
        interval(Quantity::Time, &record.shown_p99).into(),
        errors(record),
        record.blocks.to_string().into(),
        remarks
            .map(|(letter, ..)| letter)
            .collect::<String>()
            .into(),
    ]
}

/// How many requests of a load failed.
fn errors(record: &Record) -> Cell {
    match record.failed {
        None => NONE.into(),
        Some(0) => "0".into(),
        Some(failed) => Cell::from(whole(failed)).tone(Tone::Alarm),
    }
}

/// In a word, or with several points how many of each kind: `12> 2=`.
fn verdict(record: &Record) -> Cell {
    if let Some(word) = record.verdict {
        let tone = record.verdicts.first().map_or(Tone::Alarm, tone);
        return Cell::from(word).tone(tone);
    }
    let of = |sign| record.verdicts.iter().filter(move |v| mark(v) == sign);
    let kinds = ['<', '>', '=', '~', '?'].map(|sign| (of(sign).count(), sign));
    let parts = kinds.iter().filter(|(n, _)| *n > 0);
    let parts: Vec<String> = parts.map(|(n, sign)| format!("{n}{sign}")).collect();
    let mut tones = record.verdicts.iter().map(tone);
    let first = tones.next().unwrap_or_default();
    let all = tones.all(|tone| tone == first);
    Cell::from(parts.join(" ")).tone(if all { first } else { Tone::Plain })
}

fn notes(records: &[Record]) -> Vec<String> {
    let mut notes = vec![
        "Ratios hold across days, since both sides were measured in turns. The baseline's times do not: \
         the host's speed changes too."
            .to_string(),
    ];
    if records.iter().any(|r| r.case.is_some()) {
        notes.push(
            "Servers are compared by the CPU time of a request, a geometric mean over the numbers of connections: \
             below 1 is more requests per CPU second. < less, > more, = equivalent, ~ small but real, ? inconclusive."
                .into(),
        );
    }
    if records.iter().any(|r| r.points > 1 && r.case.is_none()) {
        notes.push(format!(
            "Over several points, ratios are geometric means, and verdicts are counted: {MARKS}. Times are \
             in the reports of the runs."
        ));
    }
    let remarks = REMARKS.iter().filter(|(_, is, _)| records.iter().any(is));
    let remarks: Vec<String> = remarks
        .map(|(letter, _, what)| format!("{letter}: {what}"))
        .collect();
    if !remarks.is_empty() {
        notes.push(remarks.join("; ") + ".");
    }
    notes
}

/// A commit's name, as short as git shows it in a small repository.
fn abbreviated(revision: &str) -> String {
    revision.chars().take(7).collect()
}
