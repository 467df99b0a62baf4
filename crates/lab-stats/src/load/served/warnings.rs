// SPDX-License-Identifier: Apache-2.0
//! What a reader of the figures of many servers at many points must know: how often it is so, with whom, and
//! where it is worst.

use crate::analysis::Warning;
use crate::family;
use crate::load::analysis::LoadCell;
use crate::load::cells::{BUSY, LATE_NS, Measured};
use crate::load::compare::Compared;
use crate::load::warnings::{interrupted, percent_of_errors, undelivered, whole};
use crate::load::{error_share, errors};
use crate::warnings::{self, list, percent};
use lab_model::{ErrorKind, Plan, Run, WarmUp};
use std::collections::BTreeMap;

/// All warnings, the gravest first. `disturbed`: blocks that were redone.
pub fn warnings(
    run: &Run,
    plan: &Plan,
    measured: &[Measured],
    compared: &Compared,
    disturbed: u32,
) -> Vec<Warning> {
    let told = Told {
        run,
        plan,
        measured,
        compared,
    };
    let one = |text: Option<String>| text.into_iter().collect::<Vec<String>>();
    let all = [
        ("interrupted", one(interrupted(run))),
        ("failed", warnings::failed(run, plan)),
        ("errors", one(told.errors())),
        ("saturated", one(told.saturated())),
        ("late", one(told.late())),
        ("not-delivered", one(told.not_delivered())),
        ("shared-cores", one(told.shared_cores())),
        ("host", warnings::unfit(run)),
        ("few-blocks", one(told.few_blocks())),
        ("noise-floor", one(told.noise_floor())),
        ("dependent", one(told.dependent())),
        ("no-steady-state", one(told.no_steady_state())),
        ("disturbed", warnings::disturbances(run, disturbed)),
    ];
    let warning = |kind: &str, text| Warning {
        kind: kind.to_string(),
        text,
    };
    all.into_iter()
        .flat_map(|(kind, texts)| texts.into_iter().map(move |text| warning(kind, text)))
        .collect()
}

/// What sentences are made of.
struct Told<'r> {
    run: &'r Run,
    plan: &'r Plan,
    measured: &'r [Measured],
    compared: &'r Compared,
}

impl Told<'_> {
    fn cells(&self, which: impl Fn(&LoadCell) -> bool) -> Vec<&LoadCell> {
        let cells = self.measured.iter().map(|measured| &measured.cell);
        cells.filter(|cell| which(cell)).collect()
    }

    fn name(&self, cell: &LoadCell) -> &str {
        &self.plan.subjects[cell.subject].name
    }

    /// `c at json connections=64 keep_alive=yes load=75%`.
    fn place(&self, cell: &LoadCell) -> String {
        format!("{} at {}", self.name(cell), self.plan.label(cell.point))
    }

    /// `c at 20 points, ada-server at 10 and go at 1`: the most first.
    fn counted(&self, cells: &[&LoadCell]) -> String {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for name in cells.iter().map(|cell| self.name(cell)) {
            match counts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => counts.push((name, 1)),
            }
        }
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        list(
            counts
                .iter()
                .enumerate()
                .map(|(i, (name, n))| match (i, n) {
                    (0, 1) => format!("{name} at 1 point"),
                    (0, n) => format!("{name} at {n} points"),
                    (_, n) => format!("{name} at {n}"),
                }),
        )
    }

    /// The one of which a value is highest.
    fn worst<'c>(cells: &[&'c LoadCell], value: impl Fn(&LoadCell) -> f64) -> Option<&'c LoadCell> {
        let all = cells.iter().copied();
        all.max_by(|a, b| value(a).total_cmp(&value(b)))
    }

    fn errors(&self) -> Option<String> {
        let failing = self.cells(|cell| errors(cell) > 0);
        let share = |cell: &LoadCell| error_share(errors(cell), cell.served).unwrap_or(0.0);
        let worst = Self::worst(&failing, share)?;
        let mut kinds: BTreeMap<ErrorKind, u64> = BTreeMap::new();
        for (kind, count) in failing.iter().flat_map(|cell| &cell.errors) {
            let sum = kinds.entry(*kind).or_default();
            *sum = sum.saturating_add(*count);
        }
        let kinds = kinds.iter();
        let kinds = list(kinds.map(|(kind, count)| format!("{count} {}", kind.name())));
        Some(format!(
            "Some requests were not answered as they should be ({kinds}): of {}; most of {}, {} of them. They \
             are in no percentile, and percentiles are not compared where more failed than lie beyond them.",
            self.counted(&failing),
            self.place(worst),
            percent_of_errors(share(worst)),
        ))
    }

    fn saturated(&self) -> Option<String> {
        let busy = self.cells(|cell| cell.generator_busy.estimate > BUSY);
        let worst = Self::worst(&busy, |cell| cell.generator_busy.estimate)?;
        Some(format!(
            "The generator was the limit, not the server, for {} (its busiest thread had a core for up to {} of \
             the time). Requests per second there are its own: the server would serve more. They are compared \
             only with servers that are behind even so, and are left out of the scalability law. CPU time per \
             request does not depend on it.",
            self.counted(&busy),
            percent(whole(worst.generator_busy.estimate)),
        ))
    }

    fn late(&self) -> Option<String> {
        let late_ns = |cell: &LoadCell| cell.lag.p99_ns.map_or(0.0, |lag| lag.estimate);
        let late = self.cells(|cell| self.plan.is_open(cell.point) && late_ns(cell) > LATE_NS);
        let worst = Self::worst(&late, late_ns)?;
        Some(format!(
            "The generator itself came late to one request in a hundred, by 1 ms or more, for {}; the latest by \
             {:.1} ms, for {}. Response times there have that in them.",
            self.counted(&late),
            late_ns(worst) / 1e6,
            self.place(worst),
        ))
    }

    fn not_delivered(&self) -> Option<String> {
        let short = self.cells(|cell| self.plan.is_open(cell.point) && undelivered(cell));
        let missing = |cell: &LoadCell| {
            1.0 - cell.served_per_s.estimate / cell.offered_per_s.estimate.max(f64::MIN_POSITIVE)
        };
        let worst = Self::worst(&short, missing)?;
        Some(format!(
            "Not all that was due was served for {}; least of {}: {:.0} of {:.0} requests/s. Where requests pile \
             up, response times grow as long as the load lasts. The rates are parts of the peak that the first \
             block found; a machine that is slower later has less.",
            self.counted(&short),
            self.place(worst),
            worst.served_per_s.estimate,
            worst.offered_per_s.estimate,
        ))
    }

    fn shared_cores(&self) -> Option<String> {
        let shared = |s: &lab_model::Setting| s.key == "cores shared" && s.value == "yes";
        self.run.settings.iter().any(shared).then(|| {
            "Generator and server shared the only core: each took from the other, and every figure but the \
             server's CPU time per request is of both."
                .to_string()
        })
    }

    fn few_blocks(&self) -> Option<String> {
        let short = self
            .compared
            .pairs
            .iter()
            .filter(|pair| !pair.ratio.sufficient);
        let level = |pair: &&crate::load::compare::Pair| pair.comparison.ratio.level;
        let pair = short.min_by(|a, b| level(a).total_cmp(&level(b)))?;
        let needed = family::blocks_needed(pair.level.alpha, pair.level.family)?;
        Some(format!(
            "{} intervals that hold together at {} need {needed} blocks, and there are {}: what is shown holds \
             at {} at the least, and no winner is named there. Give the run more blocks, or compare fewer servers.",
            pair.level.family,
            percent(1.0 - pair.level.alpha),
            pair.comparison.blocks,
            percent(pair.comparison.ratio.level),
        ))
    }

    fn noise_floor(&self) -> Option<String> {
        let controls = &self.compared.controls;
        let unmet: Vec<_> = controls.iter().filter(|control| !control.met).collect();
        let worst = unmet.iter().max_by(|a, b| a.margin.total_cmp(&b.margin))?;
        let by_chance = (controls.len() as f64 * self.plan.measure.alpha)
            .round()
            .max(1.0);
        let margin = match worst.margin > self.plan.measure.margin {
            true => format!(
                ", and the margin is raised, up to {} for {} at {}",
                percent(worst.margin),
                worst.metric.name(),
                self.plan.label(worst.point)
            ),
            false => ", by less than the margin".to_string(),
        };
        Some(format!(
            "Two copies of {} differ in {} of {} respects (a metric at a point), of which {by_chance} would be no \
             surprise by chance alone: the noise floor was not met there{margin}.",
            self.plan.subjects[self.plan.baseline].name,
            unmet.len(),
            controls.len(),
        ))
    }

    fn dependent(&self) -> Option<String> {
        let pairs = &self.compared.pairs;
        let open = pairs.iter().filter(|pair| pair.ratio.unresolved).count();
        let merged = pairs.iter().filter(|pair| pair.ratio.dependent).count() - open;
        let all = pairs.len();
        match (open, merged) {
            (0, 0) => None,
            (0, merged) => Some(format!(
                "Neighbouring blocks depend on each other in {merged} of {all} comparisons: there they were \
                 merged, and fewer count."
            )),
            (open, _) => Some(format!(
                "Neighbouring blocks depend on each other in {open} of {all} comparisons, and there are too few \
                 to merge them: no winner is named there. Of so many comparisons, some do by chance."
            )),
        }
    }

    fn no_steady_state(&self) -> Option<String> {
        let mut changing: Vec<(&str, Vec<&str>)> = Vec::new();
        let never = |pilot: &&lab_model::Pilot| pilot.class == WarmUp::NoSteadyState;
        for pilot in self.run.pilots.iter().filter(never) {
            let (Some(subject), Some(point)) = (
                self.plan.subjects.get(pilot.subject),
                self.plan.points.get(pilot.point),
            ) else {
                continue;
            };
            let case = self.plan.cases[point.case].name.as_str();
            match changing
                .iter_mut()
                .find(|(known, _)| *known == subject.name)
            {
                Some((_, cases)) => cases.push(case),
                None => changing.push((&subject.name, vec![case])),
            }
        }
        let who = changing.iter();
        let who = list(who.map(|(name, cases)| format!("{name} ({})", cases.join(", "))));
        (!changing.is_empty()).then(|| {
            format!(
                "Still changing at the end of the pilot: {who}. Their figures hold for a process of that age."
            )
        })
    }
}
