// SPDX-License-Identifier: Apache-2.0
//! What a reader of a load run's figures must know, in sentences.

use super::analysis::{LoadCell, Metric};
use super::cells::{BUSY, LATE_NS, Measured};
use super::compare::Pair;
use super::{error_share, errors, hidden};
use crate::analysis::Warning;
use crate::family;
use crate::warnings::{self, list, percent};
use lab_model::{Arrivals, Ending, Load, Plan, Run};

/// Where less than this part of what was due was served, the rate was not delivered.
const DELIVERED: f64 = 0.99;

/// Generator and server take from each other where together they use more than this part of the cores.
const FULL: f64 = 0.9;

/// All warnings about a load run, the gravest first. `disturbed`: blocks that were redone.
pub fn warnings(
    run: &Run,
    plan: &Plan,
    load: &Load,
    measured: &[Measured],
    compared: &[Pair],
    disturbed: u32,
) -> Vec<Warning> {
    let told = Told {
        plan,
        load,
        measured,
    };
    let mut warnings = Vec::new();
    let mut warn = |kind: &str, texts: Vec<String>| {
        warnings.extend(texts.into_iter().map(|text| Warning {
            kind: kind.to_string(),
            text,
        }));
    };
    let one = |text: Option<String>| text.into_iter().collect::<Vec<String>>();
    warn("interrupted", one(interrupted(run)));
    warn("failed", warnings::failed(run, plan));
    warn("errors", one(told.errors()));
    warn("saturated", one(told.saturated()));
    warn("late", one(told.late()));
    warn("not-delivered", one(told.not_delivered()));
    warn("shared-cores", one(told.shared_cores(run)));
    warn("host", warnings::unfit(run));
    warn("few-blocks", one(told.few_blocks(run, compared)));
    match load.arrivals.changes() {
        true => warn("stages", one(told.stages())),
        false => warn("dependent", one(told.dependent(compared))),
    }
    warn("disturbed", warnings::disturbances(run, disturbed));
    warn("closed-loop", one(told.closed_loop()));
    warnings
}

pub(super) fn interrupted(run: &Run) -> Option<String> {
    let how = match run.ending {
        Some(Ending::Interrupted) => "was stopped by hand",
        None => "has not ended",
        Some(_) => return None,
    };
    Some(format!("The run {how}: what it has is shown."))
}

/// What sentences are made of.
struct Told<'r> {
    plan: &'r Plan,
    load: &'r Load,
    measured: &'r [Measured],
}

impl Told<'_> {
    fn cells(&self, which: impl Fn(&LoadCell) -> bool) -> Vec<&LoadCell> {
        let cells = self.measured.iter().map(|measured| &measured.cell);
        cells.filter(|cell| which(cell)).collect()
    }

    /// A cell's server and point, as far as they do not go without saying.
    fn place(&self, cell: &LoadCell) -> String {
        let several = self.plan.subjects.len() > 1;
        let subject = several.then(|| self.plan.subjects[cell.subject].name.clone());
        let point = self.plan.points[cell.point].params.iter();
        let point: Vec<String> = point.map(|(key, value)| format!("{key}={value}")).collect();
        let point = (self.plan.points.len() > 1).then(|| point.join(" "));
        let words: Vec<String> = subject.into_iter().chain(point).collect();
        words.join(" at ")
    }

    /// ` at connections=8 and connections=16`, ` for A at connections=8`, or nothing.
    fn at(&self, cells: &[&LoadCell]) -> String {
        let preposition = match self.plan.subjects.len() {
            1 => "at",
            _ => "for",
        };
        let places = list(cells.iter().map(|cell| self.place(cell)));
        match places.is_empty() {
            true => places,
            false => format!(" {preposition} {places}"),
        }
    }

    /// Of the cells, each with something to say of it.
    fn each(&self, cells: &[&LoadCell], what: impl Fn(&LoadCell) -> String) -> String {
        list(
            cells
                .iter()
                .map(|cell| format!("{}{}", what(cell), self.at(&[cell]))),
        )
    }

    fn errors(&self) -> Option<String> {
        let failing = self.cells(|cell| errors(cell) > 0);
        let hides = |cell: &LoadCell| {
            let parts = Metric::IN_TURNS.into_iter().filter_map(Metric::per_10_000);
            let highest = parts.max();
            highest.is_some_and(|part| hidden(errors(cell), cell.served, part))
        };
        let several = self.plan.subjects.len() > 1;
        let left_out = match several && failing.iter().any(|cell| hides(cell)) {
            true => " Percentiles are not compared where more failed than lie beyond them.",
            false => "",
        };
        let shares = self.each(&failing, |cell| {
            let share = error_share(errors(cell), cell.served).unwrap_or(0.0);
            let kinds = cell.errors.iter();
            let kinds = kinds.map(|(kind, count)| format!("{count} {}", kind.name()));
            format!("{} ({})", percent_of_errors(share), list(kinds))
        });
        (!failing.is_empty()).then(|| {
            format!(
                "Of the requests, these were not answered as they should be: {shares}. They are in no \
                 percentile: those are of what was served.{left_out}"
            )
        })
    }

    fn saturated(&self) -> Option<String> {
        let busy = self.cells(|cell| cell.generator_busy.estimate > BUSY);
        let parts = self.each(&busy, |cell| percent(whole(cell.generator_busy.estimate)));
        (!busy.is_empty()).then(|| {
            format!(
                "The generator was the limit, not the server: so much of the time its busiest thread \
                 had a core: {parts}. The figures there are its own. Give it more threads (--threads), \
                 have the server send smaller answers, or generate the load on another machine."
            )
        })
    }

    fn late(&self) -> Option<String> {
        let late_ns = |cell: &LoadCell| cell.lag.p99_ns.map_or(0.0, |lag| lag.estimate);
        let late = self.cells(|cell| self.open() && late_ns(cell) > LATE_NS);
        let lags = self.each(&late, |cell| format!("{:.1} ms", late_ns(cell) / 1e6));
        (!late.is_empty()).then(|| {
            format!(
                "The generator itself came late to one request in a hundred, by so much or more: {lags}. \
                 Response times there have that in them. Give it a core of its own or more threads \
                 (--threads), a lower --rate, or another machine."
            )
        })
    }

    fn not_delivered(&self) -> Option<String> {
        let short = self.cells(|cell| self.open() && undelivered(cell));
        let rates = self.each(&short, |cell| {
            let [served, offered] = [cell.served_per_s, cell.offered_per_s];
            let rates = format!("{:.0} of {:.0}", served.estimate, offered.estimate);
            // What is under way at the end of every visit is not worth a word.
            match cell.drain_ns as f64 > (1.0 - DELIVERED) * self.load.stretch_ns as f64 {
                true => {
                    let late_s = cell.drain_ns as f64 / 1e9;
                    format!("{rates}, until {late_s:.2} s after the end")
                }
                false => rates,
            }
        });
        (!short.is_empty()).then(|| {
            format!(
                "Not all that was due was served; of the requests per second: {rates}. Where requests \
                 pile up, response times grow as long as the load lasts: its length is in the percentiles. \
                 Look for the highest rate that is served, or raise --connections."
            )
        })
    }

    /// That the server is on this machine is known where its CPU time is.
    fn shared_cores(&self, run: &Run) -> Option<String> {
        let mut facts = run.host.facts.iter();
        let (_, cores) = facts.find(|(name, _)| name == "cores")?;
        let cores: f64 = cores.parse().ok()?;
        let generator = |cell: &LoadCell| {
            let request_ns = cell.generator_cpu_ns.map_or(0.0, |i| i.estimate);
            cell.served_per_s.estimate * request_ns / 1e9
        };
        let used = |cell: &LoadCell| Some(cell.server_cores?.estimate + generator(cell));
        let full = self.cells(|cell| used(cell).is_some_and(|used| used > FULL * cores));
        (!full.is_empty() && cores > 0.0).then(|| {
            format!(
                "The server is on the generator's machine, and together they used nearly all of its \
                 {cores:.0} core{}{}: each took from the other. On two machines more would be served.",
                if cores == 1.0 { "" } else { "s" },
                self.at(&full),
            )
        })
    }

    fn few_blocks(&self, run: &Run, compared: &[Pair]) -> Option<String> {
        let short = |pair: &&Pair| !pair.ratio.sufficient;
        let level = |pair: &&Pair| pair.comparison.ratio.level;
        let worst = compared.iter().filter(short);
        let worst = worst.min_by(|a, b| level(a).total_cmp(&level(b)));
        let Some(pair) = worst else {
            let needed = family::blocks_needed(self.plan.measure.alpha, 1)?;
            let blocks = run.complete_blocks().count();
            let few = compared.is_empty() && blocks > 0 && blocks < needed as usize;
            return few.then(|| {
                format!(
                    "Intervals at {} need {needed} blocks, and there are {blocks}: each says what level \
                     it has. Give the run more time (--for).",
                    percent(1.0 - self.plan.measure.alpha),
                )
            });
        };
        let needed = family::blocks_needed(pair.level.alpha, pair.level.family)?;
        Some(format!(
            "{} intervals that hold together at {} need {needed} blocks, and there are {}: what is shown \
             holds at {}, and no winner is named. Give the run more time (--for).",
            pair.level.family,
            percent(1.0 - pair.level.alpha),
            pair.comparison.blocks,
            percent(pair.comparison.ratio.level),
        ))
    }

    fn dependent(&self, compared: &[Pair]) -> Option<String> {
        let open = self.measured.iter().any(|m| m.unresolved)
            || compared.iter().any(|pair| pair.ratio.unresolved);
        let merged = self.measured.iter().any(|m| m.dependent)
            || compared.iter().any(|pair| pair.ratio.dependent);
        let cells = self.measured.iter().filter(|m| m.dependent);
        let cells: Vec<&LoadCell> = cells.map(|m| &m.cell).collect();
        let at = self.at(&cells);
        match (open, merged) {
            (true, _) => Some(format!(
                "Neighbouring blocks depend on each other{at}, and there are too few to merge them: the \
                 intervals may be too narrow. The server may still be warming up or filling a cache. \
                 Give the run more time (--for)."
            )),
            (false, true) => Some(format!(
                "Neighbouring blocks depend on each other{at}: they were merged, and fewer count."
            )),
            (false, false) => None,
        }
    }

    /// Where the rate changes as planned, that neighbours are alike says nothing of the server.
    fn stages(&self) -> Option<String> {
        (!self.measured.is_empty()).then(|| {
            "The rate changed as it was planned to: rates and costs are those of the middle of it, percentiles              those of all of it, and the intervals say little. Look at the course over time."
                .to_string()
        })
    }

    fn closed_loop(&self) -> Option<String> {
        let timed = !self.cells(|cell| cell.response.count > 0).is_empty();
        (timed && !self.open()).then(|| {
            "Each connection waits for its answer before it sends the next request. So a server that \
             stalls is asked less while it does, and the percentiles leave out what people would have \
             waited who come regardless (coordinated omission). `--rate` sends requests when they are due."
                .to_string()
        })
    }

    fn open(&self) -> bool {
        self.load.arrivals != Arrivals::Closed
    }
}

/// Whether not all that was due at a point was served. What is served after the end is counted in the last
/// slice: then all of them together say nothing, but most of them do.
pub(super) fn undelivered(cell: &LoadCell) -> bool {
    (cell.served as f64) < DELIVERED * cell.offered as f64
        || cell.served_per_s.high < DELIVERED * cell.offered_per_s.estimate
}

/// Parts in whole percent.
pub(super) fn whole(part: f64) -> f64 {
    (100.0 * part).round() / 100.0
}

/// `2.1 %`, and never 0 % of something.
pub(super) fn percent_of_errors(share: f64) -> String {
    match share {
        share if share < 0.0001 => "less than 0.01 %".to_string(),
        share => percent(share),
    }
}
