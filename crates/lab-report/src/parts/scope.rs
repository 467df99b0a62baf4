// SPDX-License-Identifier: Apache-2.0
//! A run restricted to one target: its subjects and points, and their names.

use super::measured::{Measured, SubjectScope};
use lab_document::Quantity;
use lab_document::say;
use lab_model::{Case, CaseId, Cores, Metric, PointId, SubjectId, TargetId, TargetKind};
use lab_stats::results::{Over, Ranking};
use std::ops::Deref;

/// A run restricted to one of its targets.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    measured: &'a Measured<'a>,
    /// The index of the target in the plan.
    pub target: TargetId,
}

/// The points of a case that differ only in the value of the sweep.
#[derive(Clone, Debug)]
pub struct PointGroup {
    /// The index of the case in the plan.
    pub case: CaseId,
    /// The parameters that the points have in common, such as `statement=text`.
    pub factors: Vec<(String, String)>,
    /// The points in the order of the plan.
    pub points: Vec<PointId>,
}

impl<'a> Deref for Scope<'a> {
    type Target = Measured<'a>;

    fn deref(&self) -> &Measured<'a> {
        self.measured
    }
}

impl<'a> Scope<'a> {
    /// Creates a scope for each target. For a run without targets, a single scope covers the whole run.
    pub fn all(measured: &'a Measured<'a>) -> Vec<Scope<'a>> {
        let targets = measured.plan.target_ids();
        let all = targets.map(|target| Scope { measured, target });
        all.filter(|s| !s.points().is_empty() && !s.subjects().is_empty())
            .collect()
    }

    /// Returns the target's name. Empty if there is only one target.
    pub fn title(&self) -> &'static str {
        let named = self.kind().filter(|_| self.has_targets());
        named.map_or("", TargetKind::title)
    }

    /// Returns the prefix of chart IDs, such as `sqlite-`. Empty if there is only one target.
    pub fn prefix(&self) -> String {
        let named = self.kind().filter(|_| self.has_targets());
        named.map_or(String::new(), |kind| format!("{}-", kind.name()))
    }

    /// Returns the kind of the target, or `None` for a run without targets.
    pub fn kind(&self) -> Option<TargetKind> {
        self.plan.targets.get(self.target).map(|t| t.kind)
    }

    /// Returns the subjects including the control. Subjects that measure an overhead are excluded.
    pub fn subjects(&self) -> Vec<SubjectId> {
        let all = self.plan.subjects.enumerated();
        let on_target = all.filter(|(_, s)| s.target == self.target && !s.overhead);
        on_target.map(|(id, _)| id).collect()
    }

    /// Returns the subjects without the control, which repeats the baseline.
    pub fn compared(&self) -> Vec<SubjectId> {
        let is_copy = |s: &SubjectId| self.plan.subjects[*s].control_of.is_some();
        let all = self.subjects().into_iter();
        all.filter(|s| !is_copy(s)).collect()
    }

    /// Returns the subjects that are compared with the baseline.
    pub fn others(&self) -> Vec<SubjectId> {
        let baseline = self.base();
        let all = self.compared().into_iter();
        all.filter(|&s| s != baseline).collect()
    }

    /// Returns the baseline.
    pub fn base(&self) -> SubjectId {
        self.baseline(self.target)
    }

    /// Returns the baseline's name.
    pub fn base_name(&self) -> &'a str {
        self.name(self.base())
    }

    /// Returns true if a subject is the reference.
    pub fn is_reference(&self, subject: SubjectId) -> bool {
        self.plan.subjects.get(subject).is_some_and(|s| s.reference)
    }

    /// Returns a subject's name without the target's name.
    pub fn name(&self, subject: SubjectId) -> &'a str {
        let plan = self.measured.plan;
        plan.subjects.get(subject).map_or("?", |s| s.name.as_str())
    }

    /// Returns a subject's name for a table, which marks the reference.
    pub fn title_of(&self, subject: SubjectId) -> String {
        let is_reference =
            self.is_reference(subject) && self.plan.subjects[subject].control_of.is_none();
        let name = self.name(subject);
        if is_reference {
            format!("{name} (reference)")
        } else {
            name.into()
        }
    }

    /// Returns the target's points.
    pub fn points(&self) -> Vec<PointId> {
        let all = self.plan.points.enumerated();
        let on_target = all.filter(|(_, p)| p.target == self.target);
        on_target.map(|(id, _)| id).collect()
    }

    /// Returns the points that run operations sequentially, case by case.
    pub fn single_points(&self) -> Vec<PointId> {
        let groups = self.groups(Cores::One).into_iter();
        groups.flat_map(|group| group.points).collect()
    }

    /// Groups the points of cases that run on the given cores, in the plan's order.
    ///
    /// [`Cores::One`] selects sequential operations, and [`Cores::All`] selects concurrent
    /// operations. Loads are always concurrent.
    pub fn groups(&self, cores: Cores) -> Vec<PointGroup> {
        let mut groups: Vec<PointGroup> = Vec::new();
        for id in self.points() {
            let (point, case) = (&self.plan.points[id], self.plan.case(id));
            let at_once = match self.traits.is_concurrent {
                true => Cores::All,
                false => case.cores,
            };
            if at_once != cores {
                continue;
            }
            let factors: Vec<_> = point.factors(case).cloned().collect();
            let mut earlier = groups.iter_mut();
            match earlier.find(|g| g.case == point.case && g.factors == factors) {
                Some(group) => group.points.push(id),
                None => groups.push(PointGroup {
                    case: point.case,
                    factors,
                    points: vec![id],
                }),
            }
        }
        groups
    }

    /// Returns the case of a group.
    pub fn case(&self, group: &PointGroup) -> &'a Case {
        &self.measured.plan.cases[group.case]
    }

    /// Formats a group, such as `select statement=text`. The case is omitted if it is the only one
    /// and has no name.
    pub fn group_label(&self, group: &PointGroup) -> String {
        let named = !self.plan.has_one_case();
        let name = named.then(|| self.case(group).name.clone());
        let factors = group.factors.iter().map(say::parameter);
        let words: Vec<String> = name.into_iter().chain(factors).collect();
        words.join(" ")
    }

    /// Returns the title of a table or chart of a group, such as `select statement=text: time`.
    pub fn group_title(&self, group: &PointGroup, content: &str) -> String {
        match self.group_label(group) {
            label if label.is_empty() => say::capital(content),
            label => format!("{label}: {content}"),
        }
    }

    /// Formats a point without its target, such as `select limit=100 statement=text`.
    pub fn point(&self, point: PointId) -> String {
        let params = &self.plan.points[point].params;
        let named = !self.plan.has_one_case() || params.is_empty();
        let name = named.then(|| self.plan.case(point).name.clone());
        let params = params.iter().map(say::parameter);
        let words: Vec<String> = name.into_iter().chain(params).collect();
        words.join(" ")
    }

    /// Formats a point briefly, such as `select 100 text`.
    ///
    /// The text contains the case, the value of the sweep, and the values of the factors that
    /// differ from their first value.
    pub fn short(&self, point: PointId) -> String {
        if self.plan.has_one_case() {
            return self.point(point);
        }
        let case = self.plan.case(point);
        let mut words = vec![case.name.clone()];
        for (key, value) in &self.plan.points[point].params {
            let swept = case.sweep.as_ref() == Some(key);
            if swept || self.first_value(self.plan.points[point].case, key) != Some(value) {
                words.push(value.clone());
            }
        }
        words.join(" ")
    }

    /// Returns the parameters of `points` that short names omit, such as `statement=prepared`.
    pub fn omitted_parameters(&self, points: &[PointId]) -> Vec<String> {
        let first_values = points.iter().flat_map(|&id| {
            let point = &self.plan.points[id];
            let factors = point.factors(self.plan.case(id));
            factors.filter(|(key, value)| self.first_value(point.case, key) == Some(value))
        });
        say::distinct(first_values.map(say::parameter))
    }

    fn first_value(&self, case: CaseId, key: &str) -> Option<&'a String> {
        let points = self.measured.plan.points.iter();
        let points = points.filter(|p| p.case == case && p.target == self.target);
        let mut params = points.flat_map(|p| &p.params);
        params.find(|(k, _)| k == key).map(|(_, value)| value)
    }

    /// Returns the value of the sweep at a point, as written in the plan.
    pub fn swept(&self, point: PointId) -> String {
        let sweep = self.plan.case(point).sweep.as_deref();
        let value = sweep.and_then(|sweep| self.plan.points[point].param(sweep));
        value.unwrap_or_default().into()
    }

    /// Returns a value at a point with its unit.
    pub fn value(&self, subject: SubjectId, point: PointId, metric: &Metric) -> Option<Quantity> {
        self.quantity((subject, Some(point)), metric)
    }

    /// Returns all combinations of `subjects` and `points`, ordered by point.
    pub fn subject_scopes(&self, subjects: &[SubjectId], points: &[PointId]) -> Vec<SubjectScope> {
        let subject_scopes = points
            .iter()
            .flat_map(|&p| subjects.iter().map(move |&s| (s, Some(p))));
        subject_scopes.collect()
    }

    /// Returns a unique name for a server at a point: the server's name, the point, or both.
    pub fn subject_scope_name(&self, (subject, point): SubjectScope) -> String {
        let name = self.name(subject);
        match (point, self.subjects().len(), self.points().len()) {
            (None, ..) | (_, _, 1) => name.into(),
            (Some(point), 1, _) => self.short(point),
            (Some(point), ..) => format!("{name} {}", self.short(point)),
        }
    }

    /// Returns the parameters of the target's points that a subject does not support, such as
    /// `statement=prepared`. The list is empty if the subject supports all parameters.
    pub fn unable(&self, subject: SubjectId) -> Vec<String> {
        let is_needed = |param: &&(String, String)| {
            let mut points = self.points().into_iter();
            points.any(|p| self.plan.points[p].params.contains(param))
        };
        let without = self.plan.subjects[subject].without.iter();
        without.filter(is_needed).map(say::parameter).collect()
    }

    /// Returns the ranking of the target's subjects by a metric, or `None` if there is no ranking.
    pub fn ranking(&self, over: Over, metric: &Metric) -> Option<&'a Ranking> {
        let mut rankings = self.measured.results.rankings.iter();
        rankings.find(|r| (r.target, r.over, &r.metric) == (self.target, over, metric))
    }

    /// Returns a subject's color number, which is the same in all charts and for the same name on all targets.
    pub fn color(&self, subject: SubjectId) -> usize {
        let names = say::distinct(self.plan.compared().map(|other| self.name(other)));
        let mut earlier = names.iter();
        earlier
            .position(|name| *name == self.name(subject))
            .unwrap_or(names.len())
    }
}
