// SPDX-License-Identifier: Apache-2.0
//! The servers: what they are, what they hold, and how they start.

use super::costs::usual_point;
use super::rates::limited;
use super::{MARKS, all, failure, figure, figure_in, judged, ranked, unit};
use crate::content::load::failed;
use crate::content::{Room, conditions, count};
use crate::number::{Quantity, alone, percent, single, whole};
use crate::served::{ServedView, per_cpu_second};
use crate::table::{Cell, Column, Table, Tone};
use lab_model::{ErrorKind, Failure, PointId, SubjectId, WarmUp};
use lab_stats::analysis::Interval;
use lab_stats::load::analysis::{LoadCell, Metric};

/// What is said of a server in a column: its title, whether it is a number, and what it is.
type Fact<'t> = (String, bool, Box<dyn Fn(SubjectId) -> Cell + 't>);

/// A row for each server, those that failed at the end: what it is, what it holds, how it starts; on a page
/// also what a request of the first case costs it.
pub fn server_table(view: &ServedView, room: Room) -> Table {
    let common = view.common();
    let said = |key: &'static str| move |s| Cell::from(view.setting(s, key).unwrap_or(NONE));
    let mut facts: Vec<Fact> = Vec::new();
    let titles = match room {
        Room::Narrow => ["work", "loop", "thr", "resident"],
        Room::Wide => ["workers", "loops", "threads", "resident memory"],
    };
    facts.push((titles[0].into(), true, Box::new(said("workers"))));
    facts.push((titles[1].into(), true, Box::new(said("loops"))));
    facts.push((titles[2].into(), true, Box::new(move |s| threads(view, s))));
    facts.push((
        titles[3].into(),
        true,
        Box::new(move |s| memory(view, s, room)),
    ));
    facts.push((
        "ratio".into(),
        true,
        Box::new(move |s| memory_ratio(view, s, room)),
    ));
    if room == Room::Wide {
        facts.extend(costs(view, room));
    }
    facts.push((
        "start-up".into(),
        true,
        Box::new(move |s| startup(view, s, room)),
    ));
    facts.push((
        "first".into(),
        true,
        Box::new(move |s| first_answer(view, s)),
    ));
    let mut table = of_facts("The servers".into(), all(view), view, facts);
    let connections = view.load.analysis.footprints.iter().map(|f| f.connections);
    let (most, baseline) = (connections.max().unwrap_or(0), common.baseline());
    let memory = format!(
        "memory after the load over {most} connections, and its ratio to {baseline}'s; first: the first answer of a \
         fresh process, from connecting (a single reading)."
    );
    table.notes.push(match room {
        Room::Narrow => format!(
            "work: threads that run handlers, 0 where the loops do; loop: event loops; thr: most threads seen; \
             resident: {memory}"
        ),
        Room::Wide => format!(
            "Workers: threads that run handlers, 0 where the loops do; threads: the most seen; resident memory: \
             {memory} {}",
            cost_note(view, room)
        ),
    });
    table
}

/// A row for each server that was measured: what a request of the first case costs it, and what it serves.
pub fn overview_table(view: &ServedView, room: Room) -> Table {
    let title = "What a request costs, and what is served".into();
    let mut table = of_facts(title, ranked(view), view, costs(view, room));
    table.notes.push(cost_note(view, room));
    table
}

fn of_facts(title: String, servers: Vec<SubjectId>, view: &ServedView, facts: Vec<Fact>) -> Table {
    let titles = facts.iter().map(|(title, ..)| title.clone());
    let mut table = Table::new(title, std::iter::once("server".to_string()).chain(titles));
    for (column, (_, numeric, _)) in table.columns.iter_mut().skip(1).zip(&facts) {
        column.numeric = *numeric;
    }
    for subject in servers {
        let cells = facts.iter().map(|(.., of)| of(subject));
        let name = Cell::from(view.name(subject));
        table
            .rows
            .push(std::iter::once(name).chain(cells).collect());
    }
    table
}

/// CPU time per request, its ratio to the baseline's, the most requests per second, and the p99.
fn costs<'t>(view: &'t ServedView, room: Room) -> Vec<Fact<'t>> {
    let plan = view.common().plan;
    let (keep_alive, whole) = (view.usual(), view.whole());
    let Some(case) = view.cases().first().copied() else {
        return Vec::new();
    };
    let here = usual_point(view, case);
    let cost = move |s| view.load.cell(s, here?)?.server_cpu_ns;
    let per_second = move |s| cost(s).as_ref().map(per_cpu_second);
    let peak = move |s| view.peak(s, case, keep_alive);
    let servers = ranked(view);
    let known = |of: &dyn Fn(SubjectId) -> Option<Interval>| -> Vec<f64> {
        let all = servers.iter().filter_map(|&s| of(s));
        all.map(|interval| interval.estimate).collect()
    };
    let most = move |s| peak(s).map(|cell| cell.served_per_s);
    let in_unit = |title, quantity, known: Vec<f64>| {
        let (scale, named) = unit(quantity, room, known.into_iter());
        (format!("{title}{named}"), scale)
    };
    let titles = match room {
        Room::Narrow => ["CPU ratio", "CPU", "per CPU s", "most"],
        Room::Wide => ["CPU ratio", "CPU / request", "per CPU second", "most / s"],
    };
    let (cost_title, time) = in_unit(titles[1], Quantity::Time, known(&cost));
    let (per_title, rate) = in_unit(titles[2], Quantity::Rate, known(&per_second));
    let (most_title, peaks) = in_unit(titles[3], Quantity::Rate, known(&most));
    let shown = move |quantity, scale, interval: Option<Interval>| {
        interval.map_or(Cell::from(NONE), |i| figure_in(quantity, scale, &i, room))
    };
    let ratio = move |s| match view.overall(s, whole, keep_alive) {
        _ if s == plan.baseline => "1 ".into(),
        Some(overall) => judged(&overall.ratio, &overall.verdict, room),
        None => NONE.into(),
    };
    let served = move |s| {
        let Some(peak) = peak(s) else {
            return NONE.into();
        };
        limited(
            peak,
            figure_in(Quantity::Rate, peaks, &peak.served_per_s, room),
        )
    };
    let cost_shown = move |s| shown(Quantity::Time, time, cost(s));
    let mut facts: Vec<Fact> = vec![
        (titles[0].into(), true, Box::new(ratio)),
        (cost_title, true, Box::new(cost_shown)),
    ];
    // On a page it has tables of its own.
    if room == Room::Narrow {
        let per_second = move |s| shown(Quantity::Rate, rate, per_second(s));
        facts.push((per_title, true, Box::new(per_second)));
    }
    facts.push((most_title, true, Box::new(served)));
    if room == Room::Narrow && !view.load.analysis.reconnects.is_empty() {
        let new = move |s| {
            let effect = view.reconnect(s, whole, Metric::ServerCpu);
            shown(Quantity::Ratio, 1.0, effect.map(|effect| effect.ratio))
        };
        facts.push(("new conn.".into(), true, Box::new(new)));
    }
    facts
}

/// Of what the costs are.
fn cost_note(view: &ServedView, room: Room) -> String {
    let Some(&case) = view.cases().first() else {
        return String::new();
    };
    let all = match view.whole() {
        Some(_) => String::new(),
        None => format!(" of all {}", count(view.cases().len(), "case")),
    };
    let marks = match room {
        Room::Narrow => format!(" ({MARKS})"),
        Room::Wide => String::new(),
    };
    let new = match view.load.analysis.reconnects.is_empty() || room == Room::Wide {
        true => String::new(),
        false => "; new conn.: how many times as much CPU time a connection for each request costs"
            .into(),
    };
    let most = match room {
        Room::Narrow => "requests per second over any number of them (k: thousands)",
        Room::Wide => "requests per second over any number of them",
    };
    format!(
        "CPU ratio: the server's CPU time per request as a multiple of {}'s, over {}{all}{marks}; CPU: of {} over {} \
         connections; most: {most}{new}.",
        view.common().baseline(),
        view.connections(view.whole(), view.usual()),
        view.case_name(Some(case)),
        view.usual_connections(case).unwrap_or(0),
    )
}

/// What has no figure.
const NONE: &str = "–";

fn threads(view: &ServedView, subject: SubjectId) -> Cell {
    let threads = view.footprint(subject).and_then(|f| f.threads);
    threads.map_or(NONE.into(), |n| n.to_string().into())
}

/// The memory; of a server that was not measured, why not.
fn memory(view: &ServedView, subject: SubjectId, room: Room) -> Cell {
    match view.footprint(subject) {
        Some(print) => match (&print.bytes, room) {
            (Some(bytes), Room::Narrow) => alone(Quantity::Size, bytes).into(),
            (Some(bytes), Room::Wide) => figure(Quantity::Size, bytes, room),
            (None, _) => NONE.into(),
        },
        None => {
            let failure = failure(view, subject);
            let why = failure.map_or("not measured".into(), |f| format!("failed: {}", f.kind));
            Cell::from(why).tone(Tone::Alarm)
        }
    }
}

fn memory_ratio(view: &ServedView, subject: SubjectId, room: Room) -> Cell {
    let print = view.footprint(subject);
    let ratio = print.and_then(|p| Some((p.ratio.as_ref()?, p.verdict.as_ref()?)));
    match ratio {
        _ if print.is_some() && subject == view.common().plan.baseline => "1".into(),
        Some((ratio, verdict)) => judged(ratio, verdict, room),
        None => NONE.into(),
    }
}

fn startup(view: &ServedView, subject: SubjectId, room: Room) -> Cell {
    let startup = view.footprint(subject).and_then(|f| f.startup_ns);
    startup.map_or(NONE.into(), |ns| figure(Quantity::Time, &ns, room))
}

fn first_answer(view: &ServedView, subject: SubjectId) -> Cell {
    let mut pilots = view.common().run.pilots.iter();
    let pilot = pilots.find(|p| p.subject == subject);
    pilot.map_or(NONE.into(), |p| {
        single(Quantity::Time, p.cold_ns as f64).into()
    })
}

/// Requests that failed: how many of each server, of which kinds, and where most did.
pub fn error_table(view: &ServedView) -> Table {
    let cells = || {
        view.load
            .analysis
            .cells
            .iter()
            .filter(|cell| failed(cell) > 0)
    };
    let sum = |cells: &[&LoadCell], kind: &ErrorKind| -> u64 {
        let errors = cells.iter().flat_map(|cell| &cell.errors);
        errors
            .filter(|(known, _)| known == kind)
            .map(|(_, n)| *n)
            .sum()
    };
    let everything: Vec<&LoadCell> = cells().collect();
    let kinds = ErrorKind::ALL.into_iter();
    let kinds: Vec<ErrorKind> = kinds.filter(|kind| sum(&everything, kind) > 0).collect();
    let names = kinds.iter().map(|kind| kind.name().to_string());
    let columns = ["server".to_string()].into_iter().chain(names);
    let mut table = Table::new("Requests that failed", columns.chain(["points".into()]));
    table = table.text_column("most of all at");
    for subject in ranked(view) {
        let mine: Vec<&LoadCell> = cells().filter(|cell| cell.subject == subject).collect();
        let part = |cell: &LoadCell| failed(cell) as f64 / (failed(cell) + cell.served) as f64;
        let Some(worst) = mine.iter().max_by(|a, b| part(a).total_cmp(&part(b))) else {
            continue;
        };
        let counts = kinds.iter().map(|kind| match sum(&mine, kind) {
            0 => "0".into(),
            n => Cell::from(whole(n)).tone(Tone::Alarm),
        });
        let row = std::iter::once(Cell::from(view.name(subject))).chain(counts);
        let place = format!("{}: {}", view.load.point(worst.point), percent(part(worst)));
        table.rows.push(
            row.chain([mine.len().to_string().into(), place.into()])
                .collect(),
        );
    }
    table
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

/// What servers are, and said of themselves where it is not the same for all; workers and loops are told
/// elsewhere.
pub fn setting_table(view: &ServedView) -> Table {
    let (differing, _) = conditions(view.common());
    let mut table = differing.turned();
    table.title = "What the servers are, and said of themselves".into();
    table.drop_columns(&["workers", "loops"]);
    table = table.text_column("warm-up");
    for (i, column) in table.columns.iter_mut().enumerate() {
        column.numeric = false;
        if i == 0 {
            column.title = "server".into();
        }
    }
    let common = view.common();
    let text = |title: &str| Column {
        title: title.into(),
        numeric: false,
    };
    table
        .columns
        .splice(1..1, [text("language"), text("what it is")]);
    for row in &mut table.rows {
        let subjects = common.plan.subjects.iter();
        let found = subjects.clone().find(|s| s.name == row[0].text);
        let [language, driver] = found.map_or(["", ""], |s| [s.language.as_str(), &s.driver]);
        row.splice(1..1, [Cell::from(language), Cell::from(driver)]);
        let pilots = common.run.pilots.iter();
        let mine = pilots.filter(|p| common.name(p.subject) == row[0].text);
        row.push(warm_up(mine.map(|p| p.class).collect()));
    }
    table
}
