// SPDX-License-Identifier: Apache-2.0
//! A run with its results, in the form that the builders of documents use.

use super::kind_traits::{KindTraits, Words};
use crate::Report;
use lab_document::Quantity;
use lab_model::{Failure, Interval, Metric, Plan, PointId, Run, SubjectId, TargetId};
use lab_stats::analysis::Exclusion;
use lab_stats::results::warning::Replicate;
use lab_stats::results::{Cell, Comparison, Key, Results, Value};
use std::collections::HashMap;

/// A subject at a point or, if the point is `None`, over the whole run.
pub type SubjectScope = (SubjectId, Option<PointId>);

/// Returns the scopes of subjects over the whole run.
pub fn over_run(subjects: impl IntoIterator<Item = SubjectId>) -> Vec<SubjectScope> {
    subjects.into_iter().map(|s| (s, None)).collect()
}

/// A run with its analysis.
pub struct Measured<'a> {
    /// The run with its samples.
    pub run: &'a Run,
    /// The run's plan.
    pub plan: &'a Plan,
    /// The analysis of the run's samples.
    pub results: &'a Results,
    /// Other runs. Reports show the imported values of these runs next to the values of this run.
    pub others: &'a [Run],
    /// The path of the run file as users should see it.
    pub file: &'a str,
    /// The nouns for subjects and operations.
    pub words: &'static Words,
    /// The properties of the run's kind of work.
    pub traits: &'static KindTraits,
    cells: HashMap<SubjectScope, Vec<&'a Cell>>,
    comparisons: HashMap<SubjectScope, Vec<&'a Comparison>>,
}

impl<'a> Measured<'a> {
    /// Wraps the report of a run that has a plan.
    pub fn new(report: &'a Report<'a>, plan: &'a Plan, traits: &'static KindTraits) -> Self {
        Measured {
            run: report.run,
            plan,
            results: &report.results,
            others: report.others,
            file: report.file,
            words: &traits.words,
            traits,
            cells: by_scope(&report.results.cells, |cell| &cell.key),
            comparisons: by_scope(&report.results.comparisons, |comparison| &comparison.key),
        }
    }

    /// Returns true if there is more than one target, so that names have to include it.
    pub fn has_targets(&self) -> bool {
        self.plan.targets.len() > 1
    }

    /// Returns the unit of replication.
    pub fn replicate(&self) -> Replicate {
        Replicate::new(self.run, self.plan)
    }

    /// Returns true if a subject has any value at a point.
    pub fn knows(&self, subject_scope: SubjectScope) -> bool {
        self.cells.contains_key(&subject_scope)
    }

    /// Returns the value of a metric for a subject at a point.
    pub fn cell(&self, subject_scope: SubjectScope, metric: &Metric) -> Option<&'a Cell> {
        let mut cells = self.cells.get(&subject_scope)?.iter();
        cells.find(|cell| cell.key.metric == *metric).copied()
    }

    /// Returns the value of a metric, with its unit, for a subject at a point.
    pub fn quantity(&self, subject_scope: SubjectScope, metric: &Metric) -> Option<Quantity> {
        let cell = self.cell(subject_scope, metric)?;
        Some(figure(cell))
    }

    /// Returns the interval of a metric's value, if the value was estimated.
    pub fn interval(&self, subject_scope: SubjectScope, metric: &Metric) -> Option<&'a Interval> {
        self.cell(subject_scope, metric)?.value.interval()
    }

    /// Returns the comparison of a metric's value with the baseline's value.
    pub fn comparison(
        &self,
        subject_scope: SubjectScope,
        metric: &Metric,
    ) -> Option<&'a Comparison> {
        let mut comparisons = self.comparisons.get(&subject_scope)?.iter();
        comparisons.find(|c| c.key.metric == *metric).copied()
    }

    /// Returns true if any subject has this metric at any point, or over the whole run.
    pub fn has(&self, metric: &Metric) -> bool {
        let mut cells = self.results.cells.iter();
        cells.any(|cell| cell.key.metric == *metric)
    }

    /// Returns a subject's name. If there are multiple targets, the name includes the target, as in
    /// `python on mariadb`.
    pub fn label(&self, subject: SubjectId) -> String {
        if self.plan.subjects.has_id(subject) {
            self.plan.subject_label(subject)
        } else {
            "?".into()
        }
    }

    /// Formats the location of a result, such as ` at select limit=100` or ` everywhere`. The text
    /// follows a subject's label, which names the target. It is empty if there is only one point.
    pub fn location(&self, point: Option<PointId>) -> String {
        let points = self.plan.points.len();
        match point {
            _ if points == 1 && self.plan.has_one_case() => String::new(),
            Some(point) if self.plan.points.has_id(point) => {
                format!(" at {}", self.plan.point_name(point))
            }
            Some(point) => format!(" at point {point}"),
            None => " everywhere".into(),
        }
    }

    /// Returns the failure of a subject at a point. A failure without a point affects every point.
    pub fn failure(&self, (subject, point): SubjectScope) -> Option<&'a Failure> {
        let mut failures = self.run.spoiling_failures();
        failures.find(|f| f.subject == subject && (f.point.is_none() || f.point == point))
    }

    /// Returns the exclusion of a subject at a point. An exclusion without a point covers every
    /// point.
    pub fn exclusion(&self, (subject, point): SubjectScope) -> Option<&'a Exclusion> {
        let mut exclusions = self.results.exclusions.iter();
        exclusions.find(|r| r.subject == subject && (r.point.is_none() || r.point == point))
    }

    /// Iterates over the exclusions of subjects that did not fail. Failures are listed separately.
    ///
    /// A subject that is measured alone has no exclusions, because it has no comparison.
    pub fn exclusions(&self) -> impl Iterator<Item = &'a Exclusion> {
        let compares = self.plan.compared().nth(1).is_some();
        let exclusions = self.results.exclusions.iter();
        exclusions.filter(move |r| {
            let is_overhead = self.plan.subjects[r.subject].overhead;
            compares && !is_overhead && self.failure((r.subject, r.point)).is_none()
        })
    }

    /// Returns the value of a setting that a subject, or benchlab for the subject, reported.
    pub fn setting(&self, subject: SubjectId, key: &str) -> Option<&'a str> {
        let mut settings = self.run.settings.iter();
        let setting = settings.find(|s| s.subject == subject && s.key == key);
        setting.map(|s| s.value.as_str())
    }

    /// Returns the confidence level requested for the intervals of single values.
    pub fn level(&self) -> f64 {
        1.0 - self.plan.measure.alpha
    }

    /// Returns the baseline of a target.
    pub fn baseline(&self, target: TargetId) -> SubjectId {
        self.plan.baseline_for(target)
    }
}

fn by_scope<T>(figures: &[T], key: fn(&T) -> &Key) -> HashMap<SubjectScope, Vec<&T>> {
    let mut subject_scopes: HashMap<SubjectScope, Vec<&T>> = HashMap::new();
    for figure in figures {
        let Key { subject, point, .. } = key(figure);
        subject_scopes
            .entry((*subject, *point))
            .or_default()
            .push(figure);
    }
    subject_scopes
}

/// Returns a cell's value with its unit, and its interval if it was estimated.
pub fn figure(cell: &Cell) -> Quantity {
    let unit = cell.key.metric.unit.clone();
    match &cell.value {
        Value::Estimate(interval) => Quantity::estimate(interval, unit),
        Value::Reading(value) => Quantity::exact(*value, unit),
    }
}
