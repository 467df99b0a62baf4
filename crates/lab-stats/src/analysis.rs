// SPDX-License-Identifier: Apache-2.0
//! The result of analysing a run: what reports show.

use lab_model::{PointId, SubjectId, WarmUp};
use serde::Serialize;

/// An estimate with its interval. `low <= estimate <= high`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The point estimate.
    pub estimate: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// The confidence that the interval really has, 0 to 1: with few blocks it can be below what
    /// was asked for, down to 0, which is no interval at all. Where several intervals hold
    /// together, the confidence that all of them do.
    pub level: f64,
}

/// What the data supports. Nothing but `Inconclusive` is said unless the interval has the level
/// that was asked for.
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

/// One subject at one point. Its intervals are individual, at the plan's level.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// Who.
    pub subject: SubjectId,
    /// What.
    pub point: PointId,
    /// Complete blocks with this subject and point.
    pub blocks: u32,
    /// Typical wall time of an operation, ns: median over blocks of the interquartile mean.
    pub wall_ns: Interval,
    /// Typical CPU time of an operation, ns, in the same way.
    pub cpu_ns: Interval,
    /// Whole wall time of an operation, ns, pauses and all: over blocks, of total time / operations.
    pub whole_wall_ns: Interval,
    /// Whole CPU time of an operation, ns, helper threads and all.
    pub whole_cpu_ns: Interval,
    /// How the batch times of a fresh process behave.
    pub warm_up: Option<WarmUp>,
    /// The first operation of a fresh process, ns (one reading).
    pub cold_ns: Option<u64>,
}

/// A subject against the baseline at one point. Ratios are time of the subject / time of the baseline.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Who.
    pub subject: SubjectId,
    /// What.
    pub point: PointId,
    /// Blocks that have both (after merging adjacent ones, if they depend on each other).
    pub blocks: u32,
    /// Typical wall time: Hodges-Lehmann estimate and Wilcoxon signed-rank interval, simultaneous
    /// over the subjects at this point.
    pub ratio: Interval,
    /// Holm-adjusted p-value of ratio = 1 over the subjects at this point.
    pub p: f64,
    /// What the ratio supports, with the margin of the point.
    pub verdict: Verdict,
    /// Whole wall time, as [`Comparison::ratio`].
    pub whole_ratio: Interval,
    /// Whole CPU time, as [`Comparison::ratio`].
    pub cpu_ratio: Interval,
    /// Typical and whole time name different winners, or one names a winner and the other finds
    /// the two equivalent. That one of them is inconclusive is no disagreement.
    pub disagree: bool,
    /// Adjacent blocks were merged because they depend, or may depend, on each other.
    pub merged: bool,
}

/// The second copy of the baseline against the baseline, at one point.
#[derive(Clone, Debug, Serialize)]
pub struct Control {
    /// What.
    pub point: PointId,
    /// Its ratio; the truth is 1.
    pub ratio: Interval,
    /// The interval contains 1, or the blocks are too few to say.
    pub met: bool,
    /// The margin used at this point: the plan's, or the control's bound where that is not met.
    pub margin: f64,
}

/// `time = fixed + marginal * x` over a case's sweep, for one subject and one choice of factors.
#[derive(Clone, Debug, Serialize)]
pub struct Fit {
    /// Who.
    pub subject: SubjectId,
    /// Index into the plan's cases.
    pub case: usize,
    /// The factors that were held, such as `statement=text`.
    pub factors: Vec<(String, String)>,
    /// Cost of an operation with x = 0, ns.
    pub fixed_ns: Interval,
    /// Cost of one more of the swept parameter, ns.
    pub marginal_ns: Interval,
    /// The most that a point lies off the line, as a part of its value (0.05: 5 %).
    pub worst_residual: f64,
    /// The points bend away from the line, by more than their noise and by more than the margin:
    /// do not extrapolate.
    pub curved: bool,
}

/// A subject over all points where it is compared: the geometric mean of its ratios.
#[derive(Clone, Debug, Serialize)]
pub struct Overall {
    /// Who.
    pub subject: SubjectId,
    /// Per block the geometric mean of the ratios over the points; over blocks as
    /// [`Comparison::ratio`], simultaneous over the subjects.
    pub ratio: Interval,
    /// How many points went into it.
    pub points: u32,
}

/// What a factor costs within one subject: the same subject and sweep value with `to` instead of
/// `from` (a ratio of times, paired by block).
#[derive(Clone, Debug, Serialize)]
pub struct FactorEffect {
    /// Who.
    pub subject: SubjectId,
    /// The point with the factor's first value.
    pub from: PointId,
    /// The point with another value.
    pub to: PointId,
    /// The factor, such as `statement`.
    pub factor: String,
    /// time(to) / time(from).
    pub ratio: Interval,
}

/// Memory, threads and start-up of a subject; medians over the complete blocks.
#[derive(Clone, Debug, Serialize)]
pub struct Footprint {
    /// Who.
    pub subject: SubjectId,
    /// Resident memory at the end of a block, bytes.
    pub rss_bytes: Interval,
    /// Peak resident memory over a block, bytes.
    pub peak_rss_bytes: Interval,
    /// From the program's start to its hello, ns.
    pub startup_ns: Interval,
    /// Most threads seen.
    pub threads: u32,
    /// Memory of the server's processes after the subject's points: the most in a block, bytes;
    /// `None`: there is none, or it is not known.
    pub server_bytes: Option<Interval>,
    /// User CPU time of one process over a block, ns.
    pub user_ns: f64,
    /// System CPU time of one process over a block, ns.
    pub sys_ns: f64,
}

/// Where the whole time of an operation goes. In each block, wall + overlap = client + server +
/// waiting.
#[derive(Clone, Debug, Serialize)]
pub struct ServerCost {
    /// Who.
    pub subject: SubjectId,
    /// What.
    pub point: PointId,
    /// Whole wall time of an operation, ns.
    pub wall_ns: Interval,
    /// CPU time of the subject's process, all its threads, ns.
    pub client_ns: Interval,
    /// CPU time of the server's processes, ns; `None`: the target is a library.
    pub server_ns: Option<Interval>,
    /// What is left of the wall time, at least 0: the disk, the kernel between the two, the
    /// scheduler.
    pub waiting_ns: Interval,
    /// By how much the CPU times exceed the wall time, at least 0: client and server worked at once,
    /// or helper threads did.
    pub overlap_ns: Interval,
}

/// How long single operations take where several are done at once: over blocks the median of the
/// block's quantile, with its interval at the plan's level. A quantile is the highest latency of its
/// bucket, so it is up to 1/32 too high and never too low; `None` where no block has enough
/// operations for it.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyQuantiles {
    /// Who.
    pub subject: SubjectId,
    /// What.
    pub point: PointId,
    /// Operations of all complete blocks.
    pub operations: u64,
    /// Half of the operations take no longer, ns.
    pub p50_ns: Interval,
    /// 90 % take no longer.
    pub p90_ns: Option<Interval>,
    /// 99 % take no longer.
    pub p99_ns: Option<Interval>,
    /// 99.9 % take no longer.
    pub p999_ns: Option<Interval>,
    /// The longest of a block.
    pub max_ns: Interval,
}

/// What more connections bring, for one subject and one choice of factors.
#[derive(Clone, Debug, Serialize)]
pub struct Scaling {
    /// Who.
    pub subject: SubjectId,
    /// Index into the plan's cases.
    pub case: usize,
    /// The factors that were held.
    pub factors: Vec<(String, String)>,
    /// Points at which it was measured.
    pub points: u32,
    /// The law through them.
    pub law: Option<ScalingLaw>,
    /// Why there is no law, if there is none.
    pub why: Option<String>,
}

/// The Universal Scalability Law: throughput(n) = one · n / (1 + contention · (n − 1) +
/// coherency · n · (n − 1)).
#[derive(Clone, Debug, Serialize)]
pub struct ScalingLaw {
    /// The throughput of one connection, operations per second.
    pub one: Interval,
    /// The part of the work that has to be done one after the other.
    pub contention: Interval,
    /// What keeping in step costs each pair of connections, as a part of the work.
    pub coherency: Interval,
    /// Where throughput is highest; `None`: it is not shown to fall anywhere, for coherency may be 0.
    pub peak: Option<Peak>,
    /// The most that a point lies off the law, as a part of its time.
    pub worst_residual: f64,
    /// The points do not follow the law: they lie off it by more than their noise, and by more than
    /// 5 % and the margin. Do not extrapolate, nor trust the peak.
    pub departs: bool,
}

/// The highest throughput that a law predicts.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Peak {
    /// At so many connections.
    pub connections: Interval,
    /// Operations per second.
    pub throughput: Interval,
}

/// What the processes of a whole command used at one point; over blocks the median, with its
/// interval at the plan's level, of the mean over the block's processes.
#[derive(Clone, Debug, Serialize)]
pub struct ProcessUse {
    /// Who.
    pub subject: SubjectId,
    /// What.
    pub point: PointId,
    /// User CPU time, ns.
    pub user_ns: Interval,
    /// System CPU time, ns.
    pub sys_ns: Interval,
    /// The most memory that one of its processes held, bytes.
    pub peak_rss_bytes: Interval,
    /// Page faults that needed no reading from a disk.
    pub minor_faults: Interval,
    /// Page faults that did.
    pub major_faults: Interval,
    /// Voluntary context switches.
    pub voluntary_switches: Interval,
    /// Involuntary context switches.
    pub involuntary_switches: Interval,
    /// Exit statuses that were seen, ascending.
    pub statuses: Vec<i32>,
}

/// A pair that was not compared, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Refusal {
    /// Who.
    pub subject: SubjectId,
    /// What; `None`: everything.
    pub point: Option<PointId>,
    /// In a sentence, with the differing setting or the failure named.
    pub why: String,
}

/// Something that a reader of the figures must know.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Warning {
    /// One word to tell warnings apart by: `few-blocks`, `noise-floor`, `no-steady-state`,
    /// `disturbed`, `dependent`, `disagree`, `versions`, `host`, `failed`, `interrupted`; of whole
    /// commands also `short`; of load also `errors`, `saturated`, `late`, `not-delivered`,
    /// `shared-cores`, `stages`, `closed-loop`.
    pub kind: String,
    /// What is so and what to do, in a sentence or two.
    pub text: String,
}

/// Everything that a run's samples say.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Analysis {
    /// Complete blocks.
    pub blocks: u32,
    /// Blocks that were redone because the host disturbed them.
    pub disturbed_blocks: u32,
    /// The level that simultaneous intervals were asked to have at this look, 0 to 1.
    pub level: f64,
    /// The margin of the plan.
    pub margin: f64,
    /// Every subject at every point that did not fail, by point, then subject.
    pub cells: Vec<Cell>,
    /// Every subject but baseline and control against the baseline.
    pub comparisons: Vec<Comparison>,
    /// The control, where there is one.
    pub controls: Vec<Control>,
    /// Over sweeps.
    pub fits: Vec<Fit>,
    /// Over all points.
    pub overall: Vec<Overall>,
    /// Within subjects.
    pub factors: Vec<FactorEffect>,
    /// Where the time goes, by point, then subject.
    pub server_costs: Vec<ServerCost>,
    /// How long single operations take where several are done at once, by point, then subject.
    pub latencies: Vec<LatencyQuantiles>,
    /// What more connections bring.
    pub scalings: Vec<Scaling>,
    /// Memory, threads, start-up.
    pub footprints: Vec<Footprint>,
    /// What whole commands used, by point, then subject.
    pub uses: Vec<ProcessUse>,
    /// What was not compared.
    pub refusals: Vec<Refusal>,
    /// What to know.
    pub warnings: Vec<Warning>,
}
