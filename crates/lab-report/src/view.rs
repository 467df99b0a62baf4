// SPDX-License-Identifier: Apache-2.0
//! A run and its analysis, arranged to be read: who stands where at which point, and which points
//! belong together.

use crate::Report;
use crate::words::Words;
use lab_model::{Commands, Cores, Failure, Kind, Plan, PointId, Run, SubjectId};
use lab_stats::Analysed;
use lab_stats::analysis::{Analysis, Cell, Comparison, ProcessUse, Refusal, Verdict, Warning};
use std::collections::HashMap;

/// What has no figure because a subject cannot do it.
pub const UNABLE: &str = "—";

/// What a report says of one target, with its findings by subject and point.
pub struct View<'a> {
    /// What it belongs to.
    pub report: &'a Report<'a>,
    /// What was done on the target.
    pub run: &'a Run,
    /// The target, where there are several.
    pub named: Option<Kind>,
    /// Its plan.
    pub plan: &'a Plan,
    /// Its analysis.
    pub analysis: &'a Analysis,
    /// What subjects and operations are called.
    pub words: &'static Words,
    cells: HashMap<(SubjectId, PointId), &'a Cell>,
    comparisons: HashMap<(SubjectId, PointId), &'a Comparison>,
}

/// The points of a case that differ in the sweep's value alone.
pub struct Group<'a> {
    /// Index into the plan's cases.
    pub case: usize,
    /// What the points have in common, such as `statement=text`.
    pub factors: Vec<&'a (String, String)>,
    /// In the order of the plan.
    pub points: Vec<PointId>,
}

/// What there is to say about a subject at a point.
pub enum Standing<'a> {
    /// It is what the others are compared with.
    Baseline(&'a Cell),
    /// The second copy of the baseline, with its ratio's interval if there is one.
    Control(&'a Cell),
    /// It shows what starting a process or a shell costs.
    Overhead(&'a Cell),
    /// Measured and compared.
    Compared(&'a Cell, &'a Comparison),
    /// Measured, and not compared; why.
    Apart(&'a Cell, String),
    /// It cannot do the point's parameters, and was not asked to.
    Unable,
    /// Not measured; why.
    Missing(String),
}

impl<'a> View<'a> {
    /// Of each target; nothing without a plan: a file of imported figures.
    pub fn all(report: &'a Report<'a>) -> Vec<Self> {
        let parts = report.parts.iter();
        parts.filter_map(|part| View::new(report, part)).collect()
    }

    /// Of the only target.
    pub fn only(report: &'a Report<'a>) -> Option<Self> {
        match report.parts.as_slice() {
            [only] => View::new(report, only),
            _ => None,
        }
    }

    fn new(report: &'a Report<'a>, Analysed { part, analysis }: &'a Analysed) -> Option<Self> {
        let plan = part.run.plan.as_ref()?;
        Some(View {
            report,
            run: &part.run,
            named: part.kind.filter(|_| report.parts.len() > 1),
            plan,
            analysis,
            words: Words::of(plan),
            cells: analysis
                .cells
                .iter()
                .map(|c| ((c.subject, c.point), c))
                .collect(),
            comparisons: analysis
                .comparisons
                .iter()
                .map(|c| ((c.subject, c.point), c))
                .collect(),
        })
    }

    /// The points that do one operation at a time in groups, in the order of the plan.
    pub fn groups(&self) -> Vec<Group<'a>> {
        self.groups_on(Cores::One)
    }

    /// The points that do several operations at once, in the same way.
    pub fn scaling_groups(&self) -> Vec<Group<'a>> {
        self.groups_on(Cores::All)
    }

    fn groups_on(&self, cores: Cores) -> Vec<Group<'a>> {
        // Load is always on all cores.
        let load = self.plan.load.is_some().then_some(Cores::All);
        let here = |case: usize| load.unwrap_or(self.plan.cases[case].cores) == cores;
        let mut groups: Vec<Group<'a>> = Vec::new();
        let points = self.plan.points.iter().enumerate();
        for (id, point) in points.filter(|(_, p)| here(p.case)) {
            let factors: Vec<_> = point.factors(&self.plan.cases[point.case]).collect();
            let known = groups
                .iter_mut()
                .find(|g| g.case == point.case && g.factors == factors);
            match known {
                Some(group) => group.points.push(id),
                None => groups.push(Group {
                    case: point.case,
                    factors,
                    points: vec![id],
                }),
            }
        }
        groups
    }

    /// A group in words: `select statement=text`; where the only case goes without saying, its factors
    /// alone, or nothing.
    pub fn group_label(&self, group: &Group) -> String {
        let case = &self.plan.cases[group.case].name;
        let words = (!self.plan.has_one_case())
            .then(|| case.clone())
            .into_iter();
        let factors = group.factors.iter();
        words
            .chain(factors.map(|(key, value)| format!("{key}={value}")))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// What a table or a plot of a group shows: `select statement=text: time of an operation`.
    pub fn group_title(&self, group: &Group, what: &str) -> String {
        let label = self.group_label(group);
        if !label.is_empty() {
            return format!("{label}: {what}");
        }
        capital(what)
    }

    /// Whether the plan has anything to compare: a command alone has only levels.
    pub fn compares(&self) -> bool {
        self.plan.compared().nth(1).is_some()
    }

    /// How whole commands were run, if the subjects are such.
    pub fn commands(&self) -> Option<&'a Commands> {
        self.plan.commands.as_ref()
    }

    /// What the processes of a command used at a point, if it is known.
    pub fn uses(&self, subject: SubjectId, point: PointId) -> Option<&'a ProcessUse> {
        let mut uses = self.analysis.uses.iter();
        uses.find(|u| u.subject == subject && u.point == point)
    }

    /// The figures of a subject at a point, if it has any.
    pub fn cell(&self, subject: SubjectId, point: PointId) -> Option<&'a Cell> {
        self.cells.get(&(subject, point)).copied()
    }

    /// The comparison of a subject with the baseline at a point, if there is one.
    pub fn comparison(&self, subject: SubjectId, point: PointId) -> Option<&'a Comparison> {
        self.comparisons.get(&(subject, point)).copied()
    }

    /// What there is to say about a subject at a point.
    pub fn standing(&self, subject: SubjectId, point: PointId) -> Standing<'a> {
        let Some(cell) = self.cell(subject, point) else {
            if !self.plan.takes_part(subject, point) {
                return Standing::Unable;
            }
            return Standing::Missing(self.why_missing(subject, point));
        };
        if subject == self.plan.baseline {
            return Standing::Baseline(cell);
        }
        if let Some(comparison) = self.comparison(subject, point) {
            return Standing::Compared(cell, comparison);
        }
        if Some(subject) == self.plan.control() {
            return Standing::Control(cell);
        }
        if self.plan.subjects[subject].overhead {
            return Standing::Overhead(cell);
        }
        let why = match self.refusal(subject, point) {
            Some(_) => "not compared".to_string(),
            None => "no baseline".to_string(),
        };
        Standing::Apart(cell, why)
    }

    /// What stopped a subject at a point, or everywhere.
    pub fn failure(&self, subject: SubjectId, point: PointId) -> Option<&'a Failure> {
        let here = |at: Option<PointId>| at.is_none_or(|p| p == point);
        self.run
            .failures
            .iter()
            .find(|f| f.subject == subject && here(f.point))
    }

    /// Why a subject is not compared at a point, or everywhere.
    pub fn refusal(&self, subject: SubjectId, point: PointId) -> Option<&'a Refusal> {
        let here = |at: Option<PointId>| at.is_none_or(|p| p == point);
        self.analysis
            .refusals
            .iter()
            .find(|r| r.subject == subject && here(r.point))
    }

    /// What was not compared although it did not fail: failures are told by themselves.
    pub fn refusals(&self) -> Vec<&'a Refusal> {
        let failures = &self.run.failures;
        let failed = |r: &Refusal| {
            failures
                .iter()
                .any(|f| f.subject == r.subject && (f.point.is_none() || f.point == r.point))
        };
        self.analysis
            .refusals
            .iter()
            .filter(|r| !failed(r))
            .collect()
    }

    /// What to know besides failures, which are told by themselves.
    pub fn warnings(&self) -> Vec<&'a Warning> {
        self.analysis
            .warnings
            .iter()
            .filter(|w| w.kind != "failed")
            .collect()
    }

    /// Subjects with controls, without those that show an overhead.
    pub fn with_controls(&self) -> impl Iterator<Item = SubjectId> + use<'a> {
        let subjects = self.plan.subjects.iter().enumerate();
        subjects.filter(|(_, s)| !s.overhead).map(|(id, _)| id)
    }

    /// Subjects without controls, which repeat the baseline.
    pub fn shown(&self) -> Vec<SubjectId> {
        self.plan.compared().collect()
    }

    /// What a subject cannot do of what this part asks: `statement=prepared`. Empty: it can do all.
    pub fn unable(&self, subject: SubjectId) -> Vec<String> {
        let asked = |param: &&(String, String)| {
            let mut points = self.plan.points.iter();
            points.any(|point| point.params.contains(param))
        };
        let without = self
            .plan
            .subjects
            .get(subject)
            .map_or(&[][..], |s| &s.without);
        let words = without.iter().filter(asked);
        words.map(|(key, value)| format!("{key}={value}")).collect()
    }

    /// A sentence for each subject that cannot do all that is asked.
    pub fn unable_notes(&self) -> Vec<String> {
        let note = |&subject: &SubjectId| {
            let what = self.unable(subject);
            let name = self.name(subject);
            (!what.is_empty()).then(|| format!("{UNABLE} {name} cannot do {}.", what.join(", ")))
        };
        self.shown().iter().filter_map(note).collect()
    }

    /// Whether where the time goes is told: beside other targets, or on a server. Of a library alone
    /// the tables of times say as much.
    pub fn serves(&self) -> bool {
        let mut targets = self.plan.targets.iter();
        self.named.is_some() || targets.any(|t| t.kind.is_service())
    }

    /// What the target is called: `PostgreSQL`; nothing where it goes without saying.
    pub fn place(&self) -> &'static str {
        self.named.map_or("", Kind::title)
    }

    /// A subject's name.
    pub fn name(&self, subject: SubjectId) -> &'a str {
        self.plan
            .subjects
            .get(subject)
            .map_or("?", |s| s.name.as_str())
    }

    /// The baseline's name.
    pub fn baseline(&self) -> &'a str {
        self.name(self.plan.baseline)
    }

    /// Where, after a name: ` at select limit=100`, ` everywhere`; nothing where only one place is
    /// possible.
    pub fn at(&self, point: Option<PointId>) -> String {
        let points = self.plan.points.len();
        match point {
            _ if points == 1 && self.plan.has_one_case() => String::new(),
            Some(point) if point < points => format!(" at {}", self.plan.label(point)),
            Some(point) => format!(" at point {point}"),
            None => " everywhere".into(),
        }
    }

    /// The ratios' column: to what.
    pub fn ratio_title(&self) -> String {
        format!("ratio to {}", self.baseline())
    }

    fn why_missing(&self, subject: SubjectId, point: PointId) -> String {
        match self.failure(subject, point) {
            Some(failure) => format!("failed: {}", failure.kind),
            None if self.refusal(subject, point).is_some() => "not compared".into(),
            None => "not measured".into(),
        }
    }
}

/// A verdict in the words of the design: what the data supports.
pub fn verdict_word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Equivalent => "equivalent",
        Verdict::SmallButReal { .. } => "small but real",
        Verdict::Inconclusive { .. } => "inconclusive",
    }
}

/// The same with its first letter large.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}
