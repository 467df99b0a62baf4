// SPDX-License-Identifier: Apache-2.0
//! What there is to say of one target beside others: its subjects side by side over all its points.

use super::Room;
use super::cases::{MARKS, mark, tone};
use super::method::low_level;
use crate::number::{self, Quantity, short};
use crate::table::{Cell, Table, Tone};
use crate::view::{Standing, UNABLE, View};
use lab_model::{PointId, SubjectId};
use lab_stats::analysis::Interval;

/// Every subject at every point that does one operation at a time: rows are points. Narrow, the times
/// have a table of their own; wide, each stands below its ratio.
pub fn side_by_side(view: &View, room: Room) -> Vec<Table> {
    let baseline = view.baseline();
    let others: Vec<SubjectId> = view
        .shown()
        .into_iter()
        .filter(|&s| s != view.plan.baseline)
        .collect();
    let title = format!("Time as a multiple of {baseline}'s");
    let mut tables = match room {
        Room::Narrow => vec![
            matrix(view, title, &others, ratio),
            matrix(view, "Time of an operation".into(), &view.shown(), time),
        ],
        Room::Wide => vec![matrix(
            view,
            format!("Time of an operation, and as a multiple of {baseline}'s"),
            &view.shown(),
            |view, subject, point| {
                let (time, ratio) = (time(view, subject, point), ratio(view, subject, point));
                match ratio.text == time.text {
                    true => time,
                    false => time.sub(ratio.text).tone(ratio.tone),
                }
            },
        )],
    };
    if let Some(first) = tables.first_mut() {
        let points = single_points(view);
        first.notes.push(format!(
            "± is the wider half of an interval. Of the ratios: {MARKS}, with a margin of {}.",
            number::level(view.analysis.margin)
        ));
        first.notes.extend(low_level(view, &points));
        first.notes.extend(view.unable_notes());
    }
    if let Some(last) = tables.last_mut() {
        last.notes.extend(defaults(view));
    }
    tables.retain(|table| table.columns.len() > 1);
    tables
}

/// Points that do one operation at a time, case by case.
pub fn single_points(view: &View) -> Vec<PointId> {
    view.groups().into_iter().flat_map(|g| g.points).collect()
}

/// A point in few words: case, the sweep's value, and those values of factors that are not their
/// first: `select 100 text`.
pub fn short_label(view: &View, point: PointId) -> String {
    let case = view.plan.case(point);
    let mut words = vec![case.name.clone()];
    for (key, value) in &view.plan.points[point].params {
        let swept = case.sweep.as_ref() == Some(key);
        if swept || first_value(view, view.plan.points[point].case, key) != Some(value) {
            words.push(value.clone());
        }
    }
    words.join(" ")
}

/// What short labels leave out.
fn defaults(view: &View) -> Option<String> {
    let mut known: Vec<String> = Vec::new();
    for (case, what) in view.plan.cases.iter().enumerate() {
        let points = view.plan.points.iter().filter(|p| p.case == case);
        for (key, value) in points.flat_map(|p| p.factors(what)) {
            let first = first_value(view, case, key) == Some(value);
            let words = format!("{key}={value}");
            if first && !known.contains(&words) {
                known.push(words);
            }
        }
    }
    let sweeps = view.groups().into_iter().filter(|g| g.points.len() > 1);
    let sweeps = sweeps.filter_map(|group| {
        let case = &view.plan.cases[group.case];
        Some(format!("{} of {}", case.sweep.as_ref()?, case.name))
    });
    let mut sweeps: Vec<String> = sweeps.collect();
    sweeps.dedup();
    let numbers = match sweeps.is_empty() {
        true => String::new(),
        false => format!(" The numbers are {}.", sweeps.join(", ")),
    };
    (!known.is_empty()).then(|| {
        format!(
            "Unless a word says otherwise: {}.{numbers}",
            known.join(", ")
        )
    })
}

fn first_value<'a>(view: &View<'a>, case: usize, key: &str) -> Option<&'a String> {
    let points = view.plan.points.iter().filter(|p| p.case == case);
    let mut params = points.flat_map(|p| &p.params);
    params.find(|(k, _)| k == key).map(|(_, value)| value)
}

fn matrix<F>(view: &View, title: String, subjects: &[SubjectId], cell: F) -> Table
where
    F: Fn(&View, SubjectId, PointId) -> Cell,
{
    let names = subjects.iter().map(|&s| view.name(s).to_string());
    let mut table = Table::new(title, std::iter::once("point".to_string()).chain(names));
    for point in single_points(view) {
        let label = short_label(view, point);
        let cells = subjects.iter().map(|&s| cell(view, s, point));
        table
            .rows
            .push(std::iter::once(Cell::from(label)).chain(cells).collect());
    }
    table
}

fn ratio(view: &View, subject: SubjectId, point: PointId) -> Cell {
    match view.standing(subject, point) {
        Standing::Compared(_, c) => {
            let ratio = short(Quantity::Ratio, &c.ratio);
            Cell::from(format!("{ratio} {}", mark(&c.verdict))).tone(tone(&c.verdict))
        }
        Standing::Baseline(_) => "1".into(),
        Standing::Unable => UNABLE.into(),
        Standing::Missing(why) | Standing::Apart(_, why) => trouble(&why),
        Standing::Control(_) | Standing::Overhead(_) => "–".into(),
    }
}

fn time(view: &View, subject: SubjectId, point: PointId) -> Cell {
    match (view.cell(subject, point), view.standing(subject, point)) {
        (Some(cell), _) => interval(Quantity::Time, &cell.wall_ns),
        (None, Standing::Unable) => UNABLE.into(),
        (None, Standing::Missing(why)) => trouble(&why),
        (None, _) => "–".into(),
    }
}

fn trouble(why: &str) -> Cell {
    Cell::from(why.trim_start_matches("failed: ")).tone(Tone::Alarm)
}

fn interval(quantity: Quantity, interval: &Interval) -> Cell {
    short(quantity, interval).into()
}
