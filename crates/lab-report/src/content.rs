// SPDX-License-Identifier: Apache-2.0
//! What a report says, before it takes the form of a format: tables and sentences from a run and its
//! analysis. Terminal, Markdown and HTML show the same content.

use crate::Report;
use crate::number::{self, Quantity, full, short};
use crate::table::{Cell, Column, Table, Tone};
use crate::view::{Group, Standing, View, verdict_word};
use lab_model::{Ending, ImportedTime, PointId, Run, SubjectId, WarmUp};
use lab_stats::analysis::{Cell as Figures, Comparison, Control, FactorEffect, Interval, Verdict};
use std::collections::BTreeSet;

/// How much room there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// 80 columns: intervals as percent, marks for verdicts in sweeps.
    Narrow,
    /// A page.
    Wide,
}

/// What the marks of narrow sweep tables mean.
const MARKS: &str = "< faster, > slower, = equivalent, ~ small but real, ? inconclusive";

/// The tables of a group of points: one for a case without sweep, else one for times, one for
/// ratios (narrow only; in wide tables ratios stand below the times) and one for CPU.
pub fn group_tables(view: &View, group: &Group, room: Room) -> Vec<Table> {
    match (group.points.as_slice(), room) {
        (&[point], _) => vec![point_table(view, group, point, room)],
        (_, Room::Narrow) => vec![
            narrow_times(view, group, "time/op", |c| &c.wall_ns),
            narrow_ratios(view, group),
            narrow_times(view, group, "CPU/op", |c| &c.cpu_ns),
        ],
        (_, Room::Wide) => vec![
            wide_sweep(view, group, "time per operation, and ratio", wide_time),
            wide_sweep(view, group, "CPU time per operation, and ratio", wide_cpu),
            wide_sweep(
                view,
                group,
                "whole time per operation, pauses and all, and ratio",
                wide_whole,
            ),
        ],
    }
}

/// `fixed + marginal` per subject, one table per case with a sweep and choice of factors.
pub fn fit_tables(view: &View, room: Room) -> Vec<Table> {
    let groups = view.groups();
    groups
        .iter()
        .filter_map(|group| fit_table(view, group, room))
        .collect()
}

/// What the second and later values of a factor cost, one table per factor and value.
pub fn factor_tables(view: &View, room: Room) -> Vec<Table> {
    let mut tables: Vec<(String, Table)> = Vec::new();
    let subjects = shown_subjects(view);
    for effect in &view.analysis.factors {
        let title = factor_title(view, effect);
        if !tables.iter().any(|(known, _)| *known == title) {
            let names = subjects.iter().map(|&s| view.name(s).to_string());
            let columns = std::iter::once("case".to_string()).chain(names);
            tables.push((title.clone(), Table::new(title.clone(), columns)));
        }
        let Some((_, table)) = tables.iter_mut().find(|(known, _)| *known == title) else {
            continue;
        };
        let Some(column) = subjects.iter().position(|&s| s == effect.subject) else {
            continue;
        };
        let row = label_without(view, effect.from, &effect.factor);
        if !table.rows.iter().any(|r| r[0].text == row) {
            let blanks = std::iter::repeat_with(|| Cell::from("–")).take(subjects.len());
            table.rows.push(
                std::iter::once(Cell::from(row.clone()))
                    .chain(blanks)
                    .collect(),
            );
        }
        if let Some(cells) = table.rows.iter_mut().find(|r| r[0].text == row) {
            cells[column + 1] = ratio(room, &effect.ratio).into();
        }
    }
    tables.into_iter().map(|(_, table)| table).collect()
}

/// Memory, threads and start-up.
pub fn resource_table(view: &View, room: Room) -> Table {
    let columns = ["subject", "start-up", "resident", "peak", "threads"];
    let mut table = Table::new(
        "Start-up, memory, and the most threads seen",
        columns.map(String::from),
    );
    for print in &view.analysis.footprints {
        let show = |quantity, interval| match room {
            Room::Narrow => short(quantity, interval),
            Room::Wide => full(quantity, interval),
        };
        table.rows.push(vec![
            view.name(print.subject).into(),
            show(Quantity::Time, &print.startup_ns).into(),
            show(Quantity::Size, &print.rss_bytes).into(),
            show(Quantity::Size, &print.peak_rss_bytes).into(),
            print.threads.to_string().into(),
        ]);
    }
    table
}

/// Each subject over all points, with its verdicts counted.
pub fn overall_table(view: &View) -> Table {
    let ratio = format!("ratio to {}, geometric mean", view.baseline());
    let mut columns = vec!["subject".to_string(), ratio, "points".into()];
    columns.extend(["faster", "slower", "equiv.", "small", "open"].map(String::from));
    let mut table = Table::new("Over all points", columns);
    for overall in &view.analysis.overall {
        let counts = VerdictCounts::of(view, overall.subject);
        let mut row: Vec<Cell> = vec![
            view.name(overall.subject).into(),
            full(Quantity::Ratio, &overall.ratio).into(),
            overall.points.to_string().into(),
        ];
        let counted = [
            counts.faster,
            counts.slower,
            counts.equivalent,
            counts.small,
            counts.open,
        ];
        row.extend(counted.map(|n| Cell::from(n.to_string())));
        table.rows.push(row);
    }
    table
}

/// The second copy of the baseline, point by point.
pub fn control_table(view: &View) -> Table {
    let title = format!(
        "The control: a second copy of {}, whose true ratio is 1",
        view.baseline()
    );
    let columns = ["point", "ratio", "margin used"].map(String::from);
    let mut table = Table::new(title, columns).text_column("noise floor");
    for control in &view.analysis.controls {
        let (word, tone) = if control.met {
            ("met", Tone::Plain)
        } else {
            ("not met", Tone::Alarm)
        };
        table.rows.push(vec![
            view.plan.label(control.point).into(),
            full(Quantity::Ratio, &control.ratio).into(),
            number::level(control.margin).into(),
            Cell::from(word).tone(tone),
        ]);
    }
    table
}

/// How the first batches of fresh processes behaved, and the very first operation.
pub fn warm_up_table(view: &View) -> Table {
    let subjects = shown_subjects(view);
    let names = subjects.iter().map(|&s| view.name(s).to_string());
    let title = "Warm-up, and the first operation of a fresh process (a single reading)";
    let columns = std::iter::once("point".to_string()).chain(names);
    let mut table = Table::new(title, columns);
    for point in 0..view.plan.points.len() {
        let cells = subjects.iter().map(|&s| match view.cell(s, point) {
            Some(cell) => warm_up_cell(cell),
            None => Cell::from("–"),
        });
        let row: Vec<Cell> = std::iter::once(view.plan.label(point).into())
            .chain(cells)
            .collect();
        table.rows.push(row);
    }
    table
}

/// Settings in which subjects differ, and in words those in which all agree.
pub fn conditions(view: &View) -> (Table, Vec<String>) {
    let settings = &view.report.run.settings;
    let measured: Vec<SubjectId> = (0..view.plan.subjects.len())
        .filter(|&s| settings.iter().any(|setting| setting.subject == s))
        .collect();
    let keys: BTreeSet<&str> = settings.iter().map(|s| s.key.as_str()).collect();
    let names = measured.iter().map(|&s| view.name(s).to_string());
    let columns = std::iter::once("setting".to_string()).chain(names);
    let mut table = Table::new("Conditions that differ", columns);
    table.columns.iter_mut().for_each(|c| c.numeric = false);
    let mut same = Vec::new();
    for key in keys {
        let values: Vec<String> = measured
            .iter()
            .map(|&s| values(view.report.run, s, key))
            .collect();
        if values.iter().any(|v| *v != values[0]) {
            let tone = if view.plan.proof.equal.iter().any(|k| k == key) {
                Tone::Alarm
            } else {
                Tone::Plain
            };
            let cells = values.into_iter().map(Cell::from);
            table.rows.push(
                std::iter::once(Cell::from(key).tone(tone))
                    .chain(cells)
                    .collect(),
            );
        } else {
            same.push(format!("{key} = {}", values[0]));
        }
    }
    (table, same)
}

/// What each subject is.
pub fn subject_table(view: &View) -> Table {
    let mut table = Table::new("The subjects", ["subject".to_string()]);
    for title in ["language", "driver", "statements", "role"] {
        table = table.text_column(title);
    }
    for (id, subject) in view.plan.subjects.iter().enumerate() {
        let role = [
            (id == view.plan.baseline).then_some("baseline"),
            subject.limit.then_some("limit"),
            subject.control_of.map(|_| "control"),
        ];
        let role: Vec<_> = role.into_iter().flatten().collect();
        table.rows.push(vec![
            subject.name.as_str().into(),
            subject.language.as_str().into(),
            subject.driver.as_str().into(),
            subject.statements.as_str().into(),
            role.join(", ").into(),
        ]);
    }
    table
}

/// Figures taken over from other tools, of this run and of the others.
pub fn import_tables(report: &Report) -> Vec<Table> {
    let runs = std::iter::once(report.run).chain(report.others);
    runs.filter(|run| !run.imports.is_empty())
        .map(import_table)
        .collect()
}

/// How it was measured, in sentences.
pub fn method(view: &View) -> Vec<String> {
    let measure = &view.plan.measure;
    let analysis = view.analysis;
    let mut text = vec![
        format!(
            "In each of {}, fresh processes of all subjects took turns of about {} on the same core: {} mirrored \
             pairs of passes for each point, frozen while idle. {}",
            count(analysis.blocks as usize, "block"),
            number::single(Quantity::Time, measure.turn_ns as f64),
            measure.pairs,
            ending(view.report.run),
        ),
        format!(
            "Times are typical times: the median over blocks of the interquartile mean. The whole time counts \
             every pause. Ratios are Hodges-Lehmann estimates over blocks with Wilcoxon signed-rank intervals, \
             simultaneous within a point; asked for: {}, margin {}.",
            number::level(analysis.level),
            number::level(analysis.margin),
        ),
    ];
    if let Some(disturbed) = redone(view) {
        text.push(disturbed);
    }
    if let Some((cpu_ns, rss_bytes)) = view.report.run.lab_cost {
        text.push(format!(
            "The lab itself used {} of CPU time and at most {} of memory (single readings).",
            number::single(Quantity::Time, cpu_ns as f64),
            number::single(Quantity::Size, rss_bytes as f64),
        ));
    }
    text.push(format!("The seed was {}.", view.plan.seed));
    text
}

/// Why the run ended, in a sentence.
pub fn ending(run: &Run) -> &'static str {
    match run.ending {
        Some(Ending::Decided) => "It ended when every comparison was decided.",
        Some(Ending::Precise) => "It ended when every interval was as narrow as wanted.",
        Some(Ending::Budget) => "It ended when its time was used up.",
        Some(Ending::Blocks) => "It ended after the blocks that were asked for.",
        Some(Ending::Failed) => "It ended because nothing was left to compare.",
        Some(Ending::Interrupted) => "It was interrupted.",
        None => "It has not ended: benchlab resume goes on with it.",
    }
}

/// `24 blocks; intervals asked for at 95 %, simultaneous within a point; margin 2 %.`
pub fn conditions_line(view: &View) -> String {
    let redone = match view.analysis.disturbed_blocks {
        0 => String::new(),
        n => format!(", {n} redone because the host disturbed them"),
    };
    let few = few_blocks(view).map_or(String::new(), |few| format!(" {few}"));
    format!(
        "{}{redone}; intervals of {}, simultaneous over the subjects of a point; margin {}.{few} {}",
        count(view.analysis.blocks as usize, "block"),
        number::level(view.analysis.level),
        number::level(view.analysis.margin),
        ending(view.report.run),
    )
}

/// How many blocks were redone, if any.
fn redone(view: &View) -> Option<String> {
    let n = view.analysis.disturbed_blocks as usize;
    (n > 0).then(|| {
        format!(
            "{} redone because the host disturbed {}.",
            was(n, "block"),
            if n == 1 { "it" } else { "them" }
        )
    })
}

fn was(n: usize, word: &str) -> String {
    format!("{} {}", count(n, word), if n == 1 { "was" } else { "were" })
}

/// `1 block`, `3 blocks`.
pub fn count(n: usize, word: &str) -> String {
    if n == 1 {
        format!("1 {word}")
    } else {
        format!("{n} {word}s")
    }
}

/// The least and the highest level of the ratios' intervals, if some are below the one asked for:
/// then there are too few blocks.
pub fn low_levels(view: &View, points: &[PointId]) -> Option<(f64, f64)> {
    let here = view
        .analysis
        .comparisons
        .iter()
        .filter(|c| points.contains(&c.point));
    let levels: Vec<f64> = here.map(|c| c.ratio.level).collect();
    let least = levels.iter().copied().fold(f64::INFINITY, f64::min);
    let most = levels.iter().copied().fold(0.0, f64::max);
    (least < view.analysis.level - 1e-9).then_some((least, most))
}

/// What few blocks mean for the whole run, if they are too few.
pub fn few_blocks(view: &View) -> Option<String> {
    let points: Vec<PointId> = (0..view.plan.points.len()).collect();
    let (least, most) = low_levels(view, &points)?;
    Some(format!(
        "{} too few for intervals of {}: the ratios' intervals hold at {}. Treat this as a first look.",
        was_or_are(view.analysis.blocks as usize, "block"),
        number::level(view.analysis.level),
        range(least, most),
    ))
}

/// How many comparisons are inconclusive, and the blocks that would probably decide all of them.
pub fn undecided(view: &View) -> Option<String> {
    let needed = view
        .analysis
        .comparisons
        .iter()
        .filter_map(|c| match c.verdict {
            Verdict::Inconclusive { blocks_needed } => Some(blocks_needed),
            _ => None,
        });
    let needed: Vec<Option<u32>> = needed.collect();
    let known = needed.iter().flatten().max();
    let decide = known.map_or(String::new(), |n| {
        format!("; about {n} blocks would probably decide them")
    });
    let all = view.analysis.comparisons.len();
    (!needed.is_empty()).then(|| {
        format!(
            "{} of {all} comparisons are inconclusive{decide}.",
            needed.len()
        )
    })
}

/// What few blocks mean for some points, if they are too few.
fn low_level(view: &View, points: &[PointId]) -> Option<String> {
    let (least, most) = low_levels(view, points)?;
    let level = number::level(view.analysis.level);
    Some(format!(
        "Too few blocks for {level}: the intervals of the ratios hold at {}.",
        range(least, most)
    ))
}

/// `25 %`, or `0 % to 25 %`.
fn range(least: f64, most: f64) -> String {
    if most - least < 5e-4 {
        return number::level(least);
    }
    format!("{} to {}", number::level(least), number::level(most))
}

fn was_or_are(n: usize, word: &str) -> String {
    format!("{} {}", count(n, word), if n == 1 { "is" } else { "are" })
}

/// When a run began: `2026-11-21 09:15 UTC`. Days to dates after H. Hinnant,
/// *chrono-Compatible Low-Level Date Algorithms*, `civil_from_days`.
pub fn started(run: &Run) -> String {
    let seconds = run.started_unix_s.clamp(0.0, 2.5e11) as i64;
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let z = days + 719_468;
    let (era, of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (day, month) = (
        of_year - (153 * shifted + 2) / 5 + 1,
        if shifted < 10 {
            shifted + 3
        } else {
            shifted - 9
        },
    );
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02} UTC",
        of_day / 3600,
        of_day / 60 % 60
    )
}

/// How many verdicts of each kind a subject has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerdictCounts {
    /// Faster.
    pub faster: usize,
    /// Slower.
    pub slower: usize,
    /// Equivalent.
    pub equivalent: usize,
    /// Small but real.
    pub small: usize,
    /// Inconclusive.
    pub open: usize,
}

impl VerdictCounts {
    /// Of one subject, over all points.
    pub fn of(view: &View, subject: SubjectId) -> Self {
        let mut counts = VerdictCounts::default();
        for comparison in view
            .analysis
            .comparisons
            .iter()
            .filter(|c| c.subject == subject)
        {
            match comparison.verdict {
                Verdict::Faster => counts.faster += 1,
                Verdict::Slower => counts.slower += 1,
                Verdict::Equivalent => counts.equivalent += 1,
                Verdict::SmallButReal { .. } => counts.small += 1,
                Verdict::Inconclusive { .. } => counts.open += 1,
            }
        }
        counts
    }
}

/// What a verdict looks like.
pub fn tone(verdict: &Verdict) -> Tone {
    match verdict {
        Verdict::Faster | Verdict::SmallButReal { faster: true } => Tone::Faster,
        Verdict::Slower | Verdict::SmallButReal { faster: false } => Tone::Slower,
        Verdict::Equivalent => Tone::Same,
        Verdict::Inconclusive { .. } => Tone::Open,
    }
}

/// Rows are subjects.
fn point_table(view: &View, group: &Group, point: PointId, room: Room) -> Table {
    let text = |title: &str| Column {
        title: title.into(),
        numeric: false,
    };
    let number = |title: &str| Column {
        title: title.into(),
        numeric: true,
    };
    let ratio = number(&view.ratio_title());
    let columns = match room {
        Room::Narrow => {
            vec![
                text("subject"),
                number("time/op"),
                number("CPU/op"),
                ratio,
                text("verdict"),
            ]
        }
        Room::Wide => vec![
            text("subject"),
            number("time per operation"),
            ratio,
            text("verdict"),
            number("CPU time, and ratio"),
            number("whole time, and ratio"),
        ],
    };
    let title = format!("{}: time of an operation", view.group_label(group));
    let mut table = Table {
        title,
        columns,
        ..Table::default()
    };
    for subject in 0..view.plan.subjects.len() {
        table.rows.push(point_row(view, subject, point, room));
    }
    table
}

fn point_row(view: &View, subject: SubjectId, point: PointId, room: Room) -> Vec<Cell> {
    let name = Cell::from(view.name(subject));
    let standing = view.standing(subject, point);
    let Some(cell) = figures(&standing) else {
        let blank = || Cell::from("–");
        let verdict = verdict_cell(view, &standing, point);
        return match room {
            Room::Narrow => vec![name, blank(), blank(), blank(), verdict],
            Room::Wide => vec![name, blank(), blank(), verdict, blank(), blank()],
        };
    };
    let ratio = match &standing {
        Standing::Baseline(_) => "1".into(),
        Standing::Compared(_, c) => full(Quantity::Ratio, &c.ratio),
        Standing::Control(_) => {
            control(view, point).map_or("–".into(), |c| full(Quantity::Ratio, &c.ratio))
        }
        _ => "–".into(),
    };
    let verdict = verdict_cell(view, &standing, point);
    let narrow = |i: &Interval| Cell::from(short(Quantity::Time, i));
    let wide = |i: &Interval| Cell::from(full(Quantity::Time, i));
    match room {
        Room::Narrow => {
            vec![
                name,
                narrow(&cell.wall_ns),
                narrow(&cell.cpu_ns),
                ratio.into(),
                verdict,
            ]
        }
        Room::Wide => {
            let (mut cpu, mut whole) = (wide(&cell.cpu_ns), wide(&cell.whole_wall_ns));
            if let Standing::Compared(_, c) = standing {
                cpu = cpu.sub(full(Quantity::Ratio, &c.cpu_ratio));
                whole = whole.sub(full(Quantity::Ratio, &c.whole_ratio));
            }
            vec![name, wide(&cell.wall_ns), ratio.into(), verdict, cpu, whole]
        }
    }
}

fn figures<'a>(standing: &Standing<'a>) -> Option<&'a Figures> {
    match standing {
        Standing::Baseline(c)
        | Standing::Control(c)
        | Standing::Compared(c, _)
        | Standing::Apart(c, _) => Some(c),
        Standing::Missing(_) => None,
    }
}

fn verdict_cell(view: &View, standing: &Standing, point: PointId) -> Cell {
    match standing {
        Standing::Baseline(_) => "baseline".into(),
        Standing::Control(_) => control_verdict(view, point),
        Standing::Compared(_, c) => Cell::from(verdict_word(&c.verdict)).tone(tone(&c.verdict)),
        Standing::Apart(_, why) | Standing::Missing(why) => {
            Cell::from(why.as_str()).tone(Tone::Alarm)
        }
    }
}

fn control_verdict(view: &View, point: PointId) -> Cell {
    match control(view, point) {
        Some(control) if !control.met => Cell::from("noise not met").tone(Tone::Alarm),
        _ => "control".into(),
    }
}

/// Times of one kind, all in one unit, which the heading names.
fn narrow_times<F>(view: &View, group: &Group, what: &str, time: F) -> Table
where
    F: Fn(&Figures) -> &Interval,
{
    let subjects = 0..view.plan.subjects.len();
    let all = subjects.flat_map(|s| group.points.iter().filter_map(move |&p| view.cell(s, p)));
    let all: Vec<f64> = all.map(|c| time(c).estimate).filter(|t| *t > 0.0).collect();
    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
    let most = all.iter().copied().fold(0.0, f64::max);
    let (scale, unit) = Quantity::Time.unit((least * most).sqrt());
    let cell = |subject, point| match view.standing(subject, point) {
        Standing::Missing(why) => failed(&why),
        standing => figures(&standing).map_or("–".into(), |c| {
            number::short_in(scale, "", time(c)).into()
        }),
    };
    narrow_sweep(view, group, format!("{what},{unit}"), cell)
}

/// Ratios with a mark for each verdict.
fn narrow_ratios(view: &View, group: &Group) -> Table {
    let cell = |subject, point| match view.standing(subject, point) {
        Standing::Baseline(_) => "1".into(),
        Standing::Compared(_, c) => {
            let ratio = short(Quantity::Ratio, &c.ratio);
            Cell::from(format!("{ratio} {}", mark(&c.verdict))).tone(tone(&c.verdict))
        }
        Standing::Control(_) => match control(view, point) {
            Some(control) => {
                let tone = if control.met {
                    Tone::Plain
                } else {
                    Tone::Alarm
                };
                Cell::from(format!("{}  ", short(Quantity::Ratio, &control.ratio))).tone(tone)
            }
            None => "–".into(),
        },
        Standing::Apart(_, why) => Cell::from(why).tone(Tone::Alarm),
        Standing::Missing(why) => failed(&why),
    };
    let mut table = narrow_sweep(view, group, view.ratio_title(), cell);
    table.notes.push(MARKS.into());
    table.notes.extend(low_level(view, &group.points));
    table
}

/// Rows are subjects, columns the values of the sweep. The control has a short name, to save width.
fn narrow_sweep<F>(view: &View, group: &Group, title: String, cell: F) -> Table
where
    F: Fn(SubjectId, PointId) -> Cell,
{
    let values = group.points.iter().map(|&p| sweep_value(view, p));
    let columns = std::iter::once(title).chain(values);
    let mut table = Table::new(view.group_label(group), columns);
    for subject in 0..view.plan.subjects.len() {
        let control = Some(subject) == view.plan.control();
        let name = if control {
            "control"
        } else {
            view.name(subject)
        };
        let cells = group.points.iter().map(|&p| cell(subject, p));
        table
            .rows
            .push(std::iter::once(Cell::from(name)).chain(cells).collect());
    }
    table
}

/// Why there are no figures, in a word.
fn failed(why: &str) -> Cell {
    Cell::from(why.trim_start_matches("failed: ")).tone(Tone::Alarm)
}

fn control<'a>(view: &View<'a>, point: PointId) -> Option<&'a Control> {
    view.analysis.controls.iter().find(|c| c.point == point)
}

/// What [`MARKS`] explains.
fn mark(verdict: &Verdict) -> char {
    match verdict {
        Verdict::Faster => '<',
        Verdict::Slower => '>',
        Verdict::Equivalent => '=',
        Verdict::SmallButReal { .. } => '~',
        Verdict::Inconclusive { .. } => '?',
    }
}

/// Rows are the values of the sweep, columns the subjects without controls, which have a table of
/// their own.
fn wide_sweep<F>(view: &View, group: &Group, what: &str, cell: F) -> Table
where
    F: Fn(&View, SubjectId, PointId) -> Cell,
{
    let sweep = view.plan.cases[group.case]
        .sweep
        .clone()
        .unwrap_or_default();
    let subjects = shown_subjects(view);
    let names = subjects.iter().map(|&s| view.name(s).to_string());
    let title = format!("{}: {what}", view.group_label(group));
    let mut table = Table::new(title, std::iter::once(sweep).chain(names));
    for &point in &group.points {
        let cells = subjects.iter().map(|&s| cell(view, s, point));
        table.rows.push(
            std::iter::once(sweep_value(view, point).into())
                .chain(cells)
                .collect(),
        );
    }
    table
}

/// A time with its ratio below.
fn wide_cell(
    view: &View,
    subject: SubjectId,
    point: PointId,
    time: impl Fn(&Figures) -> &Interval,
    ratio: impl Fn(&Comparison) -> String,
) -> Cell {
    let standing = view.standing(subject, point);
    let verdict = verdict_cell(view, &standing, point);
    let Some(cell) = figures(&standing) else {
        return verdict;
    };
    let shown = Cell::from(full(Quantity::Time, time(cell)));
    match standing {
        Standing::Compared(_, c) => shown.sub(ratio(c)).tone(verdict.tone),
        _ => shown.sub(verdict.text).tone(verdict.tone),
    }
}

fn wide_time(view: &View, subject: SubjectId, point: PointId) -> Cell {
    let ratio = |c: &Comparison| {
        format!(
            "{} {}",
            full(Quantity::Ratio, &c.ratio),
            verdict_word(&c.verdict)
        )
    };
    wide_cell(view, subject, point, |c| &c.wall_ns, ratio)
}

fn wide_cpu(view: &View, subject: SubjectId, point: PointId) -> Cell {
    let ratio = |c: &Comparison| full(Quantity::Ratio, &c.cpu_ratio);
    wide_cell(view, subject, point, |c| &c.cpu_ns, ratio).tone(Tone::Plain)
}

fn wide_whole(view: &View, subject: SubjectId, point: PointId) -> Cell {
    let ratio = |c: &Comparison| full(Quantity::Ratio, &c.whole_ratio);
    wide_cell(view, subject, point, |c| &c.whole_wall_ns, ratio).tone(Tone::Plain)
}

fn fit_table(view: &View, group: &Group, room: Room) -> Option<Table> {
    let case = &view.plan.cases[group.case];
    let same = |fit: &&lab_stats::analysis::Fit| {
        fit.case == group.case && fit.factors.iter().eq(group.factors.iter().copied())
    };
    let columns = [
        "subject".to_string(),
        "fixed".into(),
        format!("per {}", case.unit),
        "worst off the line".into(),
    ];
    let mut table = Table::new(view.group_label(group), columns).text_column("");
    for fit in view.analysis.fits.iter().filter(same) {
        let show = |i: &Interval| match room {
            Room::Narrow => short(Quantity::Time, i),
            Room::Wide => full(Quantity::Time, i),
        };
        let curved = if fit.curved {
            Cell::from("curved").tone(Tone::Open)
        } else {
            "".into()
        };
        table.rows.push(vec![
            view.name(fit.subject).into(),
            show(&fit.fixed_ns).into(),
            Cell::from(format!("+ {}", show(&fit.marginal_ns))),
            number::percent(fit.worst_residual).into(),
            curved,
        ]);
    }
    (!table.rows.is_empty()).then_some(table)
}

fn factor_title(view: &View, effect: &FactorEffect) -> String {
    let value = |point: PointId| {
        let params = &view.plan.points[point].params;
        params
            .iter()
            .find(|(key, _)| *key == effect.factor)
            .map_or("?", |(_, v)| v.as_str())
    };
    format!(
        "{}: time with {} / time with {}",
        effect.factor,
        value(effect.to),
        value(effect.from)
    )
}

fn label_without(view: &View, point: PointId, factor: &str) -> String {
    let mut label = view.plan.case(point).name.clone();
    for (key, value) in view.plan.points[point]
        .params
        .iter()
        .filter(|(key, _)| key != factor)
    {
        label.push_str(&format!(" {key}={value}"));
    }
    label
}

/// Subjects without controls.
fn shown_subjects(view: &View) -> Vec<SubjectId> {
    (0..view.plan.subjects.len())
        .filter(|&s| view.plan.subjects[s].control_of.is_none())
        .collect()
}

fn sweep_value(view: &View, point: PointId) -> String {
    let sweep = view.plan.case(point).sweep.as_deref();
    let params = &view.plan.points[point].params;
    params
        .iter()
        .find(|(key, _)| Some(key.as_str()) == sweep)
        .map_or(String::new(), |(_, v)| v.clone())
}

fn ratio(room: Room, interval: &Interval) -> String {
    match room {
        Room::Narrow => short(Quantity::Ratio, interval),
        Room::Wide => full(Quantity::Ratio, interval),
    }
}

fn warm_up_cell(cell: &Figures) -> Cell {
    let class = match cell.warm_up {
        Some(WarmUp::Flat) => "flat",
        Some(WarmUp::Warming) => "warming",
        Some(WarmUp::Slowing) => "slowing",
        Some(WarmUp::NoSteadyState) => "no steady state",
        None => "–",
    };
    let alarm = cell.warm_up == Some(WarmUp::NoSteadyState);
    let cold = cell.cold_ns.map_or(String::new(), |ns| {
        number::single(Quantity::Time, ns as f64)
    });
    Cell::from(class)
        .sub(cold)
        .tone(if alarm { Tone::Open } else { Tone::Plain })
}

/// The distinct values that a subject read back for a setting, over all points.
fn values(run: &Run, subject: SubjectId, key: &str) -> String {
    let mine = run
        .settings
        .iter()
        .filter(|s| s.subject == subject && s.key == key);
    let values: BTreeSet<&str> = mine.map(|s| s.value.as_str()).collect();
    if values.is_empty() {
        "–".into()
    } else {
        values.into_iter().collect::<Vec<_>>().join(" | ")
    }
}

/// Rows are titles, columns the imported benchmarks.
fn import_table(run: &Run) -> Table {
    let names = run
        .imports
        .iter()
        .map(|i| format!("{} {}", i.language, i.driver).trim().to_string());
    let title = format!(
        "Imported from {}: single readings, without intervals, under other conditions",
        run.name
    );
    let mut table = Table::new(title, std::iter::once("title".to_string()).chain(names));
    let mut titles: Vec<&str> = Vec::new();
    for time in run.imports.iter().flat_map(|i| &i.times) {
        if !titles.contains(&time.title.as_str()) {
            titles.push(&time.title);
        }
    }
    for title in titles {
        let cells = run
            .imports
            .iter()
            .map(|i| imported_cell(i.times.iter().find(|t| t.title == title)));
        table
            .rows
            .push(std::iter::once(Cell::from(title)).chain(cells).collect());
    }
    table
}

fn imported_cell(time: Option<&ImportedTime>) -> Cell {
    time.map_or("–".into(), |t| {
        Cell::from(number::single(Quantity::Time, t.time_ns))
    })
}
