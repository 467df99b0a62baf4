// SPDX-License-Identifier: Apache-2.0
//! What the processes of whole commands used, and what starting them costs.

use super::Room;
use super::cases::{narrow_sweep, sweep_value};
use crate::number::{Quantity, full, short};
use crate::table::{Cell, Table};
use crate::view::{Group, View};
use lab_model::{PointId, SubjectId};
use lab_stats::analysis::{Interval, ProcessUse};

/// A use, its heading, and what it counts.
type Use = (&'static str, Quantity, fn(&ProcessUse) -> Interval);

/// All of them, in the order in which they are shown.
const USES: [Use; 7] = [
    ("user time", Quantity::Time, |u| u.user_ns),
    ("system time", Quantity::Time, |u| u.sys_ns),
    ("peak memory", Quantity::Size, |u| u.peak_rss_bytes),
    ("minor faults", Quantity::Ratio, |u| u.minor_faults),
    ("major faults", Quantity::Ratio, |u| u.major_faults),
    ("voluntary switches", Quantity::Ratio, |u| {
        u.voluntary_switches
    }),
    ("involuntary switches", Quantity::Ratio, |u| {
        u.involuntary_switches
    }),
];

/// What one run of each command used: narrow, what is looked for most, and only the memory over a
/// sweep; wide, everything, with a row for each value of the sweep.
pub fn use_table(view: &View, group: &Group, room: Room) -> Table {
    match (group.points.as_slice(), room) {
        (&[point], Room::Narrow) => narrow(view, point),
        (_, Room::Narrow) => {
            let cell = |subject, point| match view.uses(subject, point) {
                Some(uses) => short(Quantity::Size, &uses.peak_rss_bytes).into(),
                None => Cell::from("–"),
            };
            narrow_sweep(view, group, "peak".into(), cell)
        }
        (points, Room::Wide) => wide(view, group, points),
    }
}

/// What starting a process and a shell costs, in sentences; none where it was not measured.
pub fn overheads(view: &View) -> Vec<String> {
    let cost = |shell| {
        let subject = view.plan.start_cost(shell)?;
        let cell = view.analysis.cells.iter().find(|c| c.subject == subject)?;
        let program = view.plan.subjects[subject].program.first()?;
        Some((program, short(Quantity::Time, &cell.wall_ns)))
    };
    let by_shell = |s: SubjectId| {
        let command = view.plan.subjects[s].command.as_ref();
        command.is_some_and(|c| c.shell)
    };
    let shell = cost(true).filter(|_| view.plan.compared().any(by_shell));
    let shell = shell.map(|(sh, time)| {
        format!("{sh} itself takes {time} of each run marked {sh} (not subtracted).")
    });
    let process = cost(false).map(|(_, time)| {
        format!("Starting a process that does nothing takes {time} (not subtracted).")
    });
    shell.into_iter().chain(process).collect()
}

/// The name of the shell that runs commands, for those that one runs.
pub fn shell_name<'a>(view: &View<'a>) -> &'a str {
    let shell = view.plan.start_cost(true);
    let program = shell.and_then(|s| view.plan.subjects[s].program.first());
    program.map_or("sh", String::as_str)
}

/// Faults and switches of both kinds have one column each, that of the usual kind.
fn narrow(view: &View, point: PointId) -> Table {
    let shown = [(0, "user"), (1, "system"), (2, "peak"), (3, "faults")];
    let titles = shown.map(|(_, title)| title.to_string());
    let columns = std::iter::once(String::new()).chain(titles);
    let mut table = Table::new("", columns.chain(["switches".into()]));
    for subject in view.with_controls() {
        let Some(uses) = view.uses(subject, point) else {
            continue;
        };
        let cells = shown.iter().map(|&(i, _)| {
            let (_, quantity, of) = USES[i];
            Cell::from(short(quantity, &of(uses)))
        });
        let name = Cell::from(view.name(subject));
        let switches = short(Quantity::Ratio, &uses.voluntary_switches);
        let row = std::iter::once(name).chain(cells).chain([switches.into()]);
        table.rows.push(row.collect());
    }
    table.notes = statuses(view, &[point]);
    table
}

fn wide(view: &View, group: &Group, points: &[PointId]) -> Table {
    let sweep = view.plan.cases[group.case].sweep.clone();
    let head = std::iter::once(view.words.subject.to_string()).chain(sweep.clone());
    let columns = head.chain(USES.map(|(title, _, _)| title.to_string()));
    let mut table = Table::new(view.group_title(group, "what one run used"), columns);
    for subject in view.with_controls() {
        for &point in points {
            let Some(uses) = view.uses(subject, point) else {
                continue;
            };
            let x = sweep.as_ref().map(|_| sweep_value(view, point));
            let head = std::iter::once(view.name(subject).to_string()).chain(x);
            let cells = USES.map(|(_, quantity, of)| full(quantity, &of(uses)));
            table.rows.push(head.chain(cells).map(Cell::from).collect());
        }
    }
    table.notes = statuses(view, points);
    table
}

/// Commands of which a run ended with another status than 0.
fn statuses(view: &View, points: &[PointId]) -> Vec<String> {
    let mut notes = Vec::new();
    for subject in view.with_controls() {
        let uses = points.iter().filter_map(|&p| view.uses(subject, p));
        let mut seen: Vec<i32> = uses.flat_map(|u| u.statuses.iter().copied()).collect();
        seen.sort();
        seen.dedup();
        if seen.iter().any(|&status| status != 0) {
            let seen: Vec<String> = seen.iter().map(i32::to_string).collect();
            let name = view.name(subject);
            notes.push(format!("{name} ended with status {}.", seen.join(" or ")));
        }
    }
    notes
}
