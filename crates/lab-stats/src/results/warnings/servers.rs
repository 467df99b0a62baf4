// SPDX-License-Identifier: Apache-2.0
//! What a reader of the figures of many servers at many points must know: how often it is so, with whom, and
//! where it is worst.

use super::server::{Loaded, ServerCells, interrupted, percent_of_errors, warning, whole_percent};
use super::{disturbances, failed, fewest, list, percent, places, shortfall, tails, unfit};
use crate::load::peaks::calibrating_blocks;
use crate::results::{AgeState, Warning, WarningKind, age_sentence};
use lab_model::{ErrorKind, Metric, WarmUp};
use std::collections::BTreeMap;
use std::ops::Deref;

/// All warnings, the gravest first.
pub(super) fn of_servers(loaded: &Loaded) -> Vec<Warning> {
    let (run, plan) = (loaded.run, loaded.plan);
    let found = Counting(loaded);
    let mut all: Vec<Warning> = interrupted(run).into_iter().collect();
    all.extend(failed(run, plan));
    all.extend(found.not_steady());
    all.extend(found.errors());
    all.extend(found.saturated());
    all.extend(found.came_late());
    all.extend(found.overload());
    all.extend(found.starved());
    all.extend(found.shared_cores());
    all.extend(unfit(run));
    all.extend(found.few_blocks());
    all.extend(found.unknown_peaks());
    all.extend(tails(loaded.evidence.cells));
    all.extend(found.noise_floor());
    all.extend(found.dependent());
    all.extend(found.no_steady_state());
    all.extend(disturbances(run));
    all
}

/// Says how often something is so.
struct Counting<'l>(&'l Loaded<'l>);

impl<'l> Deref for Counting<'l> {
    type Target = Loaded<'l>;

    fn deref(&self) -> &Loaded<'l> {
        self.0
    }
}

impl Counting<'_> {
    fn name(&self, cell: &ServerCells) -> &str {
        &self.plan.subjects[cell.subject].name
    }

    /// `c at json connections=64 keep_alive=yes load=75%`.
    fn place(&self, cell: &ServerCells) -> String {
        format!("{} at {}", self.name(cell), self.plan.label(cell.point))
    }

    /// `c at 20 points, ada-server at 10 and go at 1`: the most first.
    fn counted(&self, cells: &[&ServerCells]) -> String {
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
    fn worst<'c>(
        cells: &[&'c ServerCells<'c>],
        value: impl Fn(&ServerCells) -> f64,
    ) -> Option<&'c ServerCells<'c>> {
        let all = cells.iter().copied();
        all.max_by(|a, b| value(a).total_cmp(&value(b)))
    }

    fn errors(&self) -> Option<Warning> {
        let failing = self.failing();
        let worst = Self::worst(&failing, |cell| cell.error_share())?;
        let mut kinds: BTreeMap<ErrorKind, u64> = BTreeMap::new();
        for (.., kind, count) in self.evidence.errors {
            let sum = kinds.entry(*kind).or_default();
            *sum = sum.saturating_add(*count);
        }
        let kinds = kinds.iter();
        let kinds = list(kinds.map(|(kind, count)| format!("{count} {}", kind.name())));
        warning(WarningKind::Errors, &failing, || {
            format!(
                "Some requests were not answered as they should be ({kinds}): of {}; most of {}, {} of them. They \
             are in no percentile, and percentiles are not compared where more failed than lie beyond them.",
                self.counted(&failing),
                self.place(worst),
                percent_of_errors(worst.error_share()),
            )
        })
    }

    fn saturated(&self) -> Option<Warning> {
        let busy = self.busy();
        let worst = Self::worst(&busy, |cell| cell.number(&Metric::GENERATOR_BUSY))?;
        warning(WarningKind::Saturated, &busy, || {
            format!(
                "The generator was the limit, not the server, for {} (its busiest thread had a core for up to {} of \
             the time). Requests per second there are its own: the server would serve more. They are compared \
             only with servers that are behind even so, and are left out of the scalability law. CPU time per \
             request does not depend on it.",
                self.counted(&busy),
                percent(whole_percent(worst.number(&Metric::GENERATOR_BUSY))),
            )
        })
    }

    fn came_late(&self) -> Option<Warning> {
        let late_ns = |cell: &ServerCells| cell.number(&Metric::LAG_P99);
        let late = self.late();
        let worst = Self::worst(&late, late_ns)?;
        warning(WarningKind::Late, &late, || {
            format!(
                "The load generator itself was late, for {}: more than a tenth of some percentiles there can be its \
             own latency, and none of them is called equivalent. It was latest for {}, with one request in a hundred \
             by {:.2} ms or more.",
                self.counted(&late),
                self.place(worst),
                late_ns(worst) / 1e6,
            )
        })
    }

    fn overload(&self) -> Option<Warning> {
        let short = self.overloaded();
        let missing = |cell: &ServerCells| {
            let offered = cell.number(&Metric::OFFERED);
            1.0 - cell.number(&Metric::THROUGHPUT) / offered.max(f64::MIN_POSITIVE)
        };
        let worst = Self::worst(&short, missing)?;
        warning(WarningKind::Overloaded, &short, || {
            format!(
                "Not all requests were served when they were due, for {}; fewest for {}: {:.0} of {:.0} requests/s. \
             Where requests pile up, response times grow as long as the load lasts: there are no percentiles.",
                self.counted(&short),
                self.place(worst),
                worst.number(&Metric::THROUGHPUT),
                worst.number(&Metric::OFFERED),
            )
        })
    }

    fn starved(&self) -> Option<Warning> {
        let starving = self.starving();
        let worst = Self::worst(&starving, |cell| cell.number(&Metric::DRAIN))?;
        warning(WarningKind::Starved, &starving, || {
            format!(
                "Some connections waited for their answer while others were served: with {}. The longest waited for \
                 {:.1} s, of {}. Rates are those of the load's own time.",
                self.counted(&starving),
                worst.number(&Metric::DRAIN) / 1e9,
                self.place(worst),
            )
        })
    }

    fn shared_cores(&self) -> Option<Warning> {
        let shared = |s: &lab_model::Setting| s.key == "cores shared" && s.value == "yes";
        let text = self.run.settings.iter().any(shared).then(|| {
            "Generator and server shared the only core: each took from the other, and every figure but the \
             server's CPU time per request is of both."
                .to_string()
        });
        Some(Warning::new(WarningKind::SharedCores, text?))
    }

    fn few_blocks(&self) -> Option<Warning> {
        let shortfall = shortfall(self.run, fewest(self.evidence.pairs)?);
        let text = format!("{shortfall}. Give the run more time (--for).");
        Some(Warning::new(WarningKind::FewBlocks, text))
    }

    /// Parts of a peak are offered once enough blocks have found it.
    fn unknown_peaks(&self) -> Option<Warning> {
        let mut points = 0..self.plan.points.len();
        let has_parts = points.any(|point| self.plan.part_of_peak(point).is_some());
        let (blocks, needed) = (
            self.run.complete_blocks().count(),
            calibrating_blocks(self.plan),
        );
        let text = (has_parts && blocks < needed as usize).then(|| {
            format!(
                "No part of a server's peak was offered: {needed} blocks find the peak, and there {}. Give the run \
                 more time (--for).",
                if blocks == 1 { "is 1".into() } else { format!("are {blocks}") }
            )
        });
        Some(Warning::new(WarningKind::FewBlocks, text?))
    }

    fn noise_floor(&self) -> Option<Warning> {
        let controls = self.evidence.controls;
        let unmet: Vec<_> = controls.iter().filter(|control| !control.met).collect();
        let worst = unmet.iter().max_by(|a, b| a.margin.total_cmp(&b.margin))?;
        let by_chance = (controls.len() as f64 * self.plan.measure.alpha)
            .round()
            .max(1.0);
        let margin = if worst.margin > self.plan.measure.margin {
            format!(
                ", and the margin is raised, up to {} for {} at {}",
                percent(worst.margin),
                name(&worst.metric),
                self.plan.label(worst.point)
            )
        } else {
            ", by less than the margin".to_string()
        };
        let text = format!(
            "Two copies of {} differ in {} of {} respects (a metric at a point); {by_chance} can be expected \
             by chance alone. The noise floor was not met there{margin}.",
            self.plan.subjects[self.plan.baseline].name,
            unmet.len(),
            controls.len(),
        );
        let places = unmet.iter().map(|c| (self.plan.baseline, Some(c.point)));
        Some(Warning::about(WarningKind::NoiseFloor, text, places))
    }

    fn dependent(&self) -> Option<Warning> {
        let pairs = self.evidence.pairs;
        let open = pairs.iter().filter(|pair| pair.ratio.unresolved).count();
        let merged = pairs.iter().filter(|pair| pair.ratio.dependent).count() - open;
        let all = pairs.len();
        let text = match (open, merged) {
            (0, 0) => return None,
            (0, merged) => format!(
                "Neighbouring blocks depend on each other in {merged} of {all} comparisons: there they were \
                 merged, and fewer count."
            ),
            (open, _) => format!(
                "Neighbouring blocks depend on each other in {open} of {all} comparisons, and there are too few \
                 to merge them: no winner is named there. Of so many comparisons, some do by chance."
            ),
        };
        let found = pairs.iter().filter(|pair| pair.ratio.dependent);
        Some(Warning::about(WarningKind::Dependent, text, places(found)))
    }

    /// Servers whose turns say nothing of their steady state.
    fn not_steady(&self) -> Option<Warning> {
        let all = self.evidence.ages.iter();
        let off: Vec<_> = all.filter(|age| age.state != AgeState::Steady).collect();
        let several = self.plan.cases.len() > 1;
        let sentences = off.iter().map(|age| {
            let name = &self.plan.subjects[age.subject].name;
            let case = &self.plan.cases[self.plan.points[age.point].case].name;
            let place = if several {
                format!(" ({case})")
            } else {
                String::new()
            };
            format!("{name}{place} {}", age_sentence(age))
        });
        let text = sentences.collect::<Vec<_>>().join(". ");
        let places = off.iter().map(|age| (age.subject, Some(age.point)));
        (!off.is_empty())
            .then(|| Warning::about(WarningKind::NotSteady, format!("{text}."), places))
    }

    fn no_steady_state(&self) -> Option<Warning> {
        let mut places = Vec::new();
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
            places.push((pilot.subject, Some(pilot.point)));
            match changing
                .iter_mut()
                .find(|(known, _)| *known == subject.name)
            {
                Some((_, cases)) => cases.push(case),
                None => changing.push((&subject.name, vec![case])),
            }
        }
        let subjects = changing.iter();
        let subjects = list(subjects.map(|(name, cases)| format!("{name} ({})", cases.join(", "))));
        let text = (!changing.is_empty()).then(|| {
            format!(
                "Still changing at the end of the pilot: {subjects}. Their figures hold for a process of that age."
            )
        });
        Some(Warning::about(WarningKind::NoSteadyState, text?, places))
    }
}

/// As sentences have it.
fn name(metric: &Metric) -> &str {
    if *metric == Metric::SERVER_CPU {
        "server CPU per request"
    } else {
        &metric.title
    }
}
