// SPDX-License-Identifier: Apache-2.0
//! Warnings about servers that benchlab starts.

use super::basis::{
    cell_of_pair, cells, disturbances, failed, interrupted, shortest_comparison, shortfall, tails,
    unfit,
};
use super::batches::copies_differ;
use super::server::Loaded;
use crate::load::peaks::calibrating_blocks;
use crate::results::warning::{ChangingSubject, UnsteadyServer};
use crate::results::{AgeState, Warning, WarningFact};
use lab_model::WarmUp;

/// Returns all warnings, most serious first.
pub(super) fn of_servers(loaded: &Loaded) -> Vec<Warning> {
    let (run, plan) = (loaded.run, loaded.plan);
    let mut all: Vec<Warning> = interrupted(run, plan).into_iter().collect();
    all.extend(failed(run, plan));
    all.extend(loaded.not_steady());
    all.extend(loaded.errors());
    all.extend(loaded.saturated());
    all.extend(loaded.late());
    all.extend(loaded.overloaded());
    all.extend(loaded.starved());
    all.extend(loaded.one_core());
    all.extend(unfit(run));
    all.extend(loaded.too_few_blocks());
    all.extend(loaded.unknown_peaks());
    all.extend(tails(loaded.evidence.cells, |_| None));
    all.extend(loaded.noise_floor());
    all.extend(loaded.dependent_comparisons());
    all.extend(loaded.no_steady_state());
    all.extend(disturbances(run));
    all
}

impl Loaded<'_> {
    fn one_core(&self) -> Option<Warning> {
        let shared = |s: &lab_model::Setting| s.key == "cores shared" && s.value == "yes";
        let is_shared = self.run.settings.iter().any(shared);
        is_shared.then(|| Warning::new(WarningFact::OneCore))
    }

    fn too_few_blocks(&self) -> Option<Warning> {
        let pair = shortest_comparison(self.evidence.pairs)?;
        Some(Warning::new(shortfall(self.run, self.plan, pair, |_| None)))
    }

    /// Returns a warning if the peak throughput of a server is unknown.
    ///
    /// A load at a fraction of the peak is run only after enough blocks have measured the peak.
    fn unknown_peaks(&self) -> Option<Warning> {
        let mut points = self.plan.points.ids();
        let has_parts = points.any(|point| self.plan.fraction_of_peak(point).is_some());
        let (blocks, needed) = (
            self.run.complete_blocks().count(),
            calibrating_blocks(self.plan),
        );
        let is_unknown = has_parts && blocks < needed as usize;
        is_unknown.then(|| Warning::new(WarningFact::PeaksUnknown { blocks, needed }))
    }

    fn noise_floor(&self) -> Option<Warning> {
        let controls = self.evidence.controls;
        let by_chance = controls.len() as f64 * self.plan.measure.alpha;
        copies_differ(self.plan, controls, by_chance.round().max(1.0))
    }

    fn dependent_comparisons(&self) -> Option<Warning> {
        let pairs = self.evidence.pairs;
        let merged = !pairs.iter().any(|pair| pair.ratio.unresolved);
        let dependent = || pairs.iter().filter(|pair| pair.ratio.dependent);
        let at = pairs.iter().filter(|pair| match merged {
            true => pair.ratio.dependent,
            false => pair.ratio.unresolved,
        });
        let at: Vec<_> = at.map(|pair| cell_of_pair(self.plan, pair)).collect();
        (!at.is_empty()).then(|| {
            let fact = WarningFact::BlocksDepend {
                at,
                comparisons: Some(pairs.len()),
                merged,
            };
            Warning::with_cells(fact, cells(dependent()))
        })
    }

    /// Returns a warning about servers whose turns were not at their steady level.
    fn not_steady(&self) -> Option<Warning> {
        let all = self.evidence.ages.iter();
        let off: Vec<_> = all.filter(|age| age.state != AgeState::Steady).collect();
        let has_multiple = self.plan.cases.len() > 1;
        let servers = off.iter().map(|&age| {
            let case = &self.plan.cases[self.plan.points[age.point].case].name;
            UnsteadyServer {
                name: self.plan.subjects[age.subject].name.clone(),
                case: has_multiple.then(|| case.clone()),
                age: age.clone(),
            }
        });
        let servers: Vec<UnsteadyServer> = servers.collect();
        let cells = off.iter().map(|age| (age.subject, Some(age.point)));
        (!servers.is_empty())
            .then(|| Warning::with_cells(WarningFact::NotSteady { servers }, cells))
    }

    fn no_steady_state(&self) -> Option<Warning> {
        let mut cells = Vec::new();
        let mut subjects: Vec<ChangingSubject> = Vec::new();
        let never = |pilot: &&lab_model::Pilot| pilot.class == WarmUp::NoSteadyState;
        for pilot in self.run.pilots.iter().filter(never) {
            let (Some(subject), Some(point)) = (
                self.plan.subjects.get(pilot.subject),
                self.plan.points.get(pilot.point),
            ) else {
                continue;
            };
            let case = self.plan.cases[point.case].name.clone();
            cells.push((pilot.subject, Some(pilot.point)));
            match subjects.iter_mut().find(|s| s.name == subject.name) {
                Some(changing) => changing.at.push(case),
                None => subjects.push(ChangingSubject {
                    name: subject.name.clone(),
                    at: vec![case],
                }),
            }
        }
        (!subjects.is_empty()).then(|| {
            let fact = WarningFact::NoSteadyState {
                subjects,
                cut_short: false,
            };
            Warning::with_cells(fact, cells)
        })
    }
}
