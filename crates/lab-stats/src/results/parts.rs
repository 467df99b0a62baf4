// SPDX-License-Identifier: Apache-2.0
//! Computes the results of a run from the results of its parts, with the subjects, points and cases
//! of the whole run.

use super::{Key, Over, Results, Warning, WarningKind, warnings};
use crate::kind::{WorkKind, kind_of};
use lab_model::{BlockState, CaseId, IdVec, Plan, PointId, Run, SubjectId, TargetId, parts};

/// Combines the results that `results` returns for each part of a run.
pub(super) fn combine(
    run: &Run,
    results: impl Fn(&dyn WorkKind, &Run, &PartNumbers, f64) -> Results,
) -> Results {
    let Some(plan) = crate::table::sound_plan(run) else {
        return Results::default();
    };
    let kind = kind_of(plan);
    let of_part = |part: &Run, id_map: &PartNumbers, alpha_fraction| {
        results(kind, part, id_map, alpha_fraction)
    };
    let mut results = match kind.has_targets() {
        true => of_targets(run, plan, of_part),
        false => of_part(run, &PartNumbers::all(run), 1.0),
    };
    if kind.has_hosts() {
        results.warnings.extend(warnings::of_hosts(run, plan));
    }
    results.blocks = run.complete_blocks().count() as u32;
    let disturbed = run
        .blocks
        .iter()
        .filter(|b| b.state == BlockState::Disturbed);
    results.disturbed_blocks = disturbed.count() as u32;
    results.level = 1.0 - crate::spending::alpha(run, plan);
    results.margin = plan.measure.margin;
    results.sort();
    results
}

/// Combines the results of all targets.
///
/// Subjects are compared separately on each target. Each target uses a fraction of the run's alpha,
/// so that all comparisons of the run are simultaneous.
fn of_targets(
    run: &Run,
    plan: &Plan,
    of_part: impl Fn(&Run, &PartNumbers, f64) -> Results,
) -> Results {
    let mut results = Results::default();
    let all = id_maps(plan);
    let alpha_fraction = 1.0 / all.len().max(1) as f64;
    for (part, id_map) in parts(run).iter().zip(&all) {
        results.add(
            of_part(&part.run, id_map, alpha_fraction),
            id_map,
            all.len() > 1,
        );
    }
    results
}

/// Maps the IDs in a part of a run to the IDs in the whole run.
pub(super) struct PartNumbers {
    target: TargetId,
    subjects: IdVec<SubjectId, SubjectId>,
    points: IdVec<PointId, PointId>,
    cases: IdVec<CaseId, CaseId>,
}

/// Returns the ID maps of the parts of a run, in the order of [`parts`].
fn id_maps(plan: &Plan) -> Vec<PartNumbers> {
    let targets = plan.target_ids();
    let all = targets.map(|target| PartNumbers::new(plan, target));
    all.filter(|p| plan.targets.is_empty() || !p.points.is_empty() && !p.subjects.is_empty())
        .collect()
}

impl PartNumbers {
    /// Returns the ID map of a run with a single part.
    pub fn all(run: &Run) -> PartNumbers {
        let plan = run.plan();
        PartNumbers {
            target: TargetId(0),
            subjects: plan.into_iter().flat_map(|p| p.subjects.ids()).collect(),
            points: plan.into_iter().flat_map(|p| p.points.ids()).collect(),
            cases: plan.into_iter().flat_map(|p| p.cases.ids()).collect(),
        }
    }

    fn new(plan: &Plan, target: TargetId) -> PartNumbers {
        let all = plan.targets.is_empty();
        let is_on_target = |of: TargetId| all || of == target;
        let points = plan
            .points
            .ids()
            .filter(|&p| is_on_target(plan.points[p].target));
        let points: IdVec<PointId, PointId> = points.collect();
        let used = |&case: &CaseId| all || points.iter().any(|&p| plan.points[p].case == case);
        let subjects = plan.subjects.ids();
        PartNumbers {
            target,
            cases: plan.cases.ids().filter(used).collect(),
            subjects: subjects
                .filter(|&s| is_on_target(plan.subjects[s].target))
                .collect(),
            points,
        }
    }

    /// Converts a key of the whole run to a key of the part.
    ///
    /// Returns `None` if the key belongs to another part.
    pub fn key_in_part(&self, key: &Key) -> Option<Key> {
        let point = |p: PointId| self.points.find_id(|&known| known == p);
        let subject = self.subjects.find_id(|&s| s == key.subject)?;
        let point = match key.point {
            Some(p) => Some(point(p)?),
            None => None,
        };
        Some(Key {
            subject,
            point,
            metric: key.metric.clone(),
        })
    }

    fn point(&self, point: &mut PointId) {
        *point = self.points[*point];
    }

    fn subject(&self, subject: &mut SubjectId) {
        *subject = self.subjects[*subject];
    }

    fn optional_point(&self, point: &mut Option<PointId>) {
        point.iter_mut().for_each(|point| self.point(point));
    }
}

impl Results {
    /// Returns true if there is a warning of the kind `kind`.
    pub fn warned(&self, kind: WarningKind) -> bool {
        self.warnings.iter().any(|warning| warning.kind() == kind)
    }

    /// Adds all results of a part, with the IDs that the whole run uses.
    fn add(&mut self, mut part: Results, id_map: &PartNumbers, has_multiple_targets: bool) {
        part.renumber(id_map);
        self.cells.extend(part.cells);
        self.comparisons.extend(part.comparisons);
        self.controls.extend(part.controls);
        self.overall.extend(part.overall);
        self.rankings.extend(part.rankings);
        self.fits.extend(part.fits);
        self.effects.extend(part.effects);
        self.scalings.extend(part.scalings);
        self.bests.extend(part.bests);
        self.spreads.extend(part.spreads);
        self.pausing.extend(part.pausing);
        self.biases.extend(part.biases);
        self.warm_ups.extend(part.warm_ups);
        self.ages.extend(part.ages);
        self.errors.extend(part.errors);
        self.saturated.extend(part.saturated);
        self.statuses.extend(part.statuses);
        self.exclusions.extend(part.exclusions);
        for mut warning in part.warnings {
            warning.target = has_multiple_targets.then_some(id_map.target);
            self.warn(warning);
        }
    }

    fn renumber(&mut self, id_map: &PartNumbers) {
        let keys = self.cells.iter_mut().map(|cell| &mut cell.key);
        let keys = keys.chain(self.comparisons.iter_mut().map(|c| &mut c.key));
        for key in keys.chain(&mut self.pausing) {
            id_map.subject(&mut key.subject);
            id_map.optional_point(&mut key.point);
        }
        for comparison in &mut self.comparisons {
            id_map.subject(&mut comparison.baseline);
        }
        for control in &mut self.controls {
            id_map.point(&mut control.point);
        }
        for overall in &mut self.overall {
            id_map.subject(&mut overall.subject);
            overall.target = id_map.target;
            overall.case = overall.case.map(|case| id_map.cases[case]);
        }
        for ranking in &mut self.rankings {
            ranking.target = id_map.target;
            let pairs = ranking.apart.iter_mut().flat_map(|(a, b)| [a, b]);
            for subject in ranking.subjects.iter_mut().chain(pairs) {
                id_map.subject(subject);
            }
            match &mut ranking.over {
                Over::Points { case, .. } => *case = case.map(|case| id_map.cases[case]),
                Over::At(point) => id_map.optional_point(point),
                Over::Best(point) => id_map.point(point),
            }
        }
        for fit in &mut self.fits {
            id_map.subject(&mut fit.subject);
            fit.case = id_map.cases[fit.case];
        }
        for effect in &mut self.effects {
            id_map.subject(&mut effect.subject);
            effect.case = effect.case.map(|case| id_map.cases[case]);
            for (from, to) in &mut effect.pairs {
                id_map.point(from);
                id_map.point(to);
            }
        }
        for scaling in &mut self.scalings {
            id_map.subject(&mut scaling.subject);
            scaling.target = id_map.target;
            scaling.case = id_map.cases[scaling.case];
        }
        for best in &mut self.bests {
            id_map.subject(&mut best.subject);
            id_map.point(&mut best.first);
            id_map.point(&mut best.point);
        }
        for spread in &mut self.spreads {
            id_map.point(&mut spread.from);
            id_map.point(&mut spread.to);
            spread
                .ratios
                .iter_mut()
                .for_each(|(s, _)| id_map.subject(s));
        }
        for bias in &mut self.biases {
            id_map.subject(&mut bias.subject);
        }
        let warm_ups = self.warm_ups.iter_mut().map(|(s, p, _)| (s, p));
        let errors = self.errors.iter_mut().map(|(s, p, ..)| (s, p));
        let statuses = self.statuses.iter_mut().map(|(s, p, _)| (s, p));
        let saturated = self.saturated.iter_mut().map(|(s, p)| (s, p));
        for (subject, point) in warm_ups.chain(errors).chain(statuses).chain(saturated) {
            id_map.subject(subject);
            id_map.point(point);
        }
        for exclusion in &mut self.exclusions {
            id_map.subject(&mut exclusion.subject);
            id_map.optional_point(&mut exclusion.point);
        }
        for warning in &mut self.warnings {
            warning.subject.iter_mut().for_each(|s| id_map.subject(s));
            id_map.optional_point(&mut warning.point);
        }
    }

    /// Adds a warning.
    ///
    /// A warning that applies to multiple targets is listed once, without a target.
    fn warn(&mut self, warning: Warning) {
        let same = self.warnings.iter_mut().find(|same| {
            (same.subject, same.point) == (warning.subject, warning.point)
                && same.fact == warning.fact
        });
        match same {
            Some(same) => same.target = None,
            None => self.warnings.push(warning),
        }
    }

    /// Sorts cells and comparisons by point, then subject, with the whole run last. Sorts controls
    /// by point, exclusions by subject, then point, and warnings by kind.
    ///
    /// The sorting is stable, so metrics stay in their order.
    fn sort(&mut self) {
        self.cells.sort_by_key(|cell| cell.key.sort_key());
        self.comparisons.sort_by_key(|c| c.key.sort_key());
        self.controls.sort_by_key(|control| control.point);
        self.exclusions.sort_by_key(|r| (r.subject, r.point));
        self.warnings.sort_by_key(Warning::kind);
    }
}
