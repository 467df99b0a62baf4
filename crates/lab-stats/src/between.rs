// SPDX-License-Identifier: Apache-2.0
//! Two runs of one experiment that were not interleaved: what changed from the first to the second,
//! and what of it can be concluded.
//!
//! Within a run subjects take turns, so a ratio to the baseline does not see how fast the machine
//! was; its change from run to run can be estimated, and has a verdict. A time by itself has the
//! machine's speed in it; its change is shown, and has no verdict.

use crate::analysis::{Interval, Refusal, Verdict, Warning};
use crate::change::change;
use crate::differing::{self, Differing};
use crate::load;
use crate::load::between::MetricChange;
use crate::load::visits::Visits;
use crate::ratio::{Level, Ratio, ratio};
use crate::refusals::{self, refused};
use crate::table::{Table, Time, Visit, sound_plan};
use crate::verdict::verdict;
use crate::{compare, family, order, reservations, stopping};
use lab_model::{Kind, Part, Plan, PointId, Run, Subject, SubjectId, parts};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::iter::zip;

/// A run and what its file keeps beside it.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a> {
    /// The run.
    pub run: &'a Run,
    /// The SHA-256 of what its subjects were made from, by [`Plan::subject_label`].
    pub hashes: &'a HashMap<String, String>,
}

/// What changed from one run to another.
#[derive(Clone, Debug, Serialize)]
pub struct Between {
    /// The name of the baseline, if both runs have the same, on each target.
    pub baseline: Option<String>,
    /// Whether the baseline is the same program in both, on each target.
    pub baseline_program: Program,
    /// Complete blocks of each.
    pub blocks: [u32; 2],
    /// The level that the changes at one point were asked to have together, 0 to 1.
    pub level: f64,
    /// The level that each change of a time was asked to have, 0 to 1.
    pub times_level: f64,
    /// Changes within 1 ± this count as equivalent.
    pub margin: f64,
    /// Of the ratios to the baseline, by point, then subject, in the order of the first run.
    pub changes: Vec<Change>,
    /// Of the control's ratio to the baseline, by point; the truth is 1.
    pub controls: Vec<ControlChange>,
    /// Of the times, by point, then subject. Each interval holds by itself, and they have no
    /// verdict: the machine's speed is in them.
    pub levels: Vec<LevelChange>,
    /// Of load runs, in place of these: by point, then server, then metric. The machine's speed is in them.
    pub metrics: Vec<MetricChange>,
    /// What is in one run alone, or was not compared in one of them: a sentence each.
    pub apart: Vec<String>,
    /// What differs between the runs.
    pub differences: Vec<Differing>,
    /// What limits the conclusions, the gravest first.
    pub reservations: Vec<Warning>,
}

/// How a subject's ratio to the baseline changed at a point.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// Who.
    pub subject: String,
    /// On what, where there are several targets: the end of the subject's name and the beginning of the
    /// point's.
    pub target: Option<Kind>,
    /// What, in words.
    pub point: String,
    /// Whether it is the same program in both runs.
    pub program: Program,
    /// Its ratio in the first run and in the second, simultaneous as within a run.
    pub ratios: [Interval; 2],
    /// Ratio in the second / ratio in the first, simultaneous over the subjects of the point.
    pub change: Interval,
    /// What the change supports, with the margin of the point. The blocks that would decide are
    /// those of each run.
    pub verdict: Verdict,
    /// The margin used.
    pub margin: f64,
    /// Adjacent blocks were merged because they depend, or may depend, on each other.
    pub merged: bool,
}

/// How the ratio of the second copy of the baseline changed at a point.
#[derive(Clone, Debug, Serialize)]
pub struct ControlChange {
    /// What, in words.
    pub point: String,
    /// Ratio in the second run / ratio in the first.
    pub change: Interval,
    /// The interval contains 1, or the blocks are too few to say.
    pub met: bool,
    /// The margin used at this point: the plans', or the bound of this where it is not met.
    pub margin: f64,
}

/// How a subject's time changed at a point.
#[derive(Clone, Debug, Serialize)]
pub struct LevelChange {
    /// Who.
    pub subject: String,
    /// What, in words.
    pub point: String,
    /// Whether it is the same program in both runs.
    pub program: Program,
    /// It is the baseline.
    pub baseline: bool,
    /// It is the baseline or its second copy: if the program is the same, only the machine and the
    /// system can have changed it.
    pub reference: bool,
    /// Typical wall time of an operation in each run, ns.
    pub times_ns: [Interval; 2],
    /// Time in the second run / time in the first.
    pub change: Interval,
}

/// Whether a subject is the same program in both runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Program {
    /// It was made from the same.
    Same,
    /// It was not.
    Changed,
    /// The files do not say.
    Unknown,
}

/// Two runs about whose differences nothing can be said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Incomparable {
    /// One was not measured here.
    #[error(
        "{0} holds imported figures alone, which have no intervals: nothing can be concluded from \
         them. `benchlab report RUN --with {0}` shows them beside a run"
    )]
    Imported(String),
    /// One's plan is not sound.
    #[error("{0} has a plan that contradicts itself: nothing can be concluded from it")]
    Unsound(String),
    /// One has nothing yet.
    #[error("{0} has no complete block: `benchlab resume` goes on with it")]
    NoBlocks(String),
    /// They are the same run.
    #[error("both files hold the same run, {0}: name two runs")]
    Same(String),
    /// They are of different experiments.
    #[error(
        "these are runs of two experiments, {0} and {1}: two runs can be compared if they are of \
         one experiment"
    )]
    Experiments(String, String),
    /// They did not do the same.
    #[error(
        "the runs did not do the same work: {what} is {first} in the first and {second} in the \
         second. Run one of them again with the other's"
    )]
    Work {
        /// What is not the same.
        what: String,
        /// In the first run.
        first: String,
        /// In the second.
        second: String,
    },
    /// They have nothing in common.
    #[error(
        "the runs have no subject at a point in common: choose the same with --subjects, --cases \
         and --set"
    )]
    NothingCommon,
}

/// Compares two runs of one experiment, target by target. `first` is what `second` is compared with.
/// Where they have several targets in common, names are those of [`Plan::subject_label`] and
/// [`Plan::label`]. Errors: there is nothing that could be compared.
pub fn between(first: Recorded, second: Recorded) -> Result<Between, Incomparable> {
    one_experiment(
        [sound(first.run)?, sound(second.run)?],
        [first.run, second.run],
    )?;
    let mut parts = [first, second].map(|recorded| parts(recorded.run));
    give_one_name(&mut parts);
    let common = common_parts(&parts);
    let several = common.len() > 1;
    let mut found: Option<Between> = None;
    for [a, b] in &common {
        let runs = [
            Side::new(first, a, several)?,
            Side::new(second, b, several)?,
        ];
        same_work(&runs)?;
        match (&mut found, between_parts(&runs)) {
            (Some(found), Some(more)) => found.add(more),
            (found @ None, first) => *found = first,
            (Some(_), None) => {}
        }
    }
    let mut between = found.ok_or(Incomparable::NothingCommon)?;
    between.differences = differing::differing(first.run, second.run, between.differences);
    between.apart.extend(lonely(&parts));
    Ok(between)
}

/// The parts on the same target.
fn common_parts([first, second]: &[Vec<Part>; 2]) -> Vec<[&Part; 2]> {
    let twin = |part: &Part| second.iter().find(|other| other.kind == part.kind);
    let both = first.iter().filter_map(|part| Some([part, twin(part)?]));
    both.collect()
}

/// A server that a load run has alone is the same as the other's, wherever it listened: its requests are.
fn give_one_name(parts: &mut [Vec<Part>; 2]) {
    let [first, second] = parts.each_mut().map(|parts| match parts.as_mut_slice() {
        [only] => only.run.plan.as_mut().filter(|plan| plan.load.is_some()),
        _ => None,
    });
    let (Some(first), Some(second)) = (first, second) else {
        return;
    };
    if let ([server], [other]) = (&first.subjects[..], &mut second.subjects[..]) {
        other.name = server.name.clone();
    }
}

/// The targets that one run alone has.
fn lonely(parts: &[Vec<Part>; 2]) -> Vec<String> {
    let mut lonely = Vec::new();
    for (i, which) in [(0, "first"), (1, "second")] {
        let there = |part: &&Part| parts[1 - i].iter().any(|other| other.kind == part.kind);
        let alone = parts[i].iter().filter(|part| !there(part));
        let names = alone.filter_map(|part| Some(part.kind?.title().to_string()));
        lonely.extend(listed(
            &format!("Targets of the {which} run alone"),
            names.collect(),
        ));
    }
    lonely
}

impl Between {
    /// What changed on a further target.
    fn add(&mut self, other: Between) {
        if self.baseline != other.baseline {
            self.baseline = None;
        }
        self.baseline_program = match (self.baseline_program, other.baseline_program) {
            (Program::Changed, _) | (_, Program::Changed) => Program::Changed,
            (Program::Unknown, _) | (_, Program::Unknown) => Program::Unknown,
            _ => Program::Same,
        };
        self.changes.extend(other.changes);
        self.controls.extend(other.controls);
        self.levels.extend(other.levels);
        self.metrics.extend(other.metrics);
        self.apart.extend(other.apart);
        self.differences.extend(other.differences);
        for reservation in other.reservations {
            if !self.reservations.contains(&reservation) {
                self.reservations.push(reservation);
            }
        }
    }
}

/// What changed on one target; nothing if nothing is common.
fn between_parts(runs: &[Side; 2]) -> Option<Between> {
    let points = common_points(runs);
    let (levels, metrics) = (levels(runs, &points), metrics(runs, &points));
    if levels.is_empty() && metrics.is_empty() {
        return None;
    }
    let baseline = runs.each_ref().map(|run| run.baseline().name.as_str());
    let (changes, controls) = match baseline[0] == baseline[1] {
        true => changes(runs, &points),
        false => Default::default(),
    };
    let mut between = Between {
        baseline: (baseline[0] == baseline[1]).then(|| baseline[0].to_string()),
        baseline_program: program(runs, baseline[0]),
        blocks: runs.each_ref().map(|run| run.table.blocks() as u32),
        level: 1.0 - alpha(runs),
        times_level: 1.0 - by_itself(runs).alpha,
        margin: margin(runs),
        changes,
        controls,
        levels,
        metrics,
        apart: apart(runs, &points),
        differences: differing::on_target(runs),
        reservations: Vec::new(),
    };
    between.reservations = reservations::reservations(&between, runs);
    Some(between)
}

/// What a run did on one target, with what is computed from it.
pub(crate) struct Side<'a> {
    pub run: &'a Run,
    pub plan: &'a Plan,
    /// The target, where it does not go without saying.
    named: Option<Kind>,
    /// By the subjects' names.
    hashes: HashMap<&'a str, &'a String>,
    table: Table,
    refusals: Vec<Refusal>,
}

/// A point in each plan.
type Common = [PointId; 2];

impl<'a> Side<'a> {
    fn new(recorded: Recorded<'a>, part: &'a Part, named: bool) -> Result<Side<'a>, Incomparable> {
        let run = &part.run;
        let plan = sound(run)?;
        let table = Table::new(run, plan);
        Ok(Side {
            run,
            plan,
            named: part.kind.filter(|_| named),
            hashes: hashes(recorded, part),
            table,
            refusals: refusals::refusals(run, plan),
        })
    }

    pub fn baseline(&self) -> &'a Subject {
        &self.plan.subjects[self.plan.baseline]
    }

    /// The SHA-256 of what the subject of that name was made from, if the file has it.
    pub fn hash(&self, name: &str) -> Option<&'a String> {
        self.hashes.get(name).copied()
    }

    /// ` on PostgreSQL` where there are several targets.
    pub fn place(&self) -> String {
        self.named
            .map_or(String::new(), |kind| format!(" on {}", kind.title()))
    }

    /// A subject's name, with the target where there are several.
    pub fn subject_label(&self, name: &str) -> String {
        match self.named {
            Some(kind) => format!("{name} on {}", kind.name()),
            None => name.to_string(),
        }
    }

    /// A point in words, with the target where there are several.
    pub fn label(&self, point: PointId) -> String {
        let label = self.plan.label(point);
        match self.named {
            Some(kind) => format!("{} {label}", kind.name()),
            None => label,
        }
    }

    fn find(&self, name: &str) -> Option<SubjectId> {
        self.plan.subjects.iter().position(|s| s.name == name)
    }

    /// The logarithms of the subject's ratio to the baseline, of the blocks that have it.
    fn log_ratios(&self, subject: SubjectId, point: PointId) -> Vec<f64> {
        let baseline = self.plan.baseline;
        let logs = self
            .table
            .log_ratios(subject, baseline, point, Time::Typical);
        logs.into_iter().flatten().collect()
    }

    fn times_ns(&self, subject: SubjectId, point: PointId) -> Vec<f64> {
        let time = |visit: &Visit| visit.wall_ns;
        self.table
            .visits(subject, point)
            .flatten()
            .map(time)
            .collect()
    }
}

/// The hashes of a part's subjects, which the file has under their names in the whole run, or in
/// earlier files under their names alone.
fn hashes<'a>(recorded: Recorded<'a>, part: &'a Part) -> HashMap<&'a str, &'a String> {
    let whole = recorded.run.plan.iter();
    let labels = whole.flat_map(|plan| {
        let kind = |s: &Subject| plan.targets.get(s.target).map(|t| t.kind);
        let here = move |(_, s): &(usize, &Subject)| part.kind.is_none() || kind(s) == part.kind;
        let subjects = plan.subjects.iter().enumerate().filter(here);
        subjects.map(|(id, _)| plan.subject_label(id))
    });
    let own = part.run.plan.iter().flat_map(|plan| &plan.subjects);
    let hash = |(subject, label): (&'a Subject, String)| {
        let by_label = recorded.hashes.get(&label);
        let found = by_label.or_else(|| recorded.hashes.get(&subject.name))?;
        Some((subject.name.as_str(), found))
    };
    zip(own, labels).filter_map(hash).collect()
}

/// The plan of a run of which something can be said. Errors: it cannot.
fn sound(run: &Run) -> Result<&Plan, Incomparable> {
    let name = || run.name.clone();
    if run.plan.is_none() {
        return Err(Incomparable::Imported(name()));
    }
    let plan = sound_plan(run).ok_or_else(|| Incomparable::Unsound(name()))?;
    match run.complete_blocks().next() {
        Some(_) => Ok(plan),
        None => Err(Incomparable::NoBlocks(name())),
    }
}

/// Errors: another experiment, or the very same run.
fn one_experiment([a, b]: [&Plan; 2], runs: [&Run; 2]) -> Result<(), Incomparable> {
    // A load run is named for where the server listens, which is not what was asked of it.
    let alike = (a.load.is_some() && b.load.is_some()) || a.experiment == b.experiment;
    let kind = |plan: &Plan| (plan.commands.is_some(), plan.load.is_some());
    if !alike || kind(a) != kind(b) {
        let name = |plan: &Plan| match kind(plan) {
            (true, _) => format!("{} (whole commands)", plan.experiment),
            (_, true) => format!("{} (a load)", plan.experiment),
            _ => plan.experiment.clone(),
        };
        return Err(Incomparable::Experiments(name(a), name(b)));
    }
    let [first, second] = runs;
    if first.started_unix_s == second.started_unix_s && a.seed == b.seed {
        return Err(Incomparable::Same(first.name.clone()));
    }
    Ok(())
}

/// Errors: on one target the subjects had other work.
fn same_work(runs: &[Side; 2]) -> Result<(), Incomparable> {
    let [a, b] = runs.each_ref().map(|run| run.plan);
    match differing::work(a, b).into_iter().next() {
        Some(Differing {
            what,
            first,
            second,
        }) => Err(Incomparable::Work {
            what,
            first: first.unwrap_or("not given".into()),
            second: second.unwrap_or("not given".into()),
        }),
        None => Ok(()),
    }
}

/// 1 - the level: what both runs have left of theirs, given how they ended.
fn alpha(runs: &[Side; 2]) -> f64 {
    let [a, b] = runs
        .each_ref()
        .map(|side| stopping::alpha(side.run, side.plan));
    a.min(b)
}

fn margin(runs: &[Side; 2]) -> f64 {
    let [a, b] = runs.each_ref().map(|side| side.plan.measure.margin);
    a.max(b)
}

/// Points that are the same work under the same name, in the order of the first run.
fn common_points(runs: &[Side; 2]) -> Vec<Common> {
    let [a, b] = runs.each_ref().map(|run| run.plan);
    let twin = |&point: &PointId| {
        (0..b.points.len()).find(|&other| {
            a.label(point) == b.label(other) && differing::same_work(a, point, b, other)
        })
    };
    let points = 0..a.points.len();
    points
        .filter_map(|point| Some([point, twin(&point)?]))
        .collect()
}

/// A subject of the first run in both, by its name, if it plays the same part.
fn both(runs: &[Side; 2], subject: SubjectId) -> Option<[SubjectId; 2]> {
    let mine = &runs[0].plan.subjects[subject];
    let other = runs[1].find(&mine.name)?;
    let theirs = &runs[1].plan.subjects[other];
    let part = |s: &Subject| (s.control_of.is_some(), s.overhead);
    (part(mine) == part(theirs)).then_some([subject, other])
}

fn able(runs: &[Side; 2], subjects: [SubjectId; 2], points: Common) -> bool {
    (0..2).all(|i| !refused(&runs[i].refusals, subjects[i], points[i]))
}

fn program(runs: &[Side; 2], name: &str) -> Program {
    let hashes = runs.each_ref().map(|run| run.hash(name));
    let alike = match hashes {
        [Some(a), Some(b)] if a == b => Program::Same,
        [Some(_), Some(_)] => Program::Changed,
        _ => Program::Unknown,
    };
    let command = |side: &Side| {
        let subject = &side.plan.subjects[side.find(name)?];
        let command = subject.command.clone()?;
        Some((command.line, command.revision))
    };
    // A command may start other programs, of which neither its line nor its hash tells.
    match runs.each_ref().map(command) {
        [None, None] => alike,
        [first, second] if first != second => Program::Changed,
        [Some((_, Some(_))), _] => Program::Same,
        _ if alike == Program::Changed => Program::Changed,
        _ => Program::Unknown,
    }
}

fn changes(runs: &[Side; 2], points: &[Common]) -> (Vec<Change>, Vec<ControlChange>) {
    let (mut changes, mut controls) = (Vec::new(), Vec::new());
    for &point in points {
        let control = control(runs, point);
        let margin = control.as_ref().map_or(margin(runs), |c| c.margin);
        controls.extend(control);
        let subjects: Vec<[SubjectId; 2]> = compare::candidates(runs[0].plan)
            .filter_map(|subject| both(runs, subject))
            .filter(|&subjects| able(runs, subjects, point))
            .filter(|&[a, b]| {
                let logs = [
                    runs[0].log_ratios(a, point[0]),
                    runs[1].log_ratios(b, point[1]),
                ];
                logs.iter().all(|logs| !logs.is_empty())
            })
            .collect();
        let level = Level {
            alpha: alpha(runs),
            family: subjects.len(),
        };
        let found = subjects
            .into_iter()
            .filter_map(|subjects| at(runs, subjects, point, level, margin));
        changes.extend(found);
    }
    (changes, controls)
}

fn at(
    runs: &[Side; 2],
    subjects: [SubjectId; 2],
    point: Common,
    level: Level,
    margin: f64,
) -> Option<Change> {
    let logs = [0, 1].map(|i| runs[i].log_ratios(subjects[i], point[i]));
    let found = change(&logs[0], &logs[1], level)?;
    let name = &runs[0].plan.subjects[subjects[0]].name;
    Some(Change {
        subject: runs[0].subject_label(name),
        target: runs[0].named,
        point: runs[0].label(point[0]),
        program: program(runs, name),
        ratios: [
            ratio(&logs[0], level)?.interval,
            ratio(&logs[1], level)?.interval,
        ],
        change: found.interval,
        verdict: verdict(&found, level, margin),
        margin,
        merged: found.width > 1,
    })
}

fn control(runs: &[Side; 2], point: Common) -> Option<ControlChange> {
    let subjects = both(runs, runs[0].plan.control()?)?;
    if !able(runs, subjects, point) {
        return None;
    }
    let logs = [0, 1].map(|i| runs[i].log_ratios(subjects[i], point[i]));
    let found = change(&logs[0], &logs[1], by_itself(runs))?;
    let Interval { low, high, .. } = found.interval;
    let met = !found.supports_verdict() || (low <= 1.0 && high >= 1.0);
    let bound = (high - 1.0).max(1.0 - low);
    Some(ControlChange {
        point: runs[0].label(point[0]),
        change: found.interval,
        met,
        margin: match met {
            true => margin(runs),
            false => margin(runs).max(bound),
        },
    })
}

fn levels(runs: &[Side; 2], points: &[Common]) -> Vec<LevelChange> {
    let subjects = 0..runs[0].plan.subjects.len();
    let common: Vec<_> = subjects.filter_map(|subject| both(runs, subject)).collect();
    points
        .iter()
        .flat_map(|&point| common.iter().map(move |&subjects| (subjects, point)))
        .filter_map(|(subjects, point)| level_change(runs, subjects, point))
        .collect()
}

/// What changed for the servers of load runs.
fn metrics(runs: &[Side; 2], points: &[Common]) -> Vec<MetricChange> {
    if runs.iter().any(|side| side.plan.load.is_none()) {
        return Vec::new();
    }
    let visits = runs.each_ref().map(|side| Visits::new(side.run, side.plan));
    let subjects = 0..runs[0].plan.subjects.len();
    let common: Vec<_> = subjects.filter_map(|subject| both(runs, subject)).collect();
    let at = |&point: &Common| {
        let able = common.iter().filter(|&&subjects| {
            (0..2).all(|i| !refusals::failed(runs[i].run, subjects[i], point[i]))
        });
        let pairs = able.map(|subjects| load::between::Pair {
            subject: runs[0].plan.subjects[subjects[0]].name.clone(),
            point: runs[0].label(point[0]),
            visits: [0, 1].map(|i| visits[i].of(subjects[i], point[i]).flatten().collect()),
        });
        let pairs: Vec<_> = pairs.collect();
        let (seed, margin) = (runs[0].plan.seed, margin(runs));
        let respects = load::between::respects(runs[0].plan, point[0]);
        let alone = by_itself(runs).alpha;
        load::between::changes(&pairs, respects, seed, alpha(runs), alone, margin)
    };
    points.iter().flat_map(at).collect()
}

fn level_change(runs: &[Side; 2], subjects: [SubjectId; 2], point: Common) -> Option<LevelChange> {
    if (0..2).any(|i| refusals::failed(runs[i].run, subjects[i], point[i])) {
        return None;
    }
    let times = [0, 1].map(|i| runs[i].times_ns(subjects[i], point[i]));
    let level = by_itself(runs);
    let median = |times| order::median_interval(times, level.alpha);
    let logs = |times: &[f64]| times.iter().map(|t| t.ln()).collect::<Vec<f64>>();
    let found: Ratio = change(&logs(&times[0]), &logs(&times[1]), level)?;
    let subject = &runs[0].plan.subjects[subjects[0]];
    let baseline = runs[0].plan.baseline;
    Some(LevelChange {
        subject: runs[0].subject_label(&subject.name),
        point: runs[0].label(point[0]),
        program: program(runs, &subject.name),
        baseline: subjects[0] == baseline,
        reference: subjects[0] == baseline || subject.control_of == Some(baseline),
        times_ns: [median(&times[0])?, median(&times[1])?],
        change: found.interval,
    })
}

/// The level of what is not said together with others.
fn by_itself(runs: &[Side; 2]) -> Level {
    let [a, b] = runs.each_ref().map(|side| side.plan.measure.alpha);
    Level {
        alpha: a.min(b),
        family: 1,
    }
}

/// What cannot be compared, a sentence each.
fn apart(runs: &[Side; 2], points: &[Common]) -> Vec<String> {
    let mut apart = Vec::new();
    for (i, which) in [(0, "first"), (1, "second")] {
        let (mine, other) = (&runs[i], &runs[1 - i]);
        let subjects = mine.plan.subjects.iter();
        let alone = subjects.filter(|s| other.find(&s.name).is_none());
        let alone = alone.map(|s| mine.subject_label(&s.name)).collect();
        apart.extend(listed(&format!("Subjects of the {which} run alone"), alone));
        let labels = |run: &Side| -> Vec<String> {
            let points = 0..run.plan.points.len();
            points.map(|point| run.label(point)).collect()
        };
        let theirs: HashSet<String> = labels(other).into_iter().collect();
        let known: HashSet<PointId> = points.iter().map(|common| common[i]).collect();
        let unknown = labels(mine).into_iter().enumerate();
        let unknown = unknown.filter(|(point, _)| !known.contains(point));
        let (same_name, alone): (Vec<String>, Vec<String>) = unknown
            .map(|(_, label)| label)
            .partition(|label| theirs.contains(label));
        apart.extend(listed(&format!("Points of the {which} run alone"), alone));
        if i == 0 {
            apart.extend(listed("Other work under the same name", same_name));
        }
        for refusal in &mine.refusals {
            let name = mine.subject_label(&mine.plan.subjects[refusal.subject].name);
            let place = refusal
                .point
                .map_or(String::new(), |point| format!(" at {}", mine.label(point)));
            apart.push(format!("{name}{place} in the {which} run: {}", refusal.why));
        }
    }
    apart
}

fn listed(what: &str, names: Vec<String>) -> Option<String> {
    (!names.is_empty()).then(|| format!("{what}: {}.", names.join(", ")))
}

/// The fewest blocks of each run that support a verdict about so many subjects at a point.
pub(crate) fn blocks_needed(runs: &[Side; 2], subjects: usize) -> Option<u32> {
    family::blocks_needed(alpha(runs), subjects)
}
