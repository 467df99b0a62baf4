// SPDX-License-Identifier: Apache-2.0
//! Two runs on one target, with their common subjects and points.

use super::changed::Changed;
use super::facts::ProgramMatch;
use super::incomparable::{Incomparable, checked_plan};
use super::work;
use crate::analysis::Exclusion;
use crate::exclusions::{self, is_excluded};
use crate::ratio::{Level, Ratio};
use crate::spending;
use crate::verdict::Margin;
use lab_model::{Interval, Metric, Part, Plan, PointId, Run, Subject, SubjectId, TargetKind};
use std::collections::HashMap;
use std::iter::zip;

/// A run and the hashes stored in its file.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a> {
    /// The run as read from its file.
    pub run: &'a Run,
    /// The SHA-256 hash of each subject's sources, by [`Plan::subject_label`].
    pub hashes: &'a HashMap<String, String>,
}

/// The part of one of the two compared runs that was measured on one target.
pub(crate) struct RunSide<'a> {
    pub run: &'a Run,
    pub plan: &'a Plan,
    pub exclusions: Vec<Exclusion>,
    /// The number of targets that both runs have.
    targets: usize,
    /// The target, if the run has more than one. All names then include the target.
    named: Option<TargetKind>,
    /// The hashes by subject name.
    hashes: HashMap<&'a str, &'a String>,
}

/// A subject at a point, as IDs in each of the two runs.
#[derive(Clone, Copy)]
pub(crate) struct PointPair {
    pub subjects: [SubjectId; 2],
    pub points: [PointId; 2],
}

impl<'a> RunSide<'a> {
    pub fn new(
        recorded: Recorded<'a>,
        part: &'a Part,
        targets: usize,
    ) -> Result<RunSide<'a>, Incomparable> {
        let run = &part.run;
        let plan = checked_plan(run)?;
        Ok(RunSide {
            run,
            plan,
            exclusions: exclusions::exclusions(run, plan),
            targets,
            named: part.kind.filter(|_| targets > 1),
            hashes: hashes(recorded, part),
        })
    }

    pub fn baseline(&self) -> &'a Subject {
        &self.plan.subjects[self.plan.baseline]
    }

    /// Returns the SHA-256 hash of a subject's sources, if the run file contains it.
    pub fn hash(&self, name: &str) -> Option<&'a String> {
        self.hashes.get(name).copied()
    }

    /// Returns the target if there is more than one.
    pub fn target(&self) -> Option<&'static str> {
        self.named.map(|kind| kind.title())
    }

    /// Returns a subject's name, with the target if there is more than one.
    pub fn subject_label(&self, name: &str) -> String {
        match self.named {
            Some(kind) => format!("{name} on {}", kind.name()),
            None => name.to_string(),
        }
    }

    /// Returns a point's label, with the target if there is more than one.
    pub fn label(&self, point: PointId) -> String {
        let label = self.plan.label(point);
        match self.named {
            Some(kind) => format!("{} {label}", kind.name()),
            None => label,
        }
    }

    pub fn find(&self, name: &str) -> Option<SubjectId> {
        self.plan.subjects.find_id(|s| s.name == name)
    }

    /// Returns a command's command line and, if known, its revision.
    fn command(&self, name: &str) -> Option<(String, Option<String>)> {
        let subject = &self.plan.subjects[self.find(name)?];
        let command = subject.command.clone()?;
        Some((command.line, command.revision))
    }
}

/// Returns the hashes of the subjects in a part of a run.
///
/// The run file stores a hash under the subject's label in the whole run, or under the subject's
/// plain name.
fn hashes<'a>(recorded: Recorded<'a>, part: &'a Part) -> HashMap<&'a str, &'a String> {
    let plans = recorded.run.plan().into_iter();
    let labels = plans.flat_map(|plan| {
        let kind = |s: &Subject| plan.targets.get(s.target).map(|t| t.kind);
        let is_in_part =
            move |(_, s): &(SubjectId, &Subject)| part.kind.is_none() || kind(s) == part.kind;
        let subjects = plan.subjects.enumerated().filter(is_in_part);
        subjects.map(|(id, _)| plan.subject_label(id))
    });
    let subjects_of_part = part.run.plan().into_iter().flat_map(|plan| &plan.subjects);
    let hash = |(subject, label): (&'a Subject, String)| {
        let by_label = recorded.hashes.get(&label);
        let found = by_label.or_else(|| recorded.hashes.get(&subject.name))?;
        Some((subject.name.as_str(), found))
    };
    zip(subjects_of_part, labels).filter_map(hash).collect()
}

/// The two runs on one target.
pub(crate) struct Sides<'a>(pub [RunSide<'a>; 2]);

impl Sides<'_> {
    /// Returns 1 minus the simultaneous confidence level of the changes that have a verdict, over
    /// all targets that both runs have.
    ///
    /// This is the smaller alpha of the two runs. Interim analyses reduce the alpha of a run.
    pub fn alpha(&self) -> f64 {
        let [a, b] = self.0.each_ref();
        spending::alpha(a.run, a.plan).min(spending::alpha(b.run, b.plan))
    }

    /// Returns 1 minus the simultaneous confidence level of the changes on this target.
    ///
    /// The targets share alpha, as within a run.
    pub fn alpha_of_target(&self) -> f64 {
        self.alpha() / self.0[0].targets as f64
    }

    /// Returns true if the baselines of both runs have the same name.
    pub fn have_one_baseline(&self) -> bool {
        let [a, b] = self.0.each_ref().map(|side| &side.baseline().name);
        a == b
    }

    /// Returns the confidence level of a change without a verdict.
    pub fn level_without_verdict(&self) -> Level {
        let [a, b] = self.0.each_ref().map(|side| side.plan.measure.alpha);
        Level {
            alpha: a.min(b),
            family: 1,
        }
    }

    pub fn margin(&self) -> f64 {
        let [a, b] = self.0.each_ref().map(|side| side.plan.measure.margin);
        a.max(b)
    }

    /// Returns the requested margin and the margin in use, which is `wide`. `wide` is at least the
    /// requested margin.
    pub fn margins(&self, wide: f64) -> Margin {
        let requested = self.margin();
        Margin { wide, requested }
    }

    /// Returns the points with the same work and the same name, in the order of the first run.
    pub fn points(&self) -> Vec<[PointId; 2]> {
        let [a, b] = self.0.each_ref().map(|side| side.plan);
        let twin = |point: PointId| {
            let same = |&other: &PointId| {
                a.label(point) == b.label(other) && work::same_work(a, point, b, other)
            };
            b.points.ids().find(same)
        };
        let points = a.points.ids();
        points
            .filter_map(|point| Some([point, twin(point)?]))
            .collect()
    }

    /// Finds a subject of the first run in the second run. Returns `None` unless the subject has
    /// the same role in both runs.
    pub fn find_pair(&self, subject: SubjectId, points: [PointId; 2]) -> Option<PointPair> {
        let [first, second] = self.0.each_ref();
        let first_subject = &first.plan.subjects[subject];
        let second_id = second.find(&first_subject.name)?;
        let second_subject = &second.plan.subjects[second_id];
        let part = |s: &Subject| (s.control_of.is_some(), s.overhead);
        (part(first_subject) == part(second_subject)).then_some(PointPair {
            subjects: [subject, second_id],
            points,
        })
    }

    /// Returns the subjects that both runs have at a point, except for subjects that failed at this
    /// point.
    pub fn measured(&self, points: [PointId; 2]) -> impl Iterator<Item = PointPair> {
        let subjects = self.0[0].plan.subjects.ids();
        let pairs = subjects.filter_map(move |subject| self.find_pair(subject, points));
        pairs.filter(|pair| {
            let failed = |i: usize| {
                let (subject, point) = (pair.subjects[i], pair.points[i]);
                exclusions::failed(self.0[i].run, subject, point)
            };
            !failed(0) && !failed(1)
        })
    }

    /// Returns true if neither run excludes the subject.
    pub fn compares(&self, pair: &PointPair) -> bool {
        let is_excluded =
            |i: usize| is_excluded(&self.0[i].exclusions, pair.subjects[i], pair.points[i]);
        !is_excluded(0) && !is_excluded(1)
    }

    pub fn program(&self, name: &str) -> ProgramMatch {
        let by_hash = match self.0.each_ref().map(|side| side.hash(name)) {
            [Some(a), Some(b)] if a == b => ProgramMatch::Same,
            [Some(_), Some(_)] => ProgramMatch::Changed,
            _ => ProgramMatch::Unknown,
        };
        // A command may start other programs, which affect neither its line nor its hash.
        match self.0.each_ref().map(|side| side.command(name)) {
            [None, None] => by_hash,
            [first, second] if first != second => ProgramMatch::Changed,
            [Some((_, Some(_))), _] => ProgramMatch::Same,
            _ if by_hash == ProgramMatch::Changed => ProgramMatch::Changed,
            _ => ProgramMatch::Unknown,
        }
    }

    /// Creates a change without a verdict.
    pub fn changed(
        &self,
        pair: &PointPair,
        metric: Metric,
        values: [Interval; 2],
        found: &Ratio,
    ) -> Changed {
        let first = &self.0[0];
        let (id, baseline) = (pair.subjects[0], first.plan.baseline);
        let subject = &first.plan.subjects[id];
        Changed {
            subject: first.subject_label(&subject.name),
            // The subject names the target.
            point: first.plan.label(pair.points[0]),
            metric,
            relative: false,
            program: self.program(&subject.name),
            baseline: id == baseline,
            reference: id == baseline || subject.control_of == Some(baseline),
            values,
            change: found.interval,
            verdict: None,
            margin: self.margin(),
            merged: found.width > 1,
        }
    }
}
