// SPDX-License-Identifier: Apache-2.0
//! The result of analysing a load run: what reports show.

use crate::analysis::{Interval, Refusal, Scaling, Verdict, Warning};
use lab_model::{ErrorKind, PointId, SubjectId};
use serde::Serialize;

/// Everything that a load run's slices say.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LoadAnalysis {
    /// Complete blocks.
    pub blocks: u32,
    /// The level that simultaneous intervals were asked to have, 0 to 1.
    pub level: f64,
    /// The margin of the plan.
    pub margin: f64,
    /// Every server at every point, by point, then subject.
    pub cells: Vec<LoadCell>,
    /// Every server but the baseline against it, by point, then subject, then metric.
    pub comparisons: Vec<LoadComparison>,
    /// The second copy of the baseline against it, where there is one, by point, then metric.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub controls: Vec<LoadControl>,
    /// What more connections bring, where there is a sweep over them.
    pub scalings: Vec<Scaling>,
    /// Of servers that the lab starts: over the points of a case, and over all cases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overall: Vec<LoadOverall>,
    /// Of servers that the lab starts: what a connection for each request costs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reconnects: Vec<Reconnect>,
    /// Of servers that the lab starts: memory, threads, start-up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub footprints: Vec<ServerFootprint>,
    /// What was not compared.
    pub refusals: Vec<Refusal>,
    /// What to know.
    pub warnings: Vec<Warning>,
}

/// One server at one point. Intervals are individual, at the plan's level. Rates and costs are medians
/// over blocks, with their exact order-statistic intervals; quantiles are those of all requests of the
/// complete blocks together, with bootstrap intervals over whole blocks. Neighbouring blocks that depend
/// on each other count as one.
#[derive(Clone, Debug, Serialize)]
pub struct LoadCell {
    /// Who.
    pub subject: SubjectId,
    /// What.
    pub point: PointId,
    /// Complete blocks with this subject and point.
    pub blocks: u32,
    /// Requests that were due; in a closed loop, that were sent.
    pub offered: u64,
    /// Requests answered as they should be.
    pub served: u64,
    /// Requests that were not, by kind.
    pub errors: Vec<(ErrorKind, u64)>,
    /// Requests due per second.
    pub offered_per_s: Interval,
    /// Requests served per second, until the last of them was: what a visit leaves behind at its end is
    /// part of it.
    pub served_per_s: Interval,
    /// Bytes received per second.
    pub received_bytes_per_s: Interval,
    /// Connections opened.
    pub connects: u64,
    /// The longest time from the end of a visit to its last answer, ns: a reading.
    pub drain_ns: u64,
    /// From due (in a closed loop: from sent) to answered, of those served.
    pub response: Quantiles,
    /// From sent to answered, of those served.
    pub service: Quantiles,
    /// How late the generator was, in an open loop.
    pub lag: Quantiles,
    /// CPU time of the generator for each request served, ns; `None`: none was.
    pub generator_cpu_ns: Option<Interval>,
    /// The part of the time in which the generator's busiest thread had a core, 0 to 1.
    pub generator_busy: Interval,
    /// CPU time of the server for each request served, ns.
    pub server_cpu_ns: Option<Interval>,
    /// Cores that the server used.
    pub server_cores: Option<Interval>,
    /// Resident memory of the server, bytes.
    pub server_bytes: Option<Interval>,
    /// Most threads of the server that were seen.
    pub server_threads: Option<u32>,
    /// The generator, not the server, was what limited this point: [`LoadCell::generator_busy`] is
    /// above 0.9, or in an open loop [`LoadCell::lag`] exceeds 1 ms for one request in a hundred.
    pub saturated: bool,
}

/// Quantiles of a distribution of times, ns; the highest value of their bucket, so up to 0.1 % too high
/// and never too low. `None` where there are too few requests for one.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Quantiles {
    /// How many values.
    pub count: u64,
    /// Half of them are no greater.
    pub p50_ns: Option<Interval>,
    /// Three quarters.
    pub p75_ns: Option<Interval>,
    /// 90 %.
    pub p90_ns: Option<Interval>,
    /// 99 %.
    pub p99_ns: Option<Interval>,
    /// 99.9 %.
    pub p999_ns: Option<Interval>,
    /// 99.99 %.
    pub p9999_ns: Option<Interval>,
    /// The greatest: a reading, which has no interval.
    pub max_ns: Option<u64>,
}

/// A server against the baseline at one point, in one respect.
#[derive(Clone, Debug, Serialize)]
pub struct LoadComparison {
    /// Who.
    pub subject: SubjectId,
    /// What.
    pub point: PointId,
    /// In which respect.
    pub metric: Metric,
    /// Blocks that have both.
    pub blocks: u32,
    /// The subject's / the baseline's: Hodges-Lehmann estimate of the blocks' ratios and Wilcoxon
    /// signed-rank interval, simultaneous over the subjects and metrics at this point. It is a ratio of
    /// times or costs, so that less is better: of the throughput, of the time per request.
    pub ratio: Interval,
    /// Holm-adjusted p-value of ratio = 1.
    pub p: f64,
    /// What the ratio supports.
    pub verdict: Verdict,
}

/// The second copy of the baseline against the baseline, at one point in one respect.
#[derive(Clone, Debug, Serialize)]
pub struct LoadControl {
    /// What.
    pub point: PointId,
    /// In which respect.
    pub metric: Metric,
    /// Its ratio, individually at the plan's level; the truth is 1.
    pub ratio: Interval,
    /// The interval contains 1, or the blocks are too few to say.
    pub met: bool,
    /// The margin used there: the plan's, or the control's bound where that is not met.
    pub margin: f64,
}

/// A server's CPU time per request against the baseline's over all points of a case at which it is asked
/// as fast as it answers; or over those of all cases.
#[derive(Clone, Debug, Serialize)]
pub struct LoadOverall {
    /// Who; the second copy of the baseline is among them, and its interval is its own.
    pub subject: SubjectId,
    /// Index into the plan's cases; `None`: over all of them.
    pub case: Option<usize>,
    /// Connections serve one request after the other; else each request has one of its own.
    pub keep_alive: bool,
    /// How many points went into it.
    pub points: u32,
    /// Per block the geometric mean of the ratios over the points; over blocks as
    /// [`LoadComparison::ratio`], simultaneous over the servers.
    pub ratio: Interval,
    /// Holm-adjusted p-value of ratio = 1 over the servers.
    pub p: f64,
    /// What the ratio supports.
    pub verdict: Verdict,
    /// The margin used: the plan's, or the control's bound where its noise floor was not met.
    pub margin: f64,
}

/// What it costs one server that each request has a connection of its own: the same with one that serves
/// one request after the other is 1.
#[derive(Clone, Debug, Serialize)]
pub struct Reconnect {
    /// Who.
    pub subject: SubjectId,
    /// Index into the plan's cases; `None`: over all of them.
    pub case: Option<usize>,
    /// In which respect: the time or the server's CPU time per request.
    pub metric: Metric,
    /// How many pairs of points went into it.
    pub points: u32,
    /// Per block the geometric mean over the pairs of points; over blocks as [`LoadComparison::ratio`],
    /// individually at the plan's level.
    pub ratio: Interval,
}

/// What a server holds, and how long it takes to start.
#[derive(Clone, Debug, Serialize)]
pub struct ServerFootprint {
    /// Who; the second copy of the baseline is among them.
    pub subject: SubjectId,
    /// The most connections of any point: where its memory was read.
    pub connections: u32,
    /// Resident memory after the load there: the most in a block, over blocks the median, bytes.
    pub bytes: Option<Interval>,
    /// The same as a multiple of the baseline's: as [`LoadOverall::ratio`].
    pub ratio: Option<Interval>,
    /// What the ratio supports.
    pub verdict: Option<Verdict>,
    /// The margin used: the plan's, or the control's bound where its noise floor was not met.
    pub margin: f64,
    /// Most threads seen.
    pub threads: Option<u32>,
    /// From the program's start to its hello, ns.
    pub startup_ns: Option<Interval>,
}

/// A respect in which servers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Wall time for each request served: 1 / throughput.
    Throughput,
    /// The response time's median.
    P50,
    /// Its 90th percentile.
    P90,
    /// Its 99th percentile.
    P99,
    /// Its 99.9th percentile.
    P999,
    /// CPU time of the server for each request served.
    ServerCpu,
    /// Resident memory of the server. Between runs alone: it is no other from turn to turn.
    ServerMemory,
}

impl Metric {
    /// Those in which servers are compared that take turns, in the order in which they are shown.
    pub const IN_TURNS: [Metric; 6] = [
        Metric::Throughput,
        Metric::P50,
        Metric::P90,
        Metric::P99,
        Metric::P999,
        Metric::ServerCpu,
    ];

    /// Those in which two runs are compared.
    pub const BETWEEN_RUNS: [Metric; 7] = [
        Metric::Throughput,
        Metric::P50,
        Metric::P90,
        Metric::P99,
        Metric::P999,
        Metric::ServerCpu,
        Metric::ServerMemory,
    ];

    /// In few words.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Throughput => "throughput",
            Metric::P50 => "p50",
            Metric::P90 => "p90",
            Metric::P99 => "p99",
            Metric::P999 => "p99.9",
            Metric::ServerCpu => "server CPU per request",
            Metric::ServerMemory => "server memory",
        }
    }

    /// Of a percentile, how many in 10,000 requests do not exceed it.
    pub fn per_10_000(self) -> Option<u32> {
        match self {
            Metric::P50 => Some(5000),
            Metric::P90 => Some(9000),
            Metric::P99 => Some(9900),
            Metric::P999 => Some(9990),
            Metric::Throughput | Metric::ServerCpu | Metric::ServerMemory => None,
        }
    }
}
