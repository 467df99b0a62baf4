// SPDX-License-Identifier: Apache-2.0
//! What a history keeps of a run: small, so that hundreds of runs can be read one after the other.

use crate::content::load::failed;
use crate::load;
use lab_model::{Kind, Plan, Run, Subject, SubjectId};
use lab_stats::Analysed;
use lab_stats::analysis::{Analysis, Interval, Verdict};
use lab_stats::load::analysis::{LoadAnalysis, LoadCell};
use std::collections::HashMap;

/// One run, without its samples.
#[derive(Clone, Debug)]
pub struct Past {
    pub(super) run: String,
    pub(super) started_unix_s: f64,
    pub(super) ended: bool,
    /// The facts of the host that decide how fast it is.
    pub(super) host: Vec<(String, String)>,
    /// What was done on each target; of servers that the lab started, in each case.
    pub(super) parts: Vec<PastPart>,
}

/// What a run did on one target.
#[derive(Clone, Debug)]
pub(super) struct PastPart {
    /// The target, if it has one.
    pub kind: Option<Kind>,
    /// The case, where each stands for itself: ratios are those of the server's CPU time per request then.
    pub case: Option<String>,
    pub blocks: u32,
    /// The level that was asked for.
    pub level: f64,
    pub points: Vec<String>,
    pub baseline: Made,
    /// Its typical time, where the run has one point alone.
    pub baseline_wall_ns: Option<Interval>,
    pub standings: Vec<Standing>,
}

/// A subject and what tells whether it is the same program in another run.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub name: String,
    pub revision: Option<String>,
    /// The command's line, or else program and arguments.
    line: String,
    sha256: Option<String>,
}

/// How a subject came out.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    pub subject: Made,
    /// At the only point, or overall.
    pub ratio: Option<Interval>,
    /// Point by point.
    pub verdicts: Vec<Verdict>,
    /// Of a load run.
    pub load: Option<Served>,
    /// Why there are no verdicts, if there are none.
    pub missing: &'static str,
}

/// What users of a server got.
#[derive(Clone, Debug)]
pub(super) struct Served {
    /// Of the response time, where the run has one point alone.
    pub p99_ns: Option<Interval>,
    /// Requests that failed, at all points.
    pub failed: u64,
}

impl Served {
    fn new(plan: &Plan, load: &LoadAnalysis, subject: SubjectId) -> Served {
        let cells = || load.cells.iter().filter(|c| c.subject == subject);
        let failed = cells().map(failed).fold(0, u64::saturating_add);
        let p99 = cells().next().and_then(|cell| cell.response.p99_ns);
        Served {
            p99_ns: p99.filter(|_| plan.points.len() == 1),
            failed,
        }
    }
}

impl Past {
    /// What a history shows of a run, which it analyses. `hashes` are those in the run file, by
    /// [`Plan::subject_label`] or by the subjects' names. Nothing of a file of imported figures.
    pub fn new(run: &Run, hashes: &HashMap<String, String>) -> Option<Past> {
        let whole = run.plan.as_ref()?;
        let facts = run.host.facts.iter();
        let decisive = |(name, _): &&(String, String)| ["cpu", "kernel"].contains(&name.as_str());
        let (parts, load) = load::analyse(run);
        let several = whole.targets.len() > 1;
        let mut past: Vec<PastPart> = parts
            .iter()
            .filter_map(|part| PastPart::new(part, load.as_ref(), hashes, several))
            .collect();
        if let (Some(load), [only]) = (load.filter(|_| whole.serving().is_some()), past.as_slice())
        {
            past = by_case(whole, &load, only);
        }
        Some(Past {
            run: run.name.clone(),
            started_unix_s: run.started_unix_s,
            ended: run.ending.is_some(),
            host: facts.filter(decisive).cloned().collect(),
            parts: past,
        })
    }

    /// The names of the subjects that have a row, each once.
    pub fn subjects(&self) -> impl Iterator<Item = &str> {
        let standings = self.parts.iter().flat_map(|part| &part.standings);
        let mut names: Vec<&str> = standings.map(|s| s.subject.name.as_str()).collect();
        names.sort();
        names.dedup();
        names.into_iter()
    }

    /// The part that stands for the same as another run's.
    pub(super) fn like(&self, other: &PastPart) -> Option<&PastPart> {
        let mut parts = self.parts.iter();
        parts.find(|part| part.kind == other.kind && part.case == other.case)
    }
}

impl PastPart {
    fn new(
        Analysed { part, analysis }: &Analysed,
        load: Option<&LoadAnalysis>,
        hashes: &HashMap<String, String>,
        several: bool,
    ) -> Option<PastPart> {
        let plan = part.run.plan.as_ref()?;
        let made = |subject: &Subject| {
            let label = match part.kind.filter(|_| several) {
                Some(kind) => format!("{} on {}", subject.name, kind.name()),
                None => subject.name.clone(),
            };
            let hash = hashes.get(&label).or_else(|| hashes.get(&subject.name));
            Made::new(subject, hash)
        };
        let standing = |id: SubjectId| Standing {
            subject: made(&plan.subjects[id]),
            ratio: ratio(plan, analysis, id),
            verdicts: verdicts(analysis, id),
            load: load.map(|load| Served::new(plan, load, id)),
            missing: missing(&part.run, analysis, id),
        };
        let baseline = plan.subjects.get(plan.baseline)?;
        let mut shown: Vec<SubjectId> = plan.compared().filter(|&s| s != plan.baseline).collect();
        if shown.is_empty() {
            shown.push(plan.baseline);
        }
        Some(PastPart {
            kind: part.kind,
            case: None,
            blocks: analysis.blocks,
            level: analysis.level,
            points: (0..plan.points.len()).map(|p| plan.label(p)).collect(),
            baseline: made(baseline),
            baseline_wall_ns: baseline_time(plan, analysis),
            standings: shown.into_iter().map(standing).collect(),
        })
    }

    pub fn subject(&self, name: &str) -> Option<&Made> {
        let mut subjects = self.standings.iter().map(|s| &s.subject);
        subjects.find(|subject| subject.name == name)
    }
}

/// A part for each case of servers that the lab started.
fn by_case(plan: &Plan, load: &LoadAnalysis, whole: &PastPart) -> Vec<PastPart> {
    let alive = (0..plan.points.len()).any(|point| plan.keeps_alive(point));
    let here = |case: usize| {
        let points = 0..plan.points.len();
        let closed = points.filter(move |&p| plan.points[p].case == case && !plan.is_open(p));
        closed.filter(move |&p| plan.keeps_alive(p) == alive)
    };
    let cases = (0..plan.cases.len()).filter(|&case| here(case).next().is_some());
    let part = |case: usize| {
        let overall = |name: &str| {
            let mut all = load.overall.iter();
            all.find(|o| {
                let subject = plan.subjects.get(o.subject);
                (o.case, o.keep_alive) == (Some(case), alive)
                    && subject.is_some_and(|s| s.name == name)
            })
        };
        let standing = |standing: &Standing| {
            let found = overall(&standing.subject.name);
            let mine = |c: &&LoadCell| {
                let subject = plan.subjects.get(c.subject);
                let in_case = plan.points.get(c.point).is_some_and(|p| p.case == case);
                in_case && subject.is_some_and(|s| s.name == standing.subject.name)
            };
            let failures = load.cells.iter().filter(mine).map(failed);
            Standing {
                ratio: found.map(|o| o.ratio),
                verdicts: found.map(|o| o.verdict).into_iter().collect(),
                load: Some(Served {
                    p99_ns: None,
                    failed: failures.fold(0, u64::saturating_add),
                }),
                ..standing.clone()
            }
        };
        PastPart {
            case: Some(plan.cases[case].name.clone()),
            points: here(case).map(|p| plan.label(p)).collect(),
            baseline_wall_ns: None,
            standings: whole.standings.iter().map(standing).collect(),
            ..whole.clone()
        }
    };
    cases.map(part).collect()
}

impl Made {
    fn new(subject: &Subject, hash: Option<&String>) -> Made {
        let command = subject.command.as_ref();
        Made {
            name: subject.name.clone(),
            revision: command.and_then(|c| c.revision.clone()),
            line: command.map_or_else(|| subject.program.join(" "), |c| c.line.clone()),
            sha256: hash.cloned(),
        }
    }

    /// Whether it is known to be another program. A hash that one of the runs lacks says nothing.
    pub fn differs(&self, other: &Made) -> bool {
        let hashes = self.sha256.as_ref().zip(other.sha256.as_ref());
        self.line != other.line
            || self.revision != other.revision
            || hashes.is_some_and(|(mine, theirs)| mine != theirs)
    }
}

fn ratio(plan: &Plan, analysis: &Analysis, subject: SubjectId) -> Option<Interval> {
    let comparisons = || analysis.comparisons.iter();
    let overall = || analysis.overall.iter();
    match plan.points.len() {
        1 => comparisons()
            .find(|c| c.subject == subject)
            .map(|c| c.ratio),
        _ => overall().find(|o| o.subject == subject).map(|o| o.ratio),
    }
}

fn verdicts(analysis: &Analysis, subject: SubjectId) -> Vec<Verdict> {
    let mine = analysis.comparisons.iter().filter(|c| c.subject == subject);
    mine.map(|c| c.verdict).collect()
}

fn missing(run: &Run, analysis: &Analysis, subject: SubjectId) -> &'static str {
    if run.failures.iter().any(|f| f.subject == subject) {
        "failed"
    } else if analysis.cells.iter().any(|c| c.subject == subject) {
        "not compared"
    } else {
        "not measured"
    }
}

fn baseline_time(plan: &Plan, analysis: &Analysis) -> Option<Interval> {
    let mut cells = analysis.cells.iter();
    let cell = cells.find(|c| c.subject == plan.baseline)?;
    (plan.points.len() == 1).then_some(cell.wall_ns)
}
