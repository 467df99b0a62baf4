// SPDX-License-Identifier: Apache-2.0
//! The results of a run as data: values and comparisons keyed by subject, point and metric.

use super::warning::Warning;
use crate::analysis::{Exclusion, Fit, ScalingLaw, Verdict};
use crate::outlook::Open;
use crate::server_age::ServerAge;
use lab_model::{CaseId, ErrorKind, Interval, Metric, PointId, SubjectId, TargetId, WarmUp};
use serde::Serialize;

/// All results that are derived from a run's samples.
///
/// Fields that do not apply to the kind of run are empty.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Results {
    /// The number of complete blocks.
    pub blocks: u32,
    /// The number of blocks that were redone because the host was disturbed.
    pub disturbed_blocks: u32,
    /// The requested confidence level, from 0 to 1, at which the intervals hold simultaneously at
    /// this interim analysis.
    pub level: f64,
    /// The equivalence margin: ratios within 1 ± margin count as equivalent.
    pub margin: f64,
    /// All measured values, sorted by point, then subject, then metric.
    pub cells: Vec<Cell>,
    /// The comparisons of each subject with the baseline of its target, sorted by point, then
    /// subject, then metric.
    pub comparisons: Vec<Comparison>,
    /// The comparisons of the second copy of each target's baseline with the baseline, sorted by
    /// point, then metric.
    pub controls: Vec<Control>,
    /// Ratios averaged over multiple points.
    pub overall: Vec<Overall>,
    /// The rankings of the subjects, each at one point or over multiple points.
    pub rankings: Vec<Ranking>,
    /// Lines `time = fixed + marginal * x`, fitted to sweeps.
    pub fits: Vec<Fit>,
    /// The effects of a factor on the same subject.
    pub effects: Vec<Effect>,
    /// The scaling of throughput with connections or threads.
    pub scalings: Vec<Scaling>,
    /// The peak rate of each subject over a sweep.
    pub bests: Vec<Best>,
    /// The effect of each factor of the first case on each subject, at the swept value that the
    /// report shows.
    pub spreads: Vec<Spread>,
    /// The subjects and points whose pauses cost the most. Empty unless the cost significantly
    /// exceeds the margin.
    pub pausing: Vec<Key>,
    /// Differences between the response-time distributions of an open loop.
    pub shifts: Vec<Shift>,
    /// Biases that could be mistaken for a difference between subjects.
    pub biases: Vec<Bias>,
    /// The warm-up class of each subject at each point, from its fresh processes.
    pub warm_ups: Vec<(SubjectId, PointId, WarmUp)>,
    /// The age at which each server became steady, and the state of the server during its turns.
    pub ages: Vec<ServerAge>,
    /// Failed requests by kind. Kinds without failures are omitted.
    pub errors: Vec<(SubjectId, PointId, ErrorKind, u64)>,
    /// The subjects and points at which the load generator was the bottleneck instead of the
    /// server.
    pub saturated: Vec<(SubjectId, PointId)>,
    /// The exit statuses of whole commands, in ascending order.
    pub statuses: Vec<(SubjectId, PointId, Vec<i32>)>,
    /// The subjects and points that were excluded from comparison.
    pub exclusions: Vec<Exclusion>,
    /// Facts without which users could misinterpret the results, most serious first.
    pub warnings: Vec<Warning>,
}

/// The subject, point and metric of a value, a comparison or a warning.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Key {
    /// The subject to which the value belongs.
    pub subject: SubjectId,
    /// The point. `None` means the whole run, as for start-up time and memory.
    pub point: Option<PointId>,
    /// The metric in which the value is measured.
    pub metric: Metric,
}

/// A measured value.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The subject, point and metric.
    #[serde(flatten)]
    pub key: Key,
    /// The number of complete blocks on which the value is based.
    pub blocks: u32,
    /// The value, in the metric's unit.
    pub value: Value,
}

/// An estimate or a reading.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// An estimate with an interval of its own, at the plan's level and not adjusted for other
    /// estimates.
    Estimate(Interval),
    /// A value without an interval, such as a count or a value that was read only once.
    Reading(f64),
}

/// A comparison of a subject with the baseline.
///
/// For metrics of the whole run, such as memory, the control is also a subject. Ratios compare
/// times or costs, so a ratio below 1 is better. For throughput, the ratio compares the time per
/// request.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The subject, point and metric.
    #[serde(flatten)]
    pub key: Key,
    /// The subject whose value is the divisor of the ratio.
    pub baseline: SubjectId,
    /// The number of blocks that contain both the subject and the baseline, after adjacent
    /// dependent blocks were merged.
    pub blocks: u32,
    /// The subject's value divided by the baseline's value.
    ///
    /// The interval is simultaneous over all comparisons of the run if there is a verdict.
    /// Otherwise, it is not adjusted.
    pub ratio: Interval,
    /// The p-value of the hypothesis that the ratio is 1, adjusted for all comparisons of the run.
    /// `None` means that the metric has no verdict of its own.
    pub p: Option<f64>,
    /// The verdict on the ratio. `None` means that the metric has no verdict of its own.
    pub verdict: Option<Verdict>,
    /// The margin used: the plan's margin, or a wider margin if the control shows that the noise
    /// exceeds the plan's margin.
    pub margin: f64,
    /// True if adjacent blocks were merged because they depend, or may depend, on each other.
    pub merged: bool,
    /// The data of an inconclusive comparison that more blocks could resolve.
    #[serde(skip)]
    pub open: Option<Open>,
}

/// A comparison of the second copy of a baseline with the baseline.
#[derive(Clone, Debug, Serialize)]
pub struct Control {
    /// The point at which both copies were measured.
    pub point: PointId,
    /// The metric that the ratio compares.
    pub metric: Metric,
    /// The ratio of the copies. The true ratio is 1.
    pub ratio: Interval,
    /// True if the interval contains 1, or if there are too few blocks to decide.
    pub met: bool,
    /// The margin used at this point.
    pub margin: f64,
}

/// A comparison of a subject with the baseline over multiple points: the geometric mean of the
/// subject's ratios.
#[derive(Clone, Debug, Serialize)]
pub struct Overall {
    /// The subject that is compared with the baseline.
    pub subject: SubjectId,
    /// The metric whose ratios are averaged.
    pub metric: Metric,
    /// The target of the averaged points.
    pub target: TargetId,
    /// The index into the plan's cases. `None` means all cases.
    pub case: Option<CaseId>,
    /// For servers, true if the points use keep-alive connections, and false if they use one
    /// connection per request.
    pub keep_alive: Option<bool>,
    /// The number of points averaged.
    pub points: u32,
    /// The ratio. Its interval is simultaneous over all comparisons of the run.
    pub ratio: Interval,
    /// The p-value of the hypothesis that the ratio is 1, adjusted for all comparisons of the run.
    pub p: Option<f64>,
    /// The verdict on the ratio.
    pub verdict: Option<Verdict>,
    /// The margin used.
    pub margin: f64,
}

/// The points over which subjects are compared or ranked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// All points or the points of one case. For servers, optionally only points with or without
    /// keep-alive.
    Points {
        /// The index into the plan's cases. `None` means all cases.
        case: Option<CaseId>,
        /// True if connections are kept alive. `None` means that this does not apply.
        keep_alive: Option<bool>,
    },
    /// One point. `None` means the whole run.
    At(Option<PointId>),
    /// The peak of each subject over a sweep. The point is the first of the points that differ only
    /// in the swept value.
    Best(PointId),
}

impl Over {
    /// All points of a run of batches or commands.
    pub const ALL: Over = Over::Points {
        case: None,
        keep_alive: None,
    };

    /// Selects all points of a run or, if the run has only one point, this point.
    pub fn all(points: &[PointId]) -> Over {
        match points {
            &[point] => Over::At(Some(point)),
            _ => Over::ALL,
        }
    }
}

/// The ranking of the subjects in one metric.
///
/// Over multiple points, or if the run has only one point, subjects are compared pairwise on the
/// same points. At one of multiple points, their ratios to the baseline are compared.
#[derive(Clone, Debug, Serialize)]
pub struct Ranking {
    /// The target on which all ranked subjects work.
    pub target: TargetId,
    /// The points over which the subjects are ranked.
    pub over: Over,
    /// The metric by which the subjects are ranked.
    pub metric: Metric,
    /// The subjects that were measured at all of the points, including the baseline, best first.
    pub subjects: Vec<SubjectId>,
    /// Pairs of subjects in which the first is ahead of the second by more than the margin, at the
    /// run's confidence level.
    pub apart: Vec<(SubjectId, SubjectId)>,
}

impl Ranking {
    /// Returns the best of the subjects that `counts` selects, and all selected subjects that are
    /// tied with the best.
    pub fn first(&self, counts: impl Fn(SubjectId) -> bool) -> Vec<SubjectId> {
        let mut ranked = self.subjects.iter().copied().filter(|&s| counts(s));
        let Some(best) = ranked.next() else {
            return Vec::new();
        };
        let tied = ranked.filter(|&s| !self.apart.contains(&(best, s)));
        std::iter::once(best).chain(tied).collect()
    }

    /// Returns the last of the subjects that `counts` selects, if every other selected subject is
    /// ahead of it.
    pub fn last(&self, counts: impl Fn(SubjectId) -> bool) -> Option<SubjectId> {
        let mut behind = self.subjects.iter().copied().filter(|&s| counts(s)).rev();
        let last = behind.next()?;
        let mut others = behind.peekable();
        others.peek()?;
        others
            .all(|s| self.apart.contains(&(s, last)))
            .then_some(last)
    }
}

/// The effect of a factor on a subject: the same work with two values of one parameter, compared
/// within each block.
#[derive(Clone, Debug, Serialize)]
pub struct Effect {
    /// The subject on which the factor has this effect.
    pub subject: SubjectId,
    /// The metric in which the two values of the factor are compared.
    pub metric: Metric,
    /// The factor, such as `statement`.
    pub factor: String,
    /// Pairs of points. The factor has its first value at the first point, and another value at the
    /// second.
    pub pairs: Vec<(PointId, PointId)>,
    /// The case of the points. `None` means that the points belong to multiple cases.
    pub case: Option<CaseId>,
    /// The result at the second point divided by the result at the first.
    pub ratio: Interval,
}

/// The scaling of a subject's throughput with the number of connections or threads, for one
/// combination of factors.
#[derive(Clone, Debug, Serialize)]
pub struct Scaling {
    /// The subject whose throughput was measured.
    pub subject: SubjectId,
    /// The target of the points.
    pub target: TargetId,
    /// The index into the plan's cases.
    pub case: CaseId,
    /// The factors that are constant, with their values.
    pub factors: Vec<(String, String)>,
    /// The number of points measured.
    pub points: u32,
    /// The Universal Scalability Law, fitted to the points.
    pub law: Option<ScalingLaw>,
    /// The reason for the missing law, or `None` if the law was fitted.
    pub why: Option<NoLaw>,
}

/// A reason for not fitting the Universal Scalability Law to a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum NoLaw {
    /// The fit needs more points.
    TooFewPoints {
        /// The number of points needed.
        needed: usize,
        /// The number of points measured.
        points: usize,
    },
    /// No block contains all points.
    NoCompleteBlock,
}

/// A subject's peak rate over the points of a sweep.
#[derive(Clone, Debug, Serialize)]
pub struct Best {
    /// The subject that reached the peak rate.
    pub subject: SubjectId,
    /// The first point of the sweep.
    pub first: PointId,
    /// The point with the peak rate.
    pub point: PointId,
    /// The peak rate per second, with an unadjusted interval.
    ///
    /// To avoid selection bias, the rate of a block is taken at the point at which the other half
    /// of the blocks peaks.
    pub rate: Interval,
}

/// The variation of a factor's effect between subjects, at one point of the sweep.
#[derive(Clone, Debug, Serialize)]
pub struct Spread {
    /// The point with the factor's first value.
    pub from: PointId,
    /// The point with another value of the factor.
    pub to: PointId,
    /// The value at `to` divided by the value at `from` for each subject, in ascending order.
    ///
    /// The intervals are simultaneous over all comparisons of the run.
    pub ratios: Vec<(SubjectId, Interval)>,
    /// True if the intervals of the smallest and the largest ratio do not overlap.
    pub apart: bool,
}

/// The difference between a server's response-time distribution and the baseline's.
#[derive(Clone, Debug, Serialize)]
pub struct Shift {
    /// The server that is compared with the baseline.
    pub subject: SubjectId,
    /// The point at which both servers were loaded.
    pub point: PointId,
    /// For each quantile, its ratio to the baseline's quantile. Quantiles are in units of 1/10,000.
    ///
    /// The intervals are simultaneous over the quantiles at the plan's level. They are not adjusted
    /// for other results.
    pub parts: Vec<(u32, Interval)>,
}

/// A bias, estimated from the run, that could be mistaken for a difference between subjects.
#[derive(Clone, Debug, Serialize)]
pub struct Bias {
    /// The subject whose results may be biased.
    pub subject: SubjectId,
    /// The kind of bias.
    pub kind: BiasKind,
    /// The ratio that measures the bias, with an unadjusted interval. Without a bias, the ratio is
    /// 1.
    pub ratio: Interval,
    /// True if the bias exceeds the margin, adjusted for all biases of the same kind.
    pub stands_out: bool,
}

/// The kinds of biases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BiasKind {
    /// The time in a turn that follows a turn of the same subject, divided by the time in the turn
    /// before, which follows another subject's turn.
    CarryOver,
    /// The time in the second half of a point's turns, divided by the time in the first half.
    Drift,
    /// The time on the core with the given number divided by the time on all other cores. For
    /// subjects other than the baseline, the ratio to the baseline is used instead of the time.
    Core(u32),
    /// The cost per request with the redone turns included, divided by the cost without them.
    ///
    /// The cost is the server's CPU time, or the elapsed time if the CPU time is unknown.
    Redone,
    /// CPU time divided by wall time. It exceeds 1 if helper threads run on other cores.
    Helpers,
}

impl Value {
    /// Returns the estimate or the reading.
    pub fn value(&self) -> f64 {
        match self {
            Value::Estimate(interval) => interval.estimate,
            Value::Reading(value) => *value,
        }
    }

    /// Returns the interval of an estimate.
    pub fn interval(&self) -> Option<&Interval> {
        match self {
            Value::Estimate(interval) => Some(interval),
            Value::Reading(_) => None,
        }
    }
}

impl Results {
    /// Returns the values of a subject at a point.
    ///
    /// `None` means the whole run.
    pub fn cells_at(&self, subject: SubjectId, point: impl Into<Option<PointId>>) -> &[Cell] {
        find_range(&self.cells, |cell| &cell.key, subject, point.into())
    }

    /// Returns the cell of a subject, a point and a metric.
    pub fn find(
        &self,
        subject: SubjectId,
        point: impl Into<Option<PointId>>,
        metric: &Metric,
    ) -> Option<&Cell> {
        let mut cells = self.cells_at(subject, point).iter();
        cells.find(|cell| cell.key.metric == *metric)
    }

    /// Returns the value of a metric for a subject at a point, or over the whole run.
    pub fn value(
        &self,
        subject: SubjectId,
        point: impl Into<Option<PointId>>,
        metric: &Metric,
    ) -> Option<Value> {
        self.find(subject, point, metric).map(|cell| cell.value)
    }

    /// Returns the comparisons of a subject at a point.
    ///
    /// `None` means the whole run.
    pub fn comparisons_at(
        &self,
        subject: SubjectId,
        point: impl Into<Option<PointId>>,
    ) -> &[Comparison] {
        find_range(&self.comparisons, |c| &c.key, subject, point.into())
    }

    /// Returns the comparison of a subject with the baseline in one metric.
    pub fn comparison(
        &self,
        subject: SubjectId,
        point: impl Into<Option<PointId>>,
        metric: &Metric,
    ) -> Option<&Comparison> {
        let mut comparisons = self.comparisons_at(subject, point).iter();
        comparisons.find(|c| c.key.metric == *metric)
    }

    /// Returns the control of a metric at a point.
    pub fn control(&self, point: PointId, metric: &Metric) -> Option<&Control> {
        let mut controls = self.controls.iter();
        controls.find(|c| c.point == point && c.metric == *metric)
    }

    /// Returns true if the load generator was the bottleneck instead of the server.
    pub fn is_saturated(&self, subject: SubjectId, point: PointId) -> bool {
        self.saturated.contains(&(subject, point))
    }

    /// Returns true if the server did not keep up with the rate and therefore has no percentiles.
    pub fn is_overloaded(&self, subject: SubjectId, point: PointId) -> bool {
        self.value(subject, point, &Metric::BACKLOG).is_some()
    }
}

impl Key {
    /// Returns the sort key of cells and comparisons: the point, then the subject. The whole run
    /// comes after all points.
    pub(crate) fn sort_key(&self) -> (bool, Option<PointId>, SubjectId) {
        (self.point.is_none(), self.point, self.subject)
    }
}

/// Returns the items of one subject and point by binary search.
fn find_range<T>(
    all: &[T],
    key: fn(&T) -> &Key,
    subject: SubjectId,
    point: Option<PointId>,
) -> &[T] {
    let sort_key = (point.is_none(), point, subject);
    let rest = &all[all.partition_point(|one| key(one).sort_key() < sort_key)..];
    &rest[..rest.partition_point(|one| key(one).sort_key() == sort_key)]
}
