// SPDX-License-Identifier: Apache-2.0
//! What the compared commands are, and how often they were run.

use super::count;
use super::uses::shell_name;
use crate::number::{self, Quantity};
use crate::table::{Cell, Table};
use crate::view::View;
use lab_model::plan::Cores;
use lab_model::{Command, Ending, Subject};

/// A column that appears if one of its cells holds something.
type Part = (&'static str, fn(&View, &Subject, &Command) -> String);

/// What is told of a command besides its name.
const PARTS: [Part; 7] = [
    ("line", |_, _, c| c.line.clone()),
    ("run by", |view, _, c| match c.shell {
        true => shell_name(view).into(),
        false => String::new(),
    }),
    ("revision", |_, _, c| c.revision.clone().unwrap_or_default()),
    ("folder", |_, _, c| c.folder.clone().unwrap_or_default()),
    ("once before", |_, _, c| words(&c.setup)),
    ("before each run", |_, _, c| words(&c.prepare)),
    ("once after", |_, _, c| words(&c.cleanup)),
];

/// The commands with all that belongs to each.
pub fn command_table(view: &View) -> Table {
    let mut table = Table::new("The commands", ["command".to_string()]);
    let commands = view.with_controls().filter_map(|id| {
        let subject = &view.plan.subjects[id];
        Some((id, subject, subject.command.as_ref()?))
    });
    let commands: Vec<_> = commands.collect();
    let told = |of: fn(&View, &Subject, &Command) -> String| -> Vec<String> {
        let cells = commands.iter().map(|(_, s, c)| of(view, s, c));
        cells.collect()
    };
    let columns = PARTS.map(|(title, of)| (title, told(of)));
    let columns: Vec<_> = columns
        .into_iter()
        .filter(|(_, cells)| cells.iter().any(|c| !c.is_empty()))
        .collect();
    for (title, _) in &columns {
        table = table.text_column(title);
    }
    for (row, (id, _, _)) in commands.iter().enumerate() {
        let name = Cell::from(view.name(*id));
        let cells = columns.iter().map(|(_, cells)| cells[row].as_str().into());
        table
            .rows
            .push(std::iter::once(name).chain(cells).collect());
    }
    table
}

/// `12 blocks × 5 pairs on one core in 31 s; 95 % intervals, margin 2 %; decided.`
pub fn extent(view: &View) -> String {
    let end = ending(view.run.ending);
    if view.analysis.blocks == 0 {
        return format!("No complete block; {end}.");
    }
    let place = match cores(view) {
        Some(Cores::One) => " on one core",
        Some(Cores::All) => " on all cores",
        None => "",
    };
    let redone = match view.analysis.disturbed_blocks {
        0 => String::new(),
        n => format!(", {n} redone"),
    };
    format!(
        "{} × {}{place} in {}{redone}; {} intervals, margin {}; {}.",
        count(view.analysis.blocks as usize, "block"),
        pairs(view),
        took(view),
        number::level(view.analysis.level),
        number::level(view.analysis.margin),
        end,
    )
}

/// Where the commands ran: as the plan says, or as the pilot found.
pub fn cores(view: &View) -> Option<Cores> {
    let planned = view.commands().and_then(|commands| commands.cores);
    planned.or_else(|| {
        let mut settings = view.run.settings.iter();
        let found = settings.find(|s| s.key == "cores")?;
        match found.value.as_str() {
            "one" => Some(Cores::One),
            "all" => Some(Cores::All),
            _ => None,
        }
    })
}

/// The mirrored pairs that the blocks have: fewer than planned where commands take long.
pub fn pairs(view: &View) -> String {
    let blocks = view.run.complete_blocks();
    let passes = blocks.map(|b| b.samples.iter().map(|s| s.pass).max().unwrap_or(0));
    let pairs: Vec<usize> = passes.map(|last| last as usize / 2 + 1).collect();
    match (pairs.iter().min(), pairs.iter().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most} pairs"),
        (Some(&n), _) => count(n, "pair"),
        _ => count(view.plan.measure.pairs as usize, "pair"),
    }
}

/// From the beginning of the run to the end of its last block.
fn took(view: &View) -> String {
    let run = view.run;
    let ends = run.blocks.iter();
    let ends = ends.map(|b| b.started_unix_s + b.duration_ns as f64 / 1e9);
    let seconds = ends.fold(run.started_unix_s, f64::max) - run.started_unix_s;
    match seconds {
        s if s < 100.0 => number::single(Quantity::Time, s * 1e9),
        s => format!("{:.0} min", s / 60.0),
    }
}

/// Why it ended, in two or three words.
fn ending(ending: Option<Ending>) -> &'static str {
    match ending {
        Some(Ending::Decided) => "decided",
        Some(Ending::Precise) => "precise enough",
        Some(Ending::Budget) => "time up",
        Some(Ending::Blocks) => "all blocks done",
        Some(Ending::Failed) => "nothing left to compare",
        Some(Ending::Interrupted) => "interrupted",
        None => "not ended",
    }
}

/// A program and its arguments as one text.
fn words(program: &Option<Vec<String>>) -> String {
    program.as_ref().map_or(String::new(), |p| p.join(" "))
}
