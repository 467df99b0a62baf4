// SPDX-License-Identifier: Apache-2.0
//! What a report on two runs says, before it takes the form of a format: the answer, tables of
//! changes, and sentences on what differs and what that leaves open.

use super::cases::tone;
use super::{Room, count, load};
use crate::between::BetweenReport;
use crate::number::{self, Quantity, full, short};
use crate::table::{Cell, Column, Table};
use crate::view::verdict_word;
use lab_stats::analysis::{Interval, Verdict};
use lab_stats::between::{Change, LevelChange, Program};

/// What is compared: `SQL on SQLite: two runs`.
pub fn title(report: &BetweenReport) -> String {
    let plan = report.runs[0].plan.as_ref();
    format!("{}: two runs", plan.map_or("", |plan| &plan.title))
}

/// The answer in one paragraph: what changed, what the machine did, what limits this.
pub fn answer(report: &BetweenReport) -> String {
    let between = report.between;
    let mut sentences = Vec::new();
    match &between.baseline {
        _ if !between.metrics.is_empty() => {
            sentences.push(format!(
                "From the first run ({}) to the second ({}), the machine's speed included:",
                count(between.blocks[0] as usize, "block"),
                count(between.blocks[1] as usize, "block"),
            ));
            sentences.extend(load::between::standings(report));
            sentences.extend(undecided(report));
        }
        Some(baseline) if !between.changes.is_empty() => {
            sentences.push(format!(
                "From the first run ({}) to the second ({}), by the ratio to {baseline}:",
                count(between.blocks[0] as usize, "block"),
                count(between.blocks[1] as usize, "block"),
            ));
            sentences.extend(subjects(report).into_iter().map(|s| standing(report, s)));
            sentences.extend(undecided(report));
        }
        _ => sentences.push(nothing(report)),
    }
    sentences.extend(machine(report));
    sentences.extend(limits(report));
    sentences.join(" ")
}

/// Points in the order of the report, each with what changed there.
pub fn points<'a>(report: &BetweenReport<'a>) -> Vec<&'a str> {
    let mut points: Vec<&str> = Vec::new();
    let levels = report.between.levels.iter().map(|level| &level.point);
    let metrics = report.between.metrics.iter().map(|metric| &metric.point);
    for point in levels.chain(metrics) {
        if points.last() != Some(&point.as_str()) {
            points.push(point);
        }
    }
    points
}

/// The tables of a point: ratios with verdicts, if something was compared there, and times.
pub fn point_tables(report: &BetweenReport, point: &str, room: Room) -> Vec<Table> {
    let tables = [
        ratio_table(report, point, room),
        time_table(report, point, room),
        load::between::change_table(report, point, room),
    ];
    tables.into_iter().filter(|t| !t.rows.is_empty()).collect()
}

/// What differs between the runs.
pub fn difference_table(report: &BetweenReport) -> Table {
    let mut table = Table::new("What differs", ["what".to_string()])
        .text_column("first run")
        .text_column("second run");
    for difference in &report.between.differences {
        let value = |value: &Option<String>| Cell::from(value.as_deref().unwrap_or("–"));
        table.rows.push(vec![
            difference.what.as_str().into(),
            value(&difference.first),
            value(&difference.second),
        ]);
    }
    table
}

/// The two runs and when they were.
pub fn run_table(report: &BetweenReport) -> Table {
    let mut table = Table::new("The two runs", ["run".to_string()]);
    for title in ["file", "began", "blocks", "benchlab"] {
        table = table.text_column(title);
    }
    for (i, which) in ["first", "second"].into_iter().enumerate() {
        let run = report.runs[i];
        table.rows.push(vec![
            which.into(),
            report.files[i].into(),
            super::started(run).into(),
            report.between.blocks[i].to_string().into(),
            run.lab_version.as_str().into(),
        ]);
    }
    table
}

/// How it was computed, and how far apart the runs are.
pub fn method(report: &BetweenReport) -> String {
    let between = report.between;
    let distance = distance(report.runs[1].started_unix_s - report.runs[0].started_unix_s);
    let (level, margin) = (number::level(between.level), number::level(between.margin));
    match between.metrics.is_empty() {
        true => format!(
            "The second run began {distance} the first. Changes are second / first: Hodges-Lehmann estimates \
             over the blocks of both; those of ratios are simultaneous within a point, asked for: {level}, \
             margin {margin}; those of times hold one by one."
        ),
        false => format!(
            "The second run began {distance} the first. Changes are second / first, of times and costs, so that \
             below 1 is better: of rates, CPU time and memory Hodges-Lehmann estimates over the blocks of both; \
             of percentiles, which are those of all requests of a run, with bootstrap intervals over whole \
             blocks. They are simultaneous within a point, asked for: {level}, margin {margin}."
        ),
    }
}

/// Whether a subject is the same program in both runs, in words.
pub fn program_word(program: Program) -> &'static str {
    match program {
        Program::Same => "same program",
        Program::Changed => "another program",
        Program::Unknown => "not known",
    }
}

fn ratio_table(report: &BetweenReport, point: &str, room: Room) -> Table {
    let between = report.between;
    let baseline = between.baseline.as_deref().unwrap_or("");
    let title = format!("{point}: ratio to {baseline}");
    let mut table = columns(title, &["verdict", "program"]);
    for change in between.changes.iter().filter(|c| c.point == point) {
        let tone = tone(&change.verdict);
        table.rows.push(vec![
            change.subject.as_str().into(),
            figure(Quantity::Ratio, &change.ratios[0], room),
            figure(Quantity::Ratio, &change.ratios[1], room),
            Cell::from(full(Quantity::Ratio, &change.change)).tone(tone),
            Cell::from(verdict_word(&change.verdict)).tone(tone),
            program_word(change.program).into(),
        ]);
    }
    let changes = between.changes.iter().filter(|c| c.point == point);
    let levels = changes.map(|c| c.change.level);
    table.notes.extend(low_level(between.level, levels));
    let margin = between.controls.iter().find(|c| c.point == point);
    if let Some(control) = margin.filter(|control| !control.met) {
        table.notes.push(format!(
            "The control's ratio, in truth the same, changed by {}: the margin is {} here.",
            full(Quantity::Ratio, &control.change),
            number::level(control.margin),
        ));
    }
    table
}

fn time_table(report: &BetweenReport, point: &str, room: Room) -> Table {
    let title = format!("{point}: time of an operation, with the machine's speed in it");
    let mut table = columns(title, &["program"]);
    for level in report.between.levels.iter().filter(|l| l.point == point) {
        table.rows.push(vec![
            level.subject.as_str().into(),
            figure(Quantity::Time, &level.times_ns[0], room),
            figure(Quantity::Time, &level.times_ns[1], room),
            full(Quantity::Ratio, &level.change).into(),
            program_word(level.program).into(),
        ]);
    }
    let levels = report.between.levels.iter().filter(|l| l.point == point);
    let levels = levels.map(|l| l.change.level);
    table
        .notes
        .extend(low_level(report.between.times_level, levels));
    table
}

/// What few blocks mean for the changes in a table, if they are too few.
fn low_level(asked: f64, levels: impl Iterator<Item = f64>) -> Option<String> {
    let least = levels.fold(f64::INFINITY, f64::min);
    (least < asked - 1e-9).then(|| {
        format!(
            "Too few blocks for {}: these changes hold at {}.",
            number::level(asked),
            number::level(least)
        )
    })
}

fn columns(title: String, texts: &[&str]) -> Table {
    let mut table = Table::new(
        title,
        ["subject", "first", "second", "second / first"].map(String::from),
    );
    table.columns.extend(texts.iter().map(|title| Column {
        title: title.to_string(),
        numeric: false,
    }));
    table
}

fn figure(quantity: Quantity, interval: &Interval, room: Room) -> Cell {
    match room {
        Room::Narrow => short(quantity, interval).into(),
        Room::Wide => full(quantity, interval).into(),
    }
}

/// Those with changes, in the order of the report.
fn subjects<'a>(report: &BetweenReport<'a>) -> Vec<&'a str> {
    let mut subjects: Vec<&str> = Vec::new();
    for change in &report.between.changes {
        if !subjects.contains(&change.subject.as_str()) {
            subjects.push(&change.subject);
        }
    }
    subjects
}

/// `ada (another program): its ratio is 0.913 [0.902, 0.925] times what it was, faster.`, or its
/// verdicts counted.
fn standing(report: &BetweenReport, subject: &str) -> String {
    let all = report.between.changes.iter();
    let all: Vec<&Change> = all.filter(|c| c.subject == subject).collect();
    let who = match all[0].program {
        Program::Unknown => subject.to_string(),
        program => format!("{subject} ({})", program_word(program)),
    };
    if let [change] = all[..] {
        return format!(
            "{who}: its ratio is {} times what it was, {}.",
            full(Quantity::Ratio, &change.change),
            words(&change.verdict)
        );
    }
    let mut counted: Vec<(&str, Vec<&Change>)> = Vec::new();
    for change in &all {
        let word = words(&change.verdict);
        match counted.iter_mut().find(|(known, _)| *known == word) {
            Some((_, changes)) => changes.push(change),
            None => counted.push((word, vec![change])),
        }
    }
    let parts = counted.iter().map(|(word, changes)| {
        let named: Vec<String> = changes
            .iter()
            .filter(|c| moved(&c.verdict))
            .map(|c| format!("{}: {}", c.point, full(Quantity::Ratio, &c.change)))
            .collect();
        match named.len() {
            1 | 2 => format!("{} {word} ({})", changes.len(), named.join("; ")),
            _ => format!("{} {word}", changes.len()),
        }
    });
    let parts: Vec<String> = parts.collect();
    format!(
        "{who} at {}: {}.",
        count(all.len(), "point"),
        parts.join(", ")
    )
}

fn words(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::SmallButReal { faster: true } => "a little faster",
        Verdict::SmallButReal { faster: false } => "a little slower",
        other => verdict_word(other),
    }
}

fn moved(verdict: &Verdict) -> bool {
    !matches!(verdict, Verdict::Equivalent | Verdict::Inconclusive { .. })
}

fn undecided(report: &BetweenReport) -> Option<String> {
    let verdicts = report.between.changes.iter().map(|c| c.verdict);
    let verdicts = verdicts.chain(report.between.metrics.iter().map(|m| m.verdict));
    let needed = verdicts.map(|verdict| match verdict {
        Verdict::Inconclusive { blocks_needed } => blocks_needed,
        _ => None,
    });
    let blocks = needed.flatten().max()?;
    Some(format!(
        "About {blocks} blocks in each run would probably decide what is inconclusive."
    ))
}

/// No ratio changed because there is none: why, and what would tell.
fn nothing(report: &BetweenReport) -> String {
    let reservations = &report.between.reservations;
    let why = reservations.iter().find(|r| r.kind == "nothing-relative");
    let why = why.map_or("No subject was compared in both runs.", |r| &r.text);
    let commands = report.runs[0]
        .plan
        .as_ref()
        .is_some_and(|p| p.commands.is_some());
    let advice = match commands {
        true => {
            "Measure the old and the new one in turns: `benchlab compare 'OLD' 'NEW'`, or \
             `benchlab compare --rev OLD --rev NEW -- COMMAND`."
        }
        false => "Let the old and the new program be two subjects of one run.",
    };
    format!("Nothing can be concluded about what changed. {why} {advice}")
}

/// What the baseline's own time did, which is the machine's doing if it is the same program.
fn machine(report: &BetweenReport) -> Option<String> {
    let between = report.between;
    let baseline = between.baseline.as_ref()?;
    let levels = between.levels.iter();
    let levels: Vec<&LevelChange> = levels.filter(|l| l.baseline).collect();
    let did = match levels[..] {
        [] => return None,
        [level] => format!(
            "took {} times as long as in the first run",
            full(Quantity::Ratio, &level.change)
        ),
        _ => {
            let known = |l: &&&LevelChange| l.change.level >= between.times_level - 1e-9;
            let known = || levels.iter().filter(known);
            let more = known().filter(|l| l.change.low > 1.0).count();
            let less = known().filter(|l| l.change.high < 1.0).count();
            format!(
                "took longer at {more} and less at {less} of {}",
                count(levels.len(), "point")
            )
        }
    };
    Some(match between.baseline_program {
        Program::Same => format!(
            "{baseline} itself, the same program in both, {did}: that is the machine or the system."
        ),
        Program::Changed => format!("{baseline} itself, another program now, {did}."),
        Program::Unknown => format!(
            "{baseline} itself {did}; the files do not say whether it is the same program, and the \
             machine's speed is in it."
        ),
    })
}

/// `Read this with: host, settings.`
fn limits(report: &BetweenReport) -> Option<String> {
    let reservations = &report.between.reservations;
    let mut kinds: Vec<&str> = Vec::new();
    for reservation in reservations.iter().filter(|r| r.kind != "nothing-relative") {
        let kind = reservation.kind.as_str();
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    (!kinds.is_empty()).then(|| format!("There are reservations: {}.", kinds.join(", ")))
}

/// `3 hours after`; a run can be given first that was made last.
fn distance(seconds: f64) -> String {
    let side = if seconds < 0.0 { "before" } else { "after" };
    let seconds = seconds.abs();
    let units = [
        (86_400.0, "day"),
        (3600.0, "hour"),
        (60.0, "minute"),
        (1.0, "second"),
    ];
    let fits = units.iter().find(|(length, _)| seconds >= *length);
    let (length, word) = fits.unwrap_or(&units[3]);
    format!(
        "{} {side}",
        count((seconds / length).round() as usize, word)
    )
}
