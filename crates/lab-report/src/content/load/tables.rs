// SPDX-License-Identifier: Apache-2.0
//! The tables of a load run: rates, errors, what they cost, and servers against each other.

use super::answer::metric_name;
use super::trouble::failed;
use crate::content::{Room, cases::tone, count};
use crate::load::LoadView;
use crate::number::{self, Quantity, full, short, single, whole};
use crate::table::{Cell, Table, Tone};
use crate::view::verdict_word;
use lab_model::ErrorKind;
use lab_stats::analysis::{Interval, Verdict};
use lab_stats::load::analysis::LoadCell;

/// So many servers and points stand side by side.
pub const UPRIGHT: usize = 2;

/// Intervals as there is room for them.
pub fn shown(room: Room) -> fn(Quantity, &Interval) -> String {
    match room {
        Room::Narrow => short,
        Room::Wide => full,
    }
}

/// A figure with its interval: below it on a page, where many stand side by side.
pub fn figure(view: &LoadView, room: Room, quantity: Quantity, interval: &Interval) -> Cell {
    match room_for(view, room) {
        Room::Narrow => short(quantity, interval).into(),
        Room::Wide if view.analysis.cells.len() <= UPRIGHT => full(quantity, interval).into(),
        Room::Wide if !number::bounded(interval) => full(quantity, interval).into(),
        Room::Wide => {
            let range = number::range(quantity, interval.low, interval.high);
            Cell::from(number::alone(quantity, interval)).sub(range)
        }
    }
}

/// With one or two rows, columns and rows change places: then there is room for whole intervals.
fn upright(table: Table) -> Table {
    match table.rows.len() <= UPRIGHT {
        true => table.turned(),
        false => table,
    }
}

/// The room that a table will have.
fn room_for(view: &LoadView, room: Room) -> Room {
    match view.analysis.cells.len() <= UPRIGHT {
        true => Room::Wide,
        false => room,
    }
}

/// What the rows are.
pub fn head(view: &LoadView) -> String {
    match (view.view.plan.subjects.len(), view.view.plan.points.len()) {
        (_, 1) => "server".into(),
        (1, _) => "point".into(),
        _ => "server and point".into(),
    }
}

fn row(view: &LoadView, cell: &LoadCell) -> Cell {
    view.label(cell.subject, cell.point).into()
}

/// Offered and served, and how many failed.
pub fn rate_table(view: &LoadView, room: Room) -> Table {
    let offered = view.open().then_some("offered");
    let columns = ["served", "requests", "errors", "received/s", "connects"];
    let columns = offered.into_iter().chain(columns).map(String::from);
    let mut table = Table::new("Requests", std::iter::once(head(view)).chain(columns));
    for cell in &view.analysis.cells {
        let mut cells = vec![row(view, cell)];
        if view.open() {
            cells.push(figure(view, room, Quantity::Rate, &cell.offered_per_s));
        }
        let mut served = figure(view, room, Quantity::Rate, &cell.served_per_s);
        if cell.saturated {
            served.text += " !";
            served.tone = Tone::Alarm;
        }
        cells.push(served);
        cells.push(whole(cell.offered).into());
        cells.push(errors(cell));
        let received = &cell.received_bytes_per_s;
        cells.push(figure(view, room, Quantity::Size, received));
        cells.push(whole(cell.connects).into());
        table.rows.push(cells);
    }
    if view.analysis.cells.iter().any(|cell| cell.saturated) {
        let limit = "! The generator was the limit there, not the server.";
        table.notes.push(limit.into());
    }
    upright(table)
}

/// How many requests failed, impossible to miss.
pub fn errors(cell: &LoadCell) -> Cell {
    match failed(cell) {
        0 => "0".into(),
        n => {
            let part = n as f64 / n.saturating_add(cell.served) as f64;
            Cell::from(format!("{} ({})", whole(n), number::percent(part))).tone(Tone::Alarm)
        }
    }
}

/// Errors by kind; no rows where there are none.
pub fn error_table(view: &LoadView) -> Table {
    let cells = &view.analysis.cells;
    let seen = |kind: &ErrorKind| {
        let mut errors = cells.iter().flat_map(|cell| &cell.errors);
        errors.any(|(k, n)| k == kind && *n > 0)
    };
    let kinds: Vec<ErrorKind> = ErrorKind::ALL.into_iter().filter(seen).collect();
    let columns = kinds.iter().map(|kind| kind.name().to_string());
    let mut table = Table::new("Errors by kind", std::iter::once(head(view)).chain(columns));
    for cell in cells.iter().filter(|cell| failed(cell) > 0) {
        let of = |kind: &ErrorKind| {
            let mut errors = cell.errors.iter();
            match errors.find(|(k, _)| k == kind) {
                Some((_, n)) => Cell::from(whole(*n)).tone(Tone::Alarm),
                None => "0".into(),
            }
        };
        let name = std::iter::once(row(view, cell));
        table.rows.push(name.chain(kinds.iter().map(of)).collect());
    }
    table.notes.extend(
        kinds
            .iter()
            .map(|kind| format!("{}: {}", kind.name(), meaning(*kind))),
    );
    table
}

fn meaning(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Connect => "no connection came about.",
        ErrorKind::Timeout => "no complete answer in time.",
        ErrorKind::Reset => "the connection ended before the answer was complete.",
        ErrorKind::Malformed => "the answer is not HTTP.",
        ErrorKind::Status => "another status than expected.",
        ErrorKind::Body => "another body than expected.",
        ErrorKind::Unfinished => {
            "not answered when the load and the time for stragglers were over."
        }
    }
}

/// What a request costs the server and the generator. Columns of what is not known are left out.
pub fn cost_table(view: &LoadView, room: Room) -> Table {
    let columns = [
        "server CPU/request",
        "server cores",
        "server memory",
        "server threads",
        "generator CPU/request",
        "generator busy",
        "lag p99",
    ];
    let columns = columns.map(String::from).into_iter();
    let mut table = Table::new("What it cost", std::iter::once(head(view)).chain(columns));
    let cell_of = |quantity, interval: Option<Interval>| {
        interval.map_or(Cell::from("–"), |i| figure(view, room, quantity, &i))
    };
    for cell in &view.analysis.cells {
        let threads = cell.server_threads.map_or("–".into(), |n| n.to_string());
        let busy = Cell::from(busy(&cell.generator_busy, room_for(view, room)));
        table.rows.push(vec![
            row(view, cell),
            cell_of(Quantity::Time, cell.server_cpu_ns),
            cell_of(Quantity::Ratio, cell.server_cores),
            cell_of(Quantity::Size, cell.server_bytes),
            threads.into(),
            cell_of(Quantity::Time, cell.generator_cpu_ns),
            if cell.saturated {
                busy.tone(Tone::Alarm)
            } else {
                busy
            },
            cell_of(Quantity::Time, cell.lag.p99_ns.filter(|_| view.open())),
        ]);
    }
    let empty = |i: &usize| table.rows.iter().all(|row| row[*i].text == "–");
    let empty: Vec<usize> = (1..table.columns.len()).filter(empty).collect();
    let empty = empty.iter().map(|&i| table.columns[i].title.clone());
    let empty: Vec<String> = empty.collect();
    table.drop_columns(&empty.iter().map(String::as_str).collect::<Vec<_>>());
    if view.load.server_pid.is_none() && empty.iter().any(|title| title.starts_with("server")) {
        let how = "What the server used is not known: name its process with --server-pid.";
        table.notes.push(how.into());
    }
    table.notes.push(
        "Busy: the part of the time in which the generator's busiest thread had a core; above 90 % the generator is \
         the limit."
            .into(),
    );
    upright(table)
}

/// A part of the time: `43 %`, with its interval where there is room.
fn busy(part: &Interval, room: Room) -> String {
    let estimate = number::percent(part.estimate);
    match room == Room::Wide && number::bounded(part) {
        true => {
            let [low, high] = [part.low, part.high].map(|p| number::percent(p.max(0.0)));
            format!("{estimate} [{low}, {high}]")
        }
        false => estimate,
    }
}

/// Every server against the baseline, metric by metric; no rows where there is one server alone.
pub fn comparison_table(view: &LoadView, room: Room) -> Table {
    let baseline = view.view.baseline();
    let several = view.view.plan.points.len() > 1 || view.view.plan.subjects.len() > 2;
    let columns = ["metric", "ratio", "verdict", "p", "blocks"].map(String::from);
    let mut table = Table::new(format!("Compared with {baseline}"), columns);
    if several {
        table.columns.insert(
            0,
            crate::table::Column {
                title: head(view),
                numeric: false,
            },
        );
        table.columns[1].numeric = false;
    }
    let verdict_column = table.columns.iter_mut().find(|c| c.title == "verdict");
    verdict_column.into_iter().for_each(|c| c.numeric = false);
    for comparison in &view.analysis.comparisons {
        let mut cells = Vec::new();
        if several {
            cells.push(view.label(comparison.subject, comparison.point).into());
        }
        let needed = match comparison.verdict {
            Verdict::Inconclusive {
                blocks_needed: Some(n),
            } => format!(" ({} would decide)", count(n as usize, "block")),
            _ => String::new(),
        };
        let verdict = format!("{}{needed}", verdict_word(&comparison.verdict));
        cells.extend([
            Cell::from(metric_name(comparison.metric)),
            shown(room)(Quantity::Ratio, &comparison.ratio).into(),
            Cell::from(verdict).tone(tone(&comparison.verdict)),
            single(Quantity::Ratio, comparison.p).into(),
            comparison.blocks.to_string().into(),
        ]);
        table.rows.push(cells);
    }
    table.notes.push(format!(
        "Ratios of times and costs to {baseline}'s: below 1 is better; margin {}. The time per request is 1 / throughput.",
        number::level(view.analysis.margin)
    ));
    table
}
