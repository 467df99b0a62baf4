// SPDX-License-Identifier: Apache-2.0
//! The results of a run of any kind: figures and comparisons keyed by subject, point and metric.

mod ages;
pub(crate) mod batches;
mod best;
mod bias;
pub(crate) mod calls;
pub(crate) mod compare;
mod completed;
mod footprints;
pub(crate) mod judge;
mod kind;
mod levels;
pub(crate) mod load;
mod load_means;
mod load_pairs;
mod load_traits;
mod means;
mod observed;
mod of_run;
mod parts;
mod pauses;
mod ranking;
mod spread;
pub mod warning;
mod warnings;

pub use crate::server_age::{AgeState, ServerAge};
pub use ages::FIRST;
pub(crate) use ages::refusals as age_refusals;
pub use observed::{Observation, observed, readings};
pub use of_run::results;
pub use warning::{Warning, WarningFact, WarningKind};

use crate::analysis::{Fit, Refusal, ScalingLaw, Verdict};
use crate::outlook::Open;
use lab_model::{ErrorKind, Interval, Metric, PointId, SubjectId, TargetId, WarmUp};
use serde::Serialize;

/// Everything that a run's samples say. What a kind of run does not have is absent.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Results {
    /// Complete blocks.
    pub blocks: u32,
    /// Blocks that were redone because the host disturbed them.
    pub disturbed_blocks: u32,
    /// The requested level of simultaneous intervals at this interim analysis, 0 to 1.
    pub level: f64,
    /// Ratios within 1 ± margin count as equivalent.
    pub margin: f64,
    /// Every figure, by point, then subject, then metric.
    pub cells: Vec<Cell>,
    /// Every subject against its target's baseline, by point, then subject, then metric.
    pub comparisons: Vec<Comparison>,
    /// The second copy of each target's baseline against it, by point, then metric.
    pub controls: Vec<Control>,
    /// Ratios over multiple points.
    pub overall: Vec<Overall>,
    /// The rankings of subjects, at a point or over multiple points.
    pub rankings: Vec<Ranking>,
    /// Lines `time = fixed + marginal * x` over sweeps.
    pub fits: Vec<Fit>,
    /// The cost of a factor within one subject.
    pub effects: Vec<Effect>,
    /// The gain of more connections or threads.
    pub scalings: Vec<Scaling>,
    /// The most that each subject does over a sweep of them.
    pub bests: Vec<Best>,
    /// The cost of each value of the first case's factors, at the point that the answer shows.
    pub spreads: Vec<Spread>,
    /// The subjects and points with the most costly pauses, where they significantly exceed the margin.
    pub pausing: Vec<Key>,
    /// How the distributions of response times of an open loop differ.
    pub shifts: Vec<Shift>,
    /// Biases that could be mistaken for a difference between subjects.
    pub biases: Vec<Bias>,
    /// How batch times of fresh processes behave.
    pub warm_ups: Vec<(SubjectId, PointId, WarmUp)>,
    /// How old servers were when they were steady, and whether their turns were at that level.
    pub ages: Vec<ServerAge>,
    /// Requests that failed, by kind; only kinds that happened.
    pub errors: Vec<(SubjectId, PointId, ErrorKind, u64)>,
    /// Where the load generator, not the server, was the limit.
    pub saturated: Vec<(SubjectId, PointId)>,
    /// Exit statuses that processes of whole commands ended with, ascending.
    pub statuses: Vec<(SubjectId, PointId, Vec<i32>)>,
    /// The exclusions.
    pub refusals: Vec<Refusal>,
    /// Facts without which the figures are misread, the gravest first.
    pub warnings: Vec<Warning>,
}

/// The subject, point and metric of a figure, a comparison or a warning.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Key {
    /// The subject.
    pub subject: SubjectId,
    /// The point; `None`: the whole run, as for start-up and memory.
    pub point: Option<PointId>,
    /// The metric.
    pub metric: Metric,
}

/// A figure.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The subject, point and metric.
    #[serde(flatten)]
    pub key: Key,
    /// Complete blocks that it comes from.
    pub blocks: u32,
    /// Its value in the metric's unit.
    pub value: Value,
}

/// An estimate or a reading.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// An estimate with an interval at the plan's level by itself.
    Estimate(Interval),
    /// A value that was read once or counted, without an interval.
    Reading(f64),
}

/// A subject against the baseline. The control is included where there is no point, as for memory over the
/// whole run. A ratio compares times or costs, so that below 1 is better; for throughput it compares the time
/// per request.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The subject, point and metric.
    #[serde(flatten)]
    pub key: Key,
    /// The baseline.
    pub baseline: SubjectId,
    /// Blocks that have both (after merging adjacent ones, if they depend on each other).
    pub blocks: u32,
    /// The subject's / the baseline's. Where there is a verdict, simultaneous over all that the run compares;
    /// elsewhere by itself.
    pub ratio: Interval,
    /// p-value of ratio = 1, adjusted for all that the run compares; `None`: the metric has no verdict of its own.
    pub p: Option<f64>,
    /// The verdict on the ratio; `None`: the metric has no verdict of its own.
    pub verdict: Option<Verdict>,
    /// The margin used: the plan's, or the control's bound where its noise floor was not met.
    pub margin: f64,
    /// Adjacent blocks were merged because they depend, or may depend, on each other.
    pub merged: bool,
    /// The data of an inconclusive comparison that more blocks could resolve.
    #[serde(skip)]
    pub open: Option<Open>,
}

/// The second copy of a baseline against it.
#[derive(Clone, Debug, Serialize)]
pub struct Control {
    /// The point.
    pub point: PointId,
    /// The metric.
    pub metric: Metric,
    /// Its ratio; the truth is 1.
    pub ratio: Interval,
    /// The interval contains 1, or the blocks are too few to say.
    pub met: bool,
    /// The margin used there.
    pub margin: f64,
}

/// A subject against the baseline over multiple points: the geometric mean of its ratios.
#[derive(Clone, Debug, Serialize)]
pub struct Overall {
    /// The subject.
    pub subject: SubjectId,
    /// The metric.
    pub metric: Metric,
    /// The target.
    pub target: TargetId,
    /// Index into the plan's cases; `None`: over all of them.
    pub case: Option<usize>,
    /// For servers: the mean is over points whose connections are kept alive, or over points whose
    /// connections serve one request each.
    pub keep_alive: Option<bool>,
    /// How many points went into it.
    pub points: u32,
    /// Simultaneous over all that the run compares.
    pub ratio: Interval,
    /// p-value of ratio = 1, adjusted for all that the run compares.
    pub p: Option<f64>,
    /// The verdict on the ratio.
    pub verdict: Option<Verdict>,
    /// The margin used.
    pub margin: f64,
}

/// Over which points subjects are compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// All, or those of a case; of servers, with connections that are kept alive, or not.
    Points {
        /// Index into the plan's cases; `None`: all.
        case: Option<usize>,
        /// `None`: it does not apply.
        keep_alive: Option<bool>,
    },
    /// One; without one, over the whole run.
    At(Option<PointId>),
    /// Each subject where it does most, over the points that differ from this one, their first, in the sweep alone.
    Best(PointId),
}

impl Over {
    /// All points of a run of batches or commands.
    pub const ALL: Over = Over::Points {
        case: None,
        keep_alive: None,
    };

    /// All of these points, which are all that there are, or the only one.
    pub fn all(points: &[PointId]) -> Over {
        match points {
            &[point] => Over::At(Some(point)),
            _ => Over::ALL,
        }
    }
}

/// The ranking of subjects in one metric: over multiple points, or at the only one, by direct ratios of each
/// to each on the same points; at one of many by their ratios to the baseline.
#[derive(Clone, Debug, Serialize)]
pub struct Ranking {
    /// The target.
    pub target: TargetId,
    /// The points.
    pub over: Over,
    /// The metric.
    pub metric: Metric,
    /// Those that were measured at all of the points, the best first, the baseline among them.
    pub subjects: Vec<SubjectId>,
    /// Pairs of which the first is ahead, at the level of the run and beyond the margin.
    pub apart: Vec<(SubjectId, SubjectId)>,
}

impl Ranking {
    /// The best of those that `counts`, and all of them that it is not ahead of.
    pub fn first(&self, counts: impl Fn(SubjectId) -> bool) -> Vec<SubjectId> {
        let mut ranked = self.subjects.iter().copied().filter(|&s| counts(s));
        let Some(best) = ranked.next() else {
            return Vec::new();
        };
        let tied = ranked.filter(|&s| !self.apart.contains(&(best, s)));
        std::iter::once(best).chain(tied).collect()
    }

    /// The last of those that `counts`, if all the others are ahead of it.
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

/// The cost of a factor within one subject: the same work with another value of one parameter, paired by
/// block.
#[derive(Clone, Debug, Serialize)]
pub struct Effect {
    /// The subject.
    pub subject: SubjectId,
    /// The metric.
    pub metric: Metric,
    /// The factor, such as `statement`.
    pub factor: String,
    /// Pairs of points: with the factor's first value, and with another.
    pub pairs: Vec<(PointId, PointId)>,
    /// The case of the pairs of points; `None`: they are of multiple cases.
    pub case: Option<usize>,
    /// Value with the second / value with the first.
    pub ratio: Interval,
}

/// The gain of more connections or threads, for one subject and one choice of factors.
#[derive(Clone, Debug, Serialize)]
pub struct Scaling {
    /// The subject.
    pub subject: SubjectId,
    /// The target.
    pub target: TargetId,
    /// Index into the plan's cases.
    pub case: usize,
    /// The factors that were held.
    pub factors: Vec<(String, String)>,
    /// Points at which it was measured.
    pub points: u32,
    /// The law through them.
    pub law: Option<ScalingLaw>,
    /// The reason why there is no law, if there is none.
    pub why: Option<NoLaw>,
}

/// The reason for a missing scalability law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum NoLaw {
    /// It needs more points.
    TooFewPoints {
        /// The points that it needs.
        needed: usize,
        /// The points that there are.
        points: usize,
    },
    /// No block has all points.
    NoCompleteBlock,
}

/// The most that a subject does over the points of a sweep.
#[derive(Clone, Debug, Serialize)]
pub struct Best {
    /// The subject.
    pub subject: SubjectId,
    /// The first of the points.
    pub first: PointId,
    /// The point where it does most.
    pub point: PointId,
    /// The most per second, with an interval of its own. Each block counts at the point where the other half of the
    /// blocks has most.
    pub rate: Interval,
}

/// The cost of another value of a factor for the subjects, at one value of the sweep.
#[derive(Clone, Debug, Serialize)]
pub struct Spread {
    /// The point with the factor's first value.
    pub from: PointId,
    /// The point with another value of the factor.
    pub to: PointId,
    /// The value at `to` / the value at `from`, by subject, the least first. The intervals hold together over all that
    /// the run compares.
    pub ratios: Vec<(SubjectId, Interval)>,
    /// The intervals of the least and of the greatest ratio do not overlap.
    pub apart: bool,
}

/// How a server's distribution of response times differs from the baseline's.
#[derive(Clone, Debug, Serialize)]
pub struct Shift {
    /// The server.
    pub subject: SubjectId,
    /// The point.
    pub point: PointId,
    /// The ratio of a quantile to the baseline's, by quantile (of 10,000); the intervals of all hold together
    /// at the plan's level, independently of other figures.
    pub parts: Vec<(u32, Interval)>,
}

/// A bias that could be mistaken for a difference between subjects, as far as the run shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Bias {
    /// The subject.
    pub subject: SubjectId,
    /// The kind of bias.
    pub kind: BiasKind,
    /// The ratio that shows the bias, with an interval of its own; 1 without a bias.
    pub ratio: Interval,
    /// It exceeds the margin, at a level that holds for all of the same kind together.
    pub stands_out: bool,
}

/// Kinds of bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BiasKind {
    /// Its time in turns after a turn of its own / in the turn before, which followed another's.
    CarryOver,
    /// Its time in the second half of a point's turns / in the first.
    Drift,
    /// On this core / on the others: the baseline's time, of others their ratio to the baseline.
    Core(u32),
    /// Its cost of a request with the turns that were taken again / without them: the server's CPU time, or the time
    /// where that is not known.
    Redone,
    /// CPU time / wall time: above 1 where its helper threads work on other cores.
    Helpers,
}

impl Value {
    /// The estimate or the reading.
    pub fn value(&self) -> f64 {
        match self {
            Value::Estimate(interval) => interval.estimate,
            Value::Reading(value) => *value,
        }
    }

    /// The interval, if it has one.
    pub fn interval(&self) -> Option<&Interval> {
        match self {
            Value::Estimate(interval) => Some(interval),
            Value::Reading(_) => None,
        }
    }
}

impl Results {
    /// The figures of a subject at a point; `None`: over the whole run.
    pub fn cells_at(&self, subject: SubjectId, point: impl Into<Option<PointId>>) -> &[Cell] {
        at(&self.cells, |cell| &cell.key, subject, point.into())
    }

    /// The cell of a subject, a point and a metric.
    pub fn find(
        &self,
        subject: SubjectId,
        point: impl Into<Option<PointId>>,
        metric: &Metric,
    ) -> Option<&Cell> {
        let mut cells = self.cells_at(subject, point).iter();
        cells.find(|cell| cell.key.metric == *metric)
    }

    /// A figure of a subject at a point, or over the whole run.
    pub fn value(
        &self,
        subject: SubjectId,
        point: impl Into<Option<PointId>>,
        metric: &Metric,
    ) -> Option<Value> {
        self.find(subject, point, metric).map(|cell| cell.value)
    }

    /// The comparisons of a subject at a point; `None`: over the whole run.
    pub fn comparisons_at(
        &self,
        subject: SubjectId,
        point: impl Into<Option<PointId>>,
    ) -> &[Comparison] {
        at(&self.comparisons, |c| &c.key, subject, point.into())
    }

    /// The comparison of a subject with the baseline in a metric.
    pub fn comparison(
        &self,
        subject: SubjectId,
        point: impl Into<Option<PointId>>,
        metric: &Metric,
    ) -> Option<&Comparison> {
        let mut comparisons = self.comparisons_at(subject, point).iter();
        comparisons.find(|c| c.key.metric == *metric)
    }

    /// The control of a metric at a point.
    pub fn control(&self, point: PointId, metric: &Metric) -> Option<&Control> {
        let mut controls = self.controls.iter();
        controls.find(|c| c.point == point && c.metric == *metric)
    }

    /// True if the load generator, not the server, was the limit.
    pub fn is_saturated(&self, subject: SubjectId, point: PointId) -> bool {
        self.saturated.contains(&(subject, point))
    }

    /// True if the server did not keep up with the rate, so that it has no percentiles.
    pub fn is_overloaded(&self, subject: SubjectId, point: PointId) -> bool {
        self.value(subject, point, &Metric::BACKLOG).is_some()
    }
}

impl Key {
    /// The sort key of cells and comparisons: by point, with the whole run last; then subject.
    pub(crate) fn place(&self) -> (PointId, SubjectId) {
        (self.point.unwrap_or(PointId::MAX), self.subject)
    }
}

/// Those of one subject and point, by bisection.
fn at<T>(all: &[T], key: fn(&T) -> &Key, subject: SubjectId, point: Option<PointId>) -> &[T] {
    let place = (point.unwrap_or(PointId::MAX), subject);
    let rest = &all[all.partition_point(|one| key(one).place() < place)..];
    &rest[..rest.partition_point(|one| key(one).place() == place)]
}
