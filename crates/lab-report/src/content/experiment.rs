// SPDX-License-Identifier: Apache-2.0
//! What there is to say over all targets of a run: what subjects use and are, what the servers are,
//! and what to know.

use super::Room;
use super::split::{Bar, splits};
use super::targets::short_label;
use crate::number::{Quantity, full, short};
use crate::table::{Cell, Table, cut};
use crate::view::View;
use lab_model::{Check, Kind, PointId, SubjectId};
use lab_stats::analysis::{Footprint, Interval, Warning};

/// Versions are cut to this many columns where there is little room.
const VERSION: usize = 34;

/// What every subject on every target takes: narrow, a table for each target; wide, one for all.
pub fn resources(views: &[View], room: Room) -> Vec<Table> {
    let one = |view: &View| {
        let mut table = resource_table(view, room);
        table.title = view.place().into();
        table.rows = resource_rows(view, room);
        table
    };
    match room {
        Room::Narrow => views.iter().map(one).collect(),
        Room::Wide => {
            let Some(mut table) = views.first().map(|view| resource_table(view, room)) else {
                return Vec::new();
            };
            table.columns.insert(0, text("subject"));
            table.columns[1] = text("database");
            for view in views {
                let rows = resource_rows(view, room).into_iter().map(|mut row| {
                    row.insert(1, view.place().into());
                    row
                });
                table.rows.extend(rows);
            }
            vec![table]
        }
    }
}

fn text(title: &str) -> crate::table::Column {
    crate::table::Column {
        title: title.into(),
        numeric: false,
    }
}

fn resource_table(view: &View, room: Room) -> Table {
    let point = example(view).map(|(point, _)| point);
    let cpu = match (point, room) {
        (Some(point), Room::Narrow) => format!("CPU/{}", short_label(view, point)),
        (Some(point), Room::Wide) => format!("CPU time of {}", view.plan.label(point)),
        (None, _) => "CPU/op".into(),
    };
    let columns = match room {
        Room::Narrow => vec!["subject", "start-up", "threads", "resident", "server", &cpu],
        Room::Wide => vec![
            "subject",
            "start-up",
            "threads",
            "resident memory",
            "peak",
            "server's memory beside it",
            &cpu,
            "server's CPU time of it",
        ],
    };
    Table::new(
        "Start-up, threads, memory and CPU time of an operation",
        columns.into_iter().map(String::from),
    )
}

/// The first point that only reads, or else the first.
fn example<'a>(view: &View<'a>) -> Option<(PointId, Vec<Bar<'a>>)> {
    let mut all = splits(view);
    let reads = |(point, _): &(PointId, _)| view.plan.case(*point).check == Check::Reads;
    let place = all.iter().position(reads).unwrap_or(0);
    (place < all.len()).then(|| all.swap_remove(place))
}

fn resource_rows(view: &View, room: Room) -> Vec<Vec<Cell>> {
    let bars = example(view).map_or(Vec::new(), |(_, bars)| bars);
    let show = match room {
        Room::Narrow => short,
        Room::Wide => full,
    };
    let cell = |quantity, interval: Option<Interval>| {
        interval.map_or(Cell::from("–"), |i| show(quantity, &i).into())
    };
    let row = |subject: SubjectId| {
        let print: &Footprint = view
            .analysis
            .footprints
            .iter()
            .find(|f| f.subject == subject)?;
        let bar = bars.iter().find(|bar| bar.subject == subject);
        let client = bar.map(|bar| bar.cost.client_ns);
        let server = bar.and_then(|bar| bar.cost.server_ns);
        let start = cell(Quantity::Time, Some(print.startup_ns));
        let threads = Cell::from(print.threads.to_string());
        let resident = cell(Quantity::Size, Some(print.rss_bytes));
        let beside = cell(Quantity::Size, print.server_bytes);
        let name = Cell::from(view.name(subject));
        Some(match room {
            Room::Narrow => vec![
                name,
                start,
                threads,
                resident,
                beside,
                cell(Quantity::Time, client),
            ],
            Room::Wide => vec![
                name,
                start,
                threads,
                resident,
                cell(Quantity::Size, Some(print.peak_rss_bytes)),
                beside,
                cell(Quantity::Time, client),
                cell(Quantity::Time, server),
            ],
        })
    };
    view.shown().into_iter().filter_map(row).collect()
}

/// Each subject's runtime, and its library on each target, as they said in their hello: wide, a row
/// for each name; narrow, a table for each target.
pub fn versions(views: &[View], room: Room) -> Vec<Table> {
    match room {
        Room::Narrow => views.iter().map(narrow_versions).collect(),
        Room::Wide => vec![wide_versions(views)],
    }
}

fn narrow_versions(view: &View) -> Table {
    let columns = ["subject", "runtime", "library"].map(String::from);
    let mut table = Table::new(view.place(), columns);
    table.columns.iter_mut().for_each(|c| c.numeric = false);
    for subject in view.shown() {
        let said = |key| Cell::from(cut(&said(view, subject, key), VERSION));
        let row = vec![view.name(subject).into(), said("runtime"), said("library")];
        table.rows.push(row);
    }
    table
}

fn wide_versions(views: &[View]) -> Table {
    let places = views.iter().map(|view| view.place());
    let columns = ["subject", "runtime"].into_iter().chain(places);
    let mut table = Table::new(
        "Versions of runtimes and drivers",
        columns.map(String::from),
    );
    table.columns.iter_mut().for_each(|c| c.numeric = false);
    let mut names: Vec<&str> = Vec::new();
    for view in views {
        for subject in view.shown() {
            let name = view.name(subject);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    for name in names {
        let found = |view: &View| view.shown().into_iter().find(|&s| view.name(s) == name);
        let mut runtimes: Vec<String> = Vec::new();
        for view in views {
            let runtime = found(view).map(|s| said(view, s, "runtime"));
            runtimes.extend(runtime.filter(|r| !runtimes.contains(r)));
        }
        let libraries = views.iter().map(|view| {
            let library = found(view).map(|s| said(view, s, "library"));
            Cell::from(library.unwrap_or("–".into()))
        });
        let head = [Cell::from(name), runtimes.join(" | ").into()];
        table.rows.push(head.into_iter().chain(libraries).collect());
    }
    table
}

/// What a subject said in its hello.
fn said(view: &View, subject: SubjectId, key: &str) -> String {
    let mut settings = view.run.settings.iter();
    let found = settings.find(|s| s.subject == subject && s.point.is_none() && s.key == key);
    found.map_or("–".into(), |s| s.value.clone())
}

/// What is known of the servers, a table for each.
pub fn services(views: &[View]) -> Vec<Table> {
    let of = |view: &View| {
        let title = match view.place() {
            "" => "The server".to_string(),
            place => format!("The server: {place}"),
        };
        let mut table = Table::new(title, ["fact".to_string()]).text_column("value");
        let facts = view.run.services.iter().flat_map(|s| &s.facts);
        table.rows.extend(
            facts.map(|(what, value)| vec![Cell::from(what.as_str()), Cell::from(value.as_str())]),
        );
        table
    };
    views
        .iter()
        .map(of)
        .filter(|t| !t.rows.is_empty())
        .collect()
}

/// All warnings, each once: those that do not hold for all targets with the one that they are about.
pub fn warnings<'a>(views: &[View<'a>]) -> Vec<(Option<Kind>, &'a Warning)> {
    let mut all: Vec<(Option<Kind>, &Warning)> = Vec::new();
    for view in views {
        for warning in view.warnings() {
            match all.iter_mut().find(|(_, known)| known.text == warning.text) {
                Some((kind, _)) => *kind = None,
                None => all.push((view.named, warning)),
            }
        }
    }
    all
}

/// A warning's text, after its target's name.
pub fn warning_text((kind, warning): &(Option<Kind>, &Warning)) -> String {
    match kind {
        Some(kind) => format!("{}: {}", kind.title(), warning.text),
        None => warning.text.clone(),
    }
}
