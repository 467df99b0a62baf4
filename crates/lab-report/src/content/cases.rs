// SPDX-License-Identifier: Apache-2.0
//! A case's tables: what an operation takes each subject, and the ratios to the baseline.

use super::Room;
use super::method::low_level;
use crate::number::{self, Quantity, full, short};
use crate::table::{Cell, Column, Table, Tone};
use crate::view::{Group, Standing, UNABLE, View, verdict_word};
use lab_model::{PointId, SubjectId};
use lab_stats::analysis::{Cell as Figures, Comparison, Control, Interval, Verdict};

/// What the marks of narrow sweep tables mean.
pub const MARKS: &str = "< faster, > slower, = equivalent, ~ small but real, ? inconclusive";

/// The tables of a group of points: one for a case without sweep, else one for times, one for
/// ratios (narrow only; in wide tables ratios stand below the times) and one for CPU.
pub fn group_tables(view: &View, group: &Group, room: Room) -> Vec<Table> {
    let (op, per) = (view.words.op, view.words.per_operation);
    let mut tables = match (group.points.as_slice(), room) {
        (&[point], _) => vec![point_table(view, group, point, room)],
        (_, Room::Narrow) => vec![
            narrow_times(view, group, &format!("time/{op}"), |c| &c.wall_ns),
            narrow_ratios(view, group),
            narrow_times(view, group, &format!("CPU/{op}"), |c| &c.cpu_ns),
        ],
        (_, Room::Wide) => {
            let ratio = if view.compares() { ", and ratio" } else { "" };
            let title = |kind: &str, all: &str| format!("{kind}time {per}{all}{ratio}");
            vec![
                wide_sweep(view, group, &title("", ""), wide_time),
                wide_sweep(view, group, &title("CPU ", ""), wide_cpu),
                wide_sweep(
                    view,
                    group,
                    &title("whole ", ", pauses and all"),
                    wide_whole,
                ),
            ]
        }
    };
    if !view.compares() {
        tables.retain(|table| table.columns[0].title != view.ratio_title());
    }
    tables
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
                text(view.words.subject),
                number(&format!("time/{}", view.words.op)),
                number(&format!("CPU/{}", view.words.op)),
                ratio,
                text("verdict"),
            ]
        }
        Room::Wide => vec![
            text(view.words.subject),
            number(&format!("time {}", view.words.per_operation)),
            ratio,
            text("verdict"),
            number("CPU time, and ratio"),
            number("whole time, and ratio"),
        ],
    };
    let title = view.group_title(group, &format!("time of {}", view.words.an_operation));
    let mut table = Table {
        title,
        columns,
        ..Table::default()
    };
    for subject in view.with_controls() {
        table.rows.push(point_row(view, subject, point, room));
    }
    if !view.compares() {
        table.drop_columns(&[&view.ratio_title(), "verdict"]);
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
        | Standing::Overhead(c)
        | Standing::Compared(c, _)
        | Standing::Apart(c, _) => Some(c),
        Standing::Missing(_) | Standing::Unable => None,
    }
}

fn verdict_cell(view: &View, standing: &Standing, point: PointId) -> Cell {
    match standing {
        Standing::Baseline(_) => "baseline".into(),
        Standing::Control(_) => control_verdict(view, point),
        Standing::Overhead(_) => "overhead".into(),
        Standing::Compared(_, c) => Cell::from(verdict_word(&c.verdict)).tone(tone(&c.verdict)),
        Standing::Apart(_, why) | Standing::Missing(why) => {
            Cell::from(why.as_str()).tone(Tone::Alarm)
        }
        Standing::Unable => UNABLE.into(),
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
    let subjects = view.with_controls();
    let all = subjects.flat_map(|s| group.points.iter().filter_map(move |&p| view.cell(s, p)));
    let (scale, unit) = number::common_unit(Quantity::Time, all.map(|c| time(c).estimate));
    let cell = |subject, point| match view.standing(subject, point) {
        Standing::Missing(why) => failed(&why),
        Standing::Unable => UNABLE.into(),
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
        Standing::Overhead(_) => "–".into(),
        Standing::Apart(_, why) => Cell::from(why).tone(Tone::Alarm),
        Standing::Missing(why) => failed(&why),
        Standing::Unable => UNABLE.into(),
    };
    let mut table = narrow_sweep(view, group, view.ratio_title(), cell);
    table.notes.push(MARKS.into());
    table.notes.extend(low_level(view, &group.points));
    table
}

/// Rows are subjects, columns the values of the sweep. The control has a short name, to save width.
pub fn narrow_sweep<F>(view: &View, group: &Group, title: String, cell: F) -> Table
where
    F: Fn(SubjectId, PointId) -> Cell,
{
    let values = group.points.iter().map(|&p| sweep_value(view, p));
    let columns = std::iter::once(title).chain(values);
    let mut table = Table::new(view.group_label(group), columns);
    for subject in view.with_controls() {
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
pub fn mark(verdict: &Verdict) -> char {
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
    let subjects = view.shown();
    let names = subjects.iter().map(|&s| view.name(s).to_string());
    let title = view.group_title(group, what);
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
        _ if !view.compares() => shown,
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

pub fn sweep_value(view: &View, point: PointId) -> String {
    let sweep = view.plan.case(point).sweep.as_deref();
    let params = &view.plan.points[point].params;
    params
        .iter()
        .find(|(key, _)| Some(key.as_str()) == sweep)
        .map_or(String::new(), |(_, v)| v.clone())
}
