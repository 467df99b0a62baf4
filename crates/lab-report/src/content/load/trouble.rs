// SPDX-License-Identifier: Apache-2.0
//! What must be seen beside the figures of a load run: that the generator was the limit, that requests
//! failed, that fewer were served than offered.

use crate::load::LoadView;
use crate::number::{self, Quantity, single, spoken, whole};
use lab_stats::load::analysis::LoadCell;

/// A server that does not keep up serves less than this part of what is offered.
const KEEPS_UP: f64 = 0.99;

/// A sentence for each trouble, the worst first.
pub fn alarms(view: &LoadView) -> Vec<String> {
    let cells = &view.analysis.cells;
    let of = |say: fn(&LoadView, &LoadCell) -> Option<String>| {
        cells.iter().filter_map(move |cell| say(view, cell))
    };
    of(limit).chain(of(failures)).chain(of(behind)).collect()
}

/// How many requests were not answered as they should be.
pub fn failed(cell: &LoadCell) -> u64 {
    let kinds = cell.errors.iter();
    kinds.fold(0, |sum, (_, n)| sum.saturating_add(*n))
}

/// Who and where, at the beginning of a sentence: `B at connections=64: `; nothing where it goes without
/// saying.
fn place(view: &LoadView, cell: &LoadCell) -> String {
    let alone = view.view.plan.subjects.len() == 1;
    let at = view.at(cell.point);
    match (alone, at.is_empty()) {
        (true, true) => String::new(),
        (true, false) => format!("{}: ", crate::view::capital(at.trim_start())),
        (false, _) => format!("{}{at}: ", view.view.name(cell.subject)),
    }
}

fn limit(view: &LoadView, cell: &LoadCell) -> Option<String> {
    if !cell.saturated {
        return None;
    }
    let place = place(view, cell);
    let busy = &cell.generator_busy;
    let late = cell.lag.p99_ns.filter(|_| view.open());
    Some(match late.filter(|_| busy.estimate <= 0.9) {
        Some(late) => format!(
            "{place}the generator was late: it came to 1 % of the requests more than {} after they were due. These \
             times are too high by that; more --threads, or a machine that does nothing else, may help.",
            spoken(Quantity::Time, &late),
        ),
        None => format!(
            "{place}the generator was the limit, not the server: its busiest thread had a core for {} of the time. \
             The server may be able to do more; give the generator more --threads.",
            number::percent(busy.estimate),
        ),
    })
    .map(|text| crate::view::capital(&text))
}

fn failures(view: &LoadView, cell: &LoadCell) -> Option<String> {
    let failed = failed(cell);
    let all = failed.saturating_add(cell.served);
    if failed == 0 {
        return None;
    }
    let kinds = cell.errors.iter();
    let kinds = kinds.map(|(kind, n)| format!("{} {}", whole(*n), kind.name()));
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    let place = place(view, cell);
    Some(match cell.served {
        0 => format!("{place}nothing was served: all of {} requests failed ({kinds}).", whole(all)),
        _ => format!(
            "{place}{} of {} requests failed ({}): {kinds}. They are not in the times, which are those of requests \
             served.",
            whole(failed),
            whole(all),
            number::percent(failed as f64 / all as f64),
        ),
    })
    .map(|text| crate::view::capital(&text))
}

/// In an open loop: more is due than is served.
fn behind(view: &LoadView, cell: &LoadCell) -> Option<String> {
    let part = cell.served as f64 / cell.offered as f64;
    let behind = view.open() && failed(cell) == 0 && part < KEEPS_UP && cell.served > 0;
    let longest = cell.response.max_ns.map_or(String::new(), |ns| {
        format!("; one waited {}", single(Quantity::Time, ns as f64))
    });
    behind.then(|| {
        let place = place(view, cell);
        crate::view::capital(&format!(
            "{place}the server did not keep up: {} of {} requests that were due were served{longest}.",
            whole(cell.served),
            whole(cell.offered),
        ))
    })
}
