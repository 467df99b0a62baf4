// SPDX-License-Identifier: Apache-2.0
//! A compact summary of a run. A history of hundreds of runs needs only the summaries, so the runs
//! can be read one after another.

use crate::Report;
use crate::kind::kind_of;
use crate::parts::measured::Measured;
use crate::parts::respect::ComparedMetric;
use crate::parts::scope::Scope;
use crate::parts::standings::standing;
use crate::parts::table;
use lab_document::say;
use lab_model::{Host, Interval, Metric, Run, Subject, SubjectId, TargetKind};
use lab_stats::analysis::Verdict;
use lab_stats::results::WarningKind;
use std::collections::HashMap;

/// One run, without its samples.
#[derive(Clone, Debug)]
pub struct RunSummary {
    pub(super) run: String,
    pub(super) started_unix_s: f64,
    pub(super) ended: bool,
    /// The Git commit of the directory in which the run was started.
    pub(super) commit: Option<String>,
    /// The facts about the host that determine its speed.
    pub(super) host: Vec<(String, String)>,
    /// The SHA-256 of the user's own SQL, if the run measured it.
    pub(super) workload: Option<String>,
    /// The result of each subject on each target. Servers that benchlab starts have one result per
    /// case.
    pub(super) standings: Vec<SubjectStanding>,
}

/// The result of one subject in one run.
#[derive(Clone, Debug)]
pub struct SubjectStanding {
    /// The target, if the run has targets.
    pub target: Option<TargetKind>,
    /// The case, if cases are reported separately. If it is set, `ratio` compares the server's CPU
    /// time per request.
    pub case: Option<String>,
    /// The number of complete blocks.
    pub blocks: u32,
    pub points: Vec<String>,
    pub subject: ProgramIdentity,
    pub baseline: ProgramIdentity,
    /// The ratio to the baseline at the only point, or the mean ratio over all points. `None` if
    /// there is no interval.
    pub ratio: Option<Interval>,
    /// True if there were too few blocks for the requested confidence level.
    pub few_blocks: bool,
    /// The verdicts by point.
    pub verdicts: Vec<Verdict>,
    /// The reason for missing verdicts. Empty if there are verdicts.
    pub missing: &'static str,
    /// The baseline's time in nanoseconds if the run has only one point. For a load, the time per request.
    pub time_ns: Option<Interval>,
    /// The 99th percentile of a load's response time in nanoseconds, if the run has only one point.
    pub p99_ns: Option<Interval>,
    /// The number of failed requests of a load, over all points.
    pub failed: Option<u64>,
}

/// The data that identify a subject's program across runs.
#[derive(Clone, Debug)]
pub struct ProgramIdentity {
    pub name: String,
    pub revision: Option<String>,
    /// The command line, or the program with its arguments.
    line: String,
    sha256: Option<String>,
}

impl RunSummary {
    /// Analyzes and summarizes a measured run. Returns `None` for a run without a plan.
    ///
    /// `hashes` are the program hashes from the run file, keyed by [`Plan::subject_label`] or by the subject's name.
    ///
    /// [`Plan::subject_label`]: lab_model::Plan::subject_label
    pub fn new(run: &Run, hashes: &HashMap<String, String>) -> Option<RunSummary> {
        let content = run.measured()?;
        let report = Report::new(run, "");
        let kind = kind_of(&content.plan.work);
        let measured = Measured::new(&report, &content.plan, kind.traits());
        let facts = run.host.facts.iter();
        let decisive = |(name, _): &&(String, String)| ["cpu", "kernel"].contains(&name.as_str());
        // A run may contain only values that were imported from another tool.
        let is_measured = content.figures.is_empty() || run.complete_blocks().next().is_some();
        let mut standings = Vec::new();
        for scope in Scope::all(&measured).into_iter().filter(|_| is_measured) {
            let mut subjects = scope.others();
            if subjects.is_empty() {
                subjects.push(scope.base());
            }
            for compared in kind.compared_metrics(&scope) {
                let all = subjects.iter();
                standings.extend(all.map(|&s| SubjectStanding::new(&scope, &compared, s, hashes)));
            }
        }
        Some(RunSummary {
            run: run.name.clone(),
            started_unix_s: run.started_unix_s,
            ended: run.ending.is_some(),
            commit: run.host.fact(Host::COMMIT).map(str::to_owned),
            host: facts.filter(decisive).cloned().collect(),
            workload: content
                .plan
                .workload
                .as_ref()
                .map(|workload| workload.sha256.clone()),
            standings,
        })
    }

    /// Returns the names of the subjects that have a row, sorted and without duplicates.
    pub fn subjects(&self) -> impl Iterator<Item = &str> {
        let standings = self.standings.iter().map(|s| s.subject.name.as_str());
        let mut names: Vec<&str> = standings.collect();
        names.sort();
        names.dedup();
        names.into_iter()
    }
}

impl SubjectStanding {
    fn new(
        scope: &Scope,
        compared: &ComparedMetric,
        subject: SubjectId,
        hashes: &HashMap<String, String>,
    ) -> SubjectStanding {
        let identity = |id: SubjectId| {
            let (subject, label) = (&scope.plan.subjects[id], scope.label(id));
            let hash = hashes.get(&label).or_else(|| hashes.get(&subject.name));
            ProgramIdentity::new(subject, hash)
        };
        let standing = standing(scope, subject, &compared.metric, compared.over);
        // Times are only reported if there is a single point.
        let only = match compared.points.as_slice() {
            &[only] if compared.case.is_none() => Some(only),
            _ => None,
        };
        let time =
            |s: SubjectId, metric: &Metric| scope.interval((s, Some(only?)), metric).copied();
        let is_rate = compared.metric == Metric::THROUGHPUT;
        let base = time(scope.base(), &compared.metric);
        let base = base.map(|time| {
            if is_rate {
                say::inverse(&time, 1e9)
            } else {
                time
            }
        });
        SubjectStanding {
            target: scope.kind(),
            case: compared
                .case
                .map(|case| scope.plan.cases[case].name.clone()),
            blocks: scope.results.blocks,
            points: compared.points.iter().map(|&p| scope.point(p)).collect(),
            subject: identity(subject),
            baseline: identity(scope.base()),
            ratio: standing.map(|s| s.ratio).filter(say::is_bounded),
            few_blocks: scope.results.warned(WarningKind::FewBlocks),
            verdicts: match compared.case {
                Some(_) => standing.and_then(|s| s.verdict).into_iter().collect(),
                None => table::verdicts(scope, subject, &compared.metric),
            },
            missing: missing_reason(scope, compared, subject),
            time_ns: base.filter(say::is_bounded),
            p99_ns: time(subject, &Metric::P99).filter(say::is_bounded),
            failed: compared
                .counts_failed
                .then(|| count_failed(scope, compared, subject)),
        }
    }

    /// Returns true if both results are for the same target and case.
    pub fn is_like(&self, other: &SubjectStanding) -> bool {
        (self.target, &self.case) == (other.target, &other.case)
    }

    /// Returns true for the baseline itself, which has no comparison.
    pub fn is_alone(&self) -> bool {
        self.subject.name == self.baseline.name
    }
}

/// Counts the failed requests over all points.
fn count_failed(scope: &Scope, compared: &ComparedMetric, subject: SubjectId) -> u64 {
    let scopes = compared.all_points.iter().map(|&p| (subject, Some(p)));
    let failed = scopes.filter_map(|subject_scope| scope.quantity(subject_scope, &Metric::ERRORS));
    let failed = failed.map(|n| n.value as u64);
    failed.fold(0, u64::saturating_add)
}

/// Returns the explanation for a subject's missing verdicts.
fn missing_reason(scope: &Scope, compared: &ComparedMetric, subject: SubjectId) -> &'static str {
    let mut points = compared.all_points.iter();
    let mut failures = scope.run.spoiling_failures();
    if failures.any(|f| f.subject == subject) {
        "failed"
    } else if points.any(|&p| scope.knows((subject, Some(p)))) {
        "not compared"
    } else {
        "not measured"
    }
}

impl ProgramIdentity {
    fn new(subject: &Subject, hash: Option<&String>) -> ProgramIdentity {
        let command = subject.command.as_ref();
        ProgramIdentity {
            name: subject.name.clone(),
            revision: command.and_then(|c| c.revision.clone()),
            line: command.map_or_else(|| subject.program.join(" "), |c| c.line.clone()),
            sha256: hash.cloned(),
        }
    }

    /// Returns true if the programs are known to differ. Hashes are compared only if both runs have
    /// a hash of the program.
    pub fn differs(&self, other: &ProgramIdentity) -> bool {
        let hashes = self.sha256.as_ref().zip(other.sha256.as_ref());
        self.line != other.line
            || self.revision != other.revision
            || hashes.is_some_and(|(mine, theirs)| mine != theirs)
    }
}
