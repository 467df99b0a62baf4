// SPDX-License-Identifier: Apache-2.0
//! The servers: what they are, what they hold, and how they start.

use super::{all, failure, figure, judged};
use crate::content::{Room, conditions, count};
use crate::number::{Quantity, single};
use crate::served::ServedView;
use crate::table::{Cell, Column, Table, Tone};
use lab_model::{Failure, PointId, SubjectId, WarmUp};

/// A row for each server, those that failed at the end.
pub fn server_table(view: &ServedView, room: Room) -> Table {
    let column = |(title, numeric): (&str, bool)| Column {
        title: title.to_string(),
        numeric,
    };
    let narrow = [
        ("server", false),
        ("work", true),
        ("loop", true),
        ("thr", true),
        ("resident", true),
        ("ratio", true),
        ("start-up", true),
        ("first", true),
    ];
    let wide = [
        ("server", false),
        ("language", false),
        ("what it is", false),
        ("workers", true),
        ("loops", true),
        ("threads", true),
        ("resident memory", true),
        ("ratio", true),
        ("start-up", true),
        ("first answer", true),
        ("warm-up", false),
    ];
    let columns: Vec<Column> = match room {
        Room::Narrow => narrow.map(column).into(),
        Room::Wide => wide.map(column).into(),
    };
    let most = view.load.analysis.footprints.iter().map(|f| f.connections);
    let most = most.max().unwrap_or(0);
    let mut table = Table {
        title: "The servers".into(),
        columns,
        ..Table::default()
    };
    table.rows = all(view).into_iter().map(|s| row(view, s, room)).collect();
    let baseline = view.common().baseline();
    let short = match room {
        Room::Narrow => {
            "work: threads that run handlers, 0 where the loops do; loop: event loops; thr: most threads seen. "
        }
        Room::Wide => {
            "Workers run handlers; where there are none, the loops do. Threads: the most seen. "
        }
    };
    table.notes.push(format!(
        "{short}Resident memory: after the load over {most} connections, and as a multiple of {baseline}'s. First \
         answer: of a fresh process, from connecting (a single reading)."
    ));
    table
}

fn row(view: &ServedView, subject: SubjectId, room: Room) -> Vec<Cell> {
    let common = view.common();
    let model = &common.plan.subjects[subject];
    let said = |key| Cell::from(view.setting(subject, key).unwrap_or("–"));
    let mut row = vec![Cell::from(view.name(subject))];
    if room == Room::Wide {
        row.extend([model.language.as_str(), model.driver.as_str()].map(Cell::from));
    }
    row.extend([said("workers"), said("loops")]);
    let Some(print) = view.footprint(subject) else {
        let why =
            failure(view, subject).map_or("not measured".into(), |f| format!("failed: {}", f.kind));
        row.push("–".into());
        row.push(Cell::from(why).tone(Tone::Alarm));
        let missing = if room == Room::Wide { 4 } else { 3 };
        row.extend(std::iter::repeat_n(Cell::from("–"), missing));
        return row;
    };
    let dash = || Cell::from("–");
    row.push(print.threads.map_or_else(dash, |n| n.to_string().into()));
    let memory = print.bytes.as_ref();
    row.push(memory.map_or_else(dash, |bytes| match room {
        Room::Narrow => crate::number::alone(Quantity::Size, bytes).into(),
        Room::Wide => figure(Quantity::Size, bytes, room),
    }));
    row.push(match (&print.ratio, &print.verdict) {
        _ if subject == common.plan.baseline => "1".into(),
        (Some(ratio), Some(verdict)) => judged(ratio, verdict, room),
        _ => dash(),
    });
    let startup = print.startup_ns.as_ref();
    row.push(startup.map_or_else(dash, |ns| figure(Quantity::Time, ns, room)));
    let pilots = || common.run.pilots.iter().filter(|p| p.subject == subject);
    let first = pilots().next().map(|pilot| pilot.cold_ns as f64);
    row.push(first.map_or_else(dash, |ns| single(Quantity::Time, ns).into()));
    if room == Room::Wide {
        row.push(warm_up(pilots().map(|p| p.class).collect()));
    }
    row
}

/// `warming`, or in how many cases it was what.
fn warm_up(classes: Vec<WarmUp>) -> Cell {
    let names: [(WarmUp, &str); 4] = [
        (WarmUp::Flat, "flat"),
        (WarmUp::Warming, "warming"),
        (WarmUp::Slowing, "slowing"),
        (WarmUp::NoSteadyState, "no steady state"),
    ];
    let count = |class: WarmUp| classes.iter().filter(|c| **c == class).count();
    let some = names.iter().map(|(class, name)| (count(*class), *name));
    let some: Vec<(usize, &str)> = some.filter(|(n, _)| *n > 0).collect();
    let text = match some.as_slice() {
        [] => "–".into(),
        [(_, only)] => only.to_string(),
        many => {
            let parts = many.iter().map(|(n, name)| format!("{n} {name}"));
            parts.collect::<Vec<_>>().join(", ")
        }
    };
    let open = count(WarmUp::NoSteadyState) > 0;
    Cell::from(text).tone(if open { Tone::Open } else { Tone::Plain })
}

/// A failure in a sentence, and what was said: the lines of a message after its first are part of that.
pub fn transcript(failure: &Failure) -> (&str, Vec<&str>) {
    let mut lines = failure.message.lines();
    let first = lines.next().unwrap_or_default();
    (
        first,
        lines
            .chain(failure.log.iter().map(String::as_str))
            .collect(),
    )
}

/// What was not compared although it did not fail, each reason of a server once.
pub fn refusals(view: &ServedView) -> Vec<String> {
    let common = view.common();
    let mut all: Vec<(SubjectId, &str, Vec<Option<PointId>>)> = Vec::new();
    for refusal in common.refusals() {
        let same = all
            .iter_mut()
            .find(|(subject, why, _)| (*subject, *why) == (refusal.subject, &refusal.why));
        match same {
            Some((_, _, points)) => points.push(refusal.point),
            None => all.push((refusal.subject, &refusal.why, vec![refusal.point])),
        }
    }
    let sentence = |(subject, why, points): (SubjectId, &str, Vec<Option<PointId>>)| {
        let at = match points.as_slice() {
            [one] => common.at(*one),
            many => format!(" at {}", count(many.len(), "point")),
        };
        format!("{}{at}: {why}", common.name(subject))
    };
    all.into_iter().map(sentence).collect()
}

/// What servers said of themselves where it is not the same for all; workers and loops are told elsewhere.
pub fn setting_table(view: &ServedView) -> Table {
    let (differing, _) = conditions(view.common());
    let mut table = differing.turned();
    table.title = "What the servers said of themselves".into();
    table.drop_columns(&["workers", "loops"]);
    for (i, column) in table.columns.iter_mut().enumerate() {
        column.numeric = false;
        if i == 0 {
            column.title = "server".into();
        }
    }
    if table.columns.len() < 2 {
        table.rows.clear();
    }
    table
}
