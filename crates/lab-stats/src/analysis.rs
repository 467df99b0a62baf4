// SPDX-License-Identifier: Apache-2.0
//! The parts of results: estimates, verdicts and fits.

use lab_model::{Interval, Metric, PointId, SubjectId};
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
        /// Blocks that would probably decide it, if that can be said.
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
    /// A sentence that names the differing setting or the failure.
    pub why: String,
    /// Its kind.
    #[serde(skip)]
    pub kind: RefusalKind,
}

/// The reason for a pair that was not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// The subject failed, or did other work than the baseline.
    Subject,
    /// The baseline failed, so the exclusion does not count against the subject.
    WithoutBaseline,
    /// The runs of the two did not all end with one exit status.
    ExitStatus,
    /// It was not at its steady level: the sentence is a verb phrase.
    NotSteady,
}
