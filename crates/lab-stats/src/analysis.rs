// SPDX-License-Identifier: Apache-2.0
//! The parts of results: estimates, verdicts and fits.

use crate::server_age::ServerAge;
use lab_model::{ErrorKind, Interval, Metric, PointId, SubjectId};
use serde::Serialize;

/// The verdict that the data supports. Anything but `Inconclusive` requires an interval with the requested
/// level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole interval lies below 1 - margin: less time than the baseline.
    Faster,
    /// The whole interval lies above 1 + margin.
    Slower,
    /// The whole interval lies within 1 ± margin.
    Equivalent,
    /// The interval excludes 1 and overlaps the margin.
    SmallButReal {
        /// Less time than the baseline.
        faster: bool,
    },
    /// None of these.
    Inconclusive {
        /// The number of blocks that would probably resolve it, if that is known.
        blocks_needed: Option<u32>,
    },
}

/// `time = fixed + marginal * x` over a case's sweep, for one subject and one choice of factors.
#[derive(Clone, Debug, Serialize)]
pub struct Fit {
    /// The subject.
    pub subject: SubjectId,
    /// Index into the plan's cases.
    pub case: usize,
    /// The parameters that are the same at all points of the fit, such as `statement=text`.
    pub factors: Vec<(String, String)>,
    /// The metric that is fitted: a time or a cost.
    pub metric: Metric,
    /// The parameter that was swept.
    pub over: String,
    /// Cost of an operation with x = 0, ns.
    pub fixed_ns: Interval,
    /// Cost of one more of the swept parameter, ns.
    pub marginal_ns: Interval,
    /// Points that the line goes through or by: it goes through two, whatever the truth is.
    pub points: usize,
    /// The greatest relative distance of a point from the line (0.05: 5 %).
    pub worst_residual: f64,
    /// The points bend away from the line, by more than their noise and by more than the margin:
    /// do not extrapolate.
    pub curved: bool,
}

/// The Universal Scalability Law: throughput(n) = one · n / (1 + contention · (n − 1) +
/// coherency · n · (n − 1)).
#[derive(Clone, Debug, Serialize)]
pub struct ScalingLaw {
    /// The throughput of one connection, operations per second.
    pub one: Interval,
    /// The part of the work that has to be done one after the other.
    pub contention: Interval,
    /// The cost of keeping in step for each pair of connections, as a fraction of the work.
    pub coherency: Interval,
    /// Where throughput is highest; `None`: it is not shown to fall anywhere, for coherency may be 0.
    pub peak: Option<PredictedPeak>,
    /// The greatest relative distance of a point from the law (0.05: 5 %).
    pub worst_residual: f64,
    /// The points do not follow the law: they differ from it by more than their noise, by more than 5 % and by more
    /// than the margin. Do not extrapolate, and do not trust the peak.
    pub departs: bool,
}

/// The highest throughput that a law predicts.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PredictedPeak {
    /// The number of connections.
    pub connections: Interval,
    /// Operations per second.
    pub throughput: Interval,
}

/// A pair that was not compared, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Refusal {
    /// The subject.
    pub subject: SubjectId,
    /// The point; `None`: all points.
    pub point: Option<PointId>,
    /// The reason.
    #[serde(flatten)]
    pub reason: ExclusionReason,
}

/// The reason for a pair that was not compared, with names and numbers. Its variants are the codes of JSON reports.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum ExclusionReason {
    /// The subject failed.
    Failed {
        /// The kind of failure.
        kind: String,
        /// The message of the failure.
        message: String,
    },
    /// The baseline failed, which says nothing against the subject.
    BaselineFailed {
        /// The baseline.
        baseline: String,
    },
    /// The subject did not work under the baseline's settings.
    SettingDiffers {
        /// The key of the setting.
        key: String,
        /// The subject's value; `None`: not reported.
        value: Option<String>,
        /// The baseline's value; `None`: not reported.
        baseline_value: Option<String>,
        /// The baseline.
        baseline: String,
    },
    /// The runs of the two commands did not all end with one exit status.
    ExitStatus {
        /// Those of the command, failures first.
        own: Vec<StatusCount>,
        /// The baseline.
        baseline: String,
        /// Those of the baseline, failures first.
        of_baseline: Vec<StatusCount>,
    },
    /// A pilot ended with the run's time, before its subject could be seen to be steady.
    PilotCutShort {
        /// The baseline, if it is its pilot; otherwise it is the subject's own.
        baseline: Option<String>,
        /// The points.
        at: FirstPoint,
        /// How long the longest of its pilots took, ns.
        pilot_ns: u64,
        /// The time of a run with which all pilots would have been long enough, s, if that is known.
        budget_s: Option<f64>,
    },
    /// The turns of a subject that works in batches were not at the level of its pilot.
    TurnsNotSteady(TurnsNotSteady),
    /// A server was not at its steady level.
    ServerNotSteady {
        /// The baseline, if it is the server; otherwise it is the subject itself.
        baseline: Option<String>,
        /// The results of its pilot and its turns.
        age: ServerAge,
    },
    /// No peak of a server is known, since the generator was the limit.
    PeakUnknown {
        /// The baseline, if it is its peak; otherwise it is the subject's own.
        baseline: Option<String>,
    },
    /// A server served nothing in some blocks, for which there is no ratio.
    ServedNothing {
        /// The baseline, if it is the server; otherwise it is the subject itself.
        baseline: Option<String>,
        /// The blocks in which it served nothing.
        idle: usize,
        /// All of its blocks.
        blocks: usize,
        /// The most frequent error in those.
        mostly: Option<ErrorKind>,
    },
}

/// How many runs of a command ended with an exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StatusCount {
    /// The exit status.
    pub status: i32,
    /// The runs.
    pub runs: usize,
}

/// A point, and how many more there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FirstPoint {
    /// The point.
    pub first: String,
    /// How many more.
    pub more: usize,
}

/// Turns of a subject that were not at the level of its pilot, at the point where they were farthest from it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TurnsNotSteady {
    /// The points.
    pub at: FirstPoint,
    /// Processes that were not at the level.
    pub processes_off: usize,
    /// All of its processes.
    pub processes: usize,
    /// Time of an operation in the turns of those that were not, ns.
    pub turns_ns: f64,
    /// The pilot's level at the same speed of the machine, ns.
    pub steady_ns: f64,
    /// The cause.
    pub cause: TurnsCause,
}

/// Why turns were not at the level of the pilot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TurnsCause {
    /// Processes have one of two levels that last.
    TwoLevels {
        /// Time of an operation in the turns of the other processes, ns.
        other_ns: f64,
    },
    /// They took less time: the subject or the baseline needs a longer warm-up than the pilot saw.
    PilotTooShort,
    /// Something disturbed the subject, whose pilot saw no warm-up.
    Disturbed,
    /// It was still warming up.
    WarmingUp {
        /// Its pilot was steady in the end.
        pilot_steady: bool,
        /// Operations of the pilot until then.
        operations: u64,
        /// Time of the pilot until then, ns.
        wall_ns: u64,
    },
}

/// The class of a reason for a pair that was not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// The subject failed, or did other work than the baseline.
    Subject,
    /// The baseline failed, so the exclusion does not count against the subject.
    WithoutBaseline,
    /// The runs of the two did not all end with one exit status.
    ExitStatus,
    /// One of the two was not at its steady level.
    NotSteady,
}

impl Refusal {
    /// The class of its reason.
    pub fn kind(&self) -> RefusalKind {
        match self.reason {
            ExclusionReason::Failed { .. }
            | ExclusionReason::SettingDiffers { .. }
            | ExclusionReason::PeakUnknown { .. }
            | ExclusionReason::ServedNothing { .. } => RefusalKind::Subject,
            ExclusionReason::BaselineFailed { .. } => RefusalKind::WithoutBaseline,
            ExclusionReason::ExitStatus { .. } => RefusalKind::ExitStatus,
            ExclusionReason::PilotCutShort { .. }
            | ExclusionReason::TurnsNotSteady(_)
            | ExclusionReason::ServerNotSteady { .. } => RefusalKind::NotSteady,
        }
    }
}
