// SPDX-License-Identifier: Apache-2.0
//! Parts of a run's results: verdicts, fits and exclusions.

use crate::server_age::ServerAge;
use lab_model::{CaseId, ErrorKind, Interval, Metric, PointId, SubjectId};
use serde::Serialize;

/// The verdict that the data support.
///
/// All verdicts except `Inconclusive` require an interval with the requested level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// The whole interval lies below 1 - margin: the subject takes less time than the baseline.
    Faster,
    /// The whole interval lies above 1 + margin: the subject takes more time than the baseline.
    Slower,
    /// The whole interval lies within 1 ± margin.
    Equivalent,
    /// The interval excludes 1 and overlaps the margin.
    SmallButReal {
        /// True if the subject takes less time than the baseline.
        faster: bool,
    },
    /// None of the other verdicts applies.
    Inconclusive {
        /// The number of blocks that would probably resolve the comparison, if known.
        blocks_needed: Option<u32>,
    },
}

/// The line `time = fixed + marginal * x`, fitted to a sweep for one subject and one combination of
/// factors.
#[derive(Clone, Debug, Serialize)]
pub struct Fit {
    /// The subject whose times or costs were fitted.
    pub subject: SubjectId,
    /// The index into the plan's cases.
    pub case: CaseId,
    /// The parameters that have the same value at all points of the fit, such as `statement=text`.
    pub factors: Vec<(String, String)>,
    /// The fitted metric: a time or a cost.
    pub metric: Metric,
    /// The swept parameter.
    pub over: String,
    /// The cost of an operation at x = 0, in ns.
    pub fixed_ns: Interval,
    /// The additional cost per unit of the swept parameter, in ns.
    pub marginal_ns: Interval,
    /// The number of points. A line through two points always fits exactly, so it proves nothing.
    pub points: usize,
    /// The largest relative distance of a point from the line, where 0.05 means 5%.
    pub worst_residual: f64,
    /// True if the points deviate from the line by more than their noise and by more than the
    /// margin. The line must then not be extrapolated.
    pub curved: bool,
}

/// The Universal Scalability Law: throughput(n) = one · n / (1 + contention · (n − 1) + coherency ·
/// n · (n − 1)).
#[derive(Clone, Debug, Serialize)]
pub struct ScalingLaw {
    /// The throughput of one connection, in operations per second.
    pub one: Interval,
    /// The fraction of the work that is serialized.
    pub contention: Interval,
    /// The synchronization cost of each pair of connections, as a fraction of the work.
    pub coherency: Interval,
    /// The predicted peak, or `None` if coherency may be 0. Without coherency, the predicted
    /// throughput never declines.
    pub peak: Option<PredictedPeak>,
    /// The largest relative distance of a point from the law, where 0.05 means 5%.
    pub worst_residual: f64,
    /// True if the points deviate from the law by more than their noise, by more than 5%, and by
    /// more than the margin. The law must then not be extrapolated, and the peak is unreliable.
    pub departs: bool,
}

/// The highest throughput that the law predicts.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PredictedPeak {
    /// The number of connections at the peak.
    pub connections: Interval,
    /// The peak throughput, in operations per second.
    pub throughput: Interval,
}

/// A subject that was excluded from comparison at one point or at all points, with the reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Exclusion {
    /// The subject that was excluded.
    pub subject: SubjectId,
    /// The point. `None` means all points.
    pub point: Option<PointId>,
    /// The reason for the exclusion.
    #[serde(flatten)]
    pub reason: ExclusionReason,
}

/// The reason for an exclusion, with names and numbers.
///
/// The names of the variants are codes in JSON reports.
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
    /// The baseline failed. The exclusion does not count against the subject.
    BaselineFailed {
        /// The name of the baseline.
        baseline: String,
    },
    /// The subject's settings differ from the baseline's settings.
    SettingDiffers {
        /// The key of the setting.
        key: String,
        /// The subject's value. `None` means that the subject did not report it.
        value: Option<String>,
        /// The baseline's value. `None` means that the baseline did not report it.
        baseline_value: Option<String>,
        /// The name of the baseline.
        baseline: String,
    },
    /// The runs of the subject's and the baseline's commands did not all return the same exit
    /// status.
    ExitStatus {
        /// The exit statuses of the subject's command, failures first.
        own: Vec<StatusCount>,
        /// The name of the baseline.
        baseline: String,
        /// The exit statuses of the baseline's command, failures first.
        of_baseline: Vec<StatusCount>,
    },
    /// The run's time ended before a pilot could show that its subject was steady.
    PilotCutShort {
        /// The name of the baseline, if the baseline's pilot was cut short. `None` means that the
        /// subject's own pilot was cut short.
        baseline: Option<String>,
        /// The points at which pilots were cut short.
        at: FirstPoint,
        /// The duration of the longest pilot that was cut short, in ns.
        pilot_ns: u64,
        /// The minimum time budget that would let all pilots finish, in s, if known.
        budget_s: Option<f64>,
    },
    /// A subject that works in batches was measured at another level than in its pilot.
    TurnsNotSteady(TurnsNotSteady),
    /// A server was not at its steady level.
    ServerNotSteady {
        /// The name of the baseline, if the baseline was not at its steady level. `None` means that
        /// the subject itself was not at its steady level.
        baseline: Option<String>,
        /// The levels of the server in its pilot and in its turns.
        age: ServerAge,
    },
    /// A server's peak is unknown because the generator was the bottleneck.
    PeakUnknown {
        /// The name of the baseline, if the baseline's peak is unknown. `None` means that the
        /// subject's own peak is unknown.
        baseline: Option<String>,
    },
    /// A server served no requests in some blocks, so these blocks have no ratio.
    ServedNothing {
        /// The name of the baseline, if the baseline served nothing in some blocks. `None` means
        /// that the subject itself served nothing.
        baseline: Option<String>,
        /// The number of blocks in which the server served no requests.
        idle: usize,
        /// The total number of the server's blocks.
        blocks: usize,
        /// The most frequent error in the blocks in which the server served no requests.
        mostly: Option<ErrorKind>,
    },
}

impl ExclusionReason {
    /// Returns the class of the reason.
    pub fn kind(&self) -> ExclusionKind {
        match self {
            ExclusionReason::Failed { .. }
            | ExclusionReason::SettingDiffers { .. }
            | ExclusionReason::PeakUnknown { .. }
            | ExclusionReason::ServedNothing { .. } => ExclusionKind::Subject,
            ExclusionReason::BaselineFailed { .. } => ExclusionKind::WithoutBaseline,
            ExclusionReason::ExitStatus { .. } => ExclusionKind::ExitStatus,
            ExclusionReason::PilotCutShort { .. }
            | ExclusionReason::TurnsNotSteady(_)
            | ExclusionReason::ServerNotSteady { .. } => ExclusionKind::NotSteady,
        }
    }

    /// Returns true if the reason itself names the points to which it applies.
    pub fn names_points(&self) -> bool {
        matches!(
            self,
            ExclusionReason::PilotCutShort { .. } | ExclusionReason::TurnsNotSteady(_)
        )
    }
}

/// The number of runs of a command with a given exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StatusCount {
    /// The exit status, or 128 + signal number if a signal terminated the process.
    pub status: i32,
    /// The number of runs.
    pub runs: usize,
}

/// The first of some points, and the number of the other points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FirstPoint {
    /// The label of the first point, such as `select limit=100`.
    pub first: String,
    /// The number of other points.
    pub more: usize,
}

/// A subject whose turns were not at the level of its pilot. The numbers are from the point with
/// the largest difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TurnsNotSteady {
    /// The affected points. The other fields describe the first of these points.
    pub at: FirstPoint,
    /// The number of processes whose turns were not at the pilot's level.
    pub processes_off: usize,
    /// The total number of processes.
    pub processes: usize,
    /// The time of an operation in the turns of the processes that were not at the pilot's level,
    /// in ns.
    pub turns_ns: f64,
    /// The time of an operation at the pilot's steady level, in ns, converted to the speed of the
    /// machine during the turns.
    pub steady_ns: f64,
    /// The likely cause of the difference.
    pub cause: TurnsCause,
}

/// The likely cause of a difference between the level of turns and the level of the pilot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TurnsCause {
    /// Each process of the subject stays at one of two levels.
    TwoLevels {
        /// The time of an operation in the turns of the processes at the other level, in ns.
        other_ns: f64,
    },
    /// The turns were faster than the pilot: the subject or the baseline needs a longer warm-up
    /// than the pilot gave it.
    PilotTooShort,
    /// Something disturbed the turns. According to the pilot, the subject needs no warm-up.
    Disturbed,
    /// The subject was still warming up.
    WarmingUp {
        /// True if the pilot was steady in the end.
        pilot_steady: bool,
        /// The number of operations that the pilot ran before it became steady.
        operations: u64,
        /// The time that the pilot ran before it became steady, in ns.
        wall_ns: u64,
    },
}

/// The class of the reason for an exclusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExclusionKind {
    /// The subject failed, or did not do the same work as the baseline.
    Subject,
    /// The baseline failed, so the exclusion does not count against the subject.
    WithoutBaseline,
    /// The runs of the subject's and the baseline's commands did not all return the same exit
    /// status.
    ExitStatus,
    /// The subject or the baseline was not at its steady level.
    NotSteady,
}

impl Exclusion {
    /// Returns the class of the reason.
    pub fn kind(&self) -> ExclusionKind {
        self.reason.kind()
    }
}
