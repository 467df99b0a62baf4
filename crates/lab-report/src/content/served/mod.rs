// SPDX-License-Identifier: Apache-2.0
//! What a report says of servers that the lab started, before it takes the form of a format.

mod answer;
mod costs;
mod latency;
mod method;
mod rates;
mod servers;

pub use answer::{answer, joined};
pub use costs::{cost_table, ratio_table, reconnect_table};
pub use latency::{latency_tables, p99_table};
pub use method::{asked, method, proof, split};
pub use rates::{peak_table, rate_tables};
pub use servers::{error_table, overview_table, refusals, server_table, setting_table, transcript};

use crate::content::{Room, cases::mark, cases::tone};
use crate::number::{self, Quantity, brief_in, full, short};
use crate::served::ServedView;
use crate::table::{Cell, Table, Tone};
use lab_model::{Failure, SubjectId};
use lab_stats::analysis::{Interval, Verdict};

/// What the marks of verdicts on costs and times mean.
const MARKS: &str = "< less, > more, = equivalent, ~ small but real, ? inconclusive";

/// The same after a sentence, where there are marks.
fn marks(room: Room) -> String {
    match room {
        Room::Narrow => format!(" {MARKS}."),
        Room::Wide => String::new(),
    }
}

/// What a verdict on a cost or a time says.
pub fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "less",
        Verdict::Slower => "more",
        Verdict::Equivalent => "equivalent",
        Verdict::SmallButReal { faster: true } => "a little less",
        Verdict::SmallButReal { faster: false } => "a little more",
        Verdict::Inconclusive { .. } => "inconclusive",
    }
}

/// The servers that were measured, those first of which a request costs least.
pub fn ranked(view: &ServedView) -> Vec<SubjectId> {
    let mut servers = view.measured();
    let cost = |subject: &SubjectId| {
        let overall = view.overall(*subject, view.whole(), view.usual());
        match *subject == view.common().plan.baseline {
            true => 1.0,
            false => overall.map_or(f64::INFINITY, |o| o.ratio.estimate),
        }
    };
    servers.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    servers
}

/// The same, then those that were not measured.
pub fn all(view: &ServedView) -> Vec<SubjectId> {
    let mut all = ranked(view);
    let shown = view.common().shown();
    all.extend(shown.into_iter().filter(|s| view.footprint(*s).is_none()));
    all
}

/// What stopped a server everywhere.
pub fn failure<'a>(view: &ServedView<'_, 'a>, subject: SubjectId) -> Option<&'a Failure> {
    let mut failures = view.common().run.failures.iter();
    failures.find(|f| f.subject == subject && f.point.is_none())
}

/// An interval as there is room for it: on a page below its estimate, for many stand side by side.
fn figure(quantity: Quantity, interval: &Interval, room: Room) -> Cell {
    match room {
        Room::Narrow => short(quantity, interval).into(),
        Room::Wide if !number::bounded(interval) => full(quantity, interval).into(),
        Room::Wide => {
            let range = number::range(quantity, interval.low, interval.high);
            Cell::from(number::alone(quantity, interval)).sub(range)
        }
    }
}

/// The same in the unit of a table, which its title names where there is little room.
fn figure_in(quantity: Quantity, scale: f64, interval: &Interval, room: Room) -> Cell {
    match room {
        Room::Narrow => brief_in(scale, "", interval).into(),
        Room::Wide => figure(quantity, interval, room),
    }
}

/// A ratio with its verdict: a mark behind it, or on a page a word below.
fn judged(ratio: &Interval, verdict: &Verdict, room: Room) -> Cell {
    let shown = figure_in(Quantity::Ratio, 1.0, ratio, room);
    with_verdict(shown, Some(verdict), room)
}

/// A figure with the verdict on it; none: there is no comparison.
fn with_verdict(shown: Cell, verdict: Option<&Verdict>, room: Room) -> Cell {
    let text = match (verdict, room) {
        (Some(verdict), Room::Narrow) => Cell {
            text: format!("{}{}", shown.text, mark(verdict)),
            ..shown
        },
        (Some(verdict), Room::Wide) => beside(shown, word(verdict)),
        // Its figures stand below the others'.
        (None, Room::Narrow) => Cell {
            text: format!("{} ", shown.text),
            ..shown
        },
        (None, Room::Wide) => shown,
    };
    match verdict {
        Some(verdict) => text.tone(tone(verdict)),
        None => text,
    }
}

/// With something more in its second line.
fn beside(cell: Cell, what: &str) -> Cell {
    let sub = match cell.sub.is_empty() {
        true => what.to_string(),
        false => format!("{} · {what}", cell.sub),
    };
    cell.sub(sub)
}

/// A table whose rows are the servers that were measured and whose columns are cases.
fn by_case(
    view: &ServedView,
    title: String,
    cases: &[Option<usize>],
    cell: impl Fn(SubjectId, Option<usize>) -> Cell,
) -> Table {
    let names = cases.iter().map(|&case| view.case_name(case).to_string());
    let mut table = Table::new(title, std::iter::once("server".to_string()).chain(names));
    for subject in ranked(view) {
        let cells = cases.iter().map(|&case| cell(subject, case));
        let name = Cell::from(view.name(subject));
        table
            .rows
            .push(std::iter::once(name).chain(cells).collect());
    }
    table
}

/// The unit that suits all of a table's figures, and how its title names it where there is little room.
fn unit(quantity: Quantity, room: Room, known: impl Iterator<Item = f64>) -> (f64, String) {
    if room == Room::Wide {
        return (1.0, String::new());
    }
    if quantity == Quantity::Rate {
        // Written out elsewhere.
        let least = known.fold(f64::INFINITY, f64::min);
        return match least >= 1e3 && least.is_finite() {
            true => (1e3, ", k".into()),
            false => (1.0, String::new()),
        };
    }
    let (scale, unit) = number::common_unit(quantity, known);
    (scale, format!(",{unit}"))
}

/// Where a server has no figure.
fn none(view: &ServedView, subject: SubjectId, point: Option<usize>) -> Cell {
    let failure = point.and_then(|point| view.common().failure(subject, point));
    match failure {
        Some(failure) => Cell::from(failure.kind.as_str()).tone(Tone::Alarm),
        None => "–".into(),
    }
}
