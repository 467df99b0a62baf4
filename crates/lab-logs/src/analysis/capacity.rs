// SPDX-License-Identifier: Apache-2.0
//! The headroom of a server: the log's peak compared with the load that the server sustained in a
//! load run.

use super::gate::missing_times;
use crate::finding::CapacityProblem;
use lab_model::{Interval, LogAnalysis, Metric, PointId};
use lab_stats::results::{Results, Value};

/// The headroom of a server: the capacity from a load run, compared with the peak rates of a log.
#[derive(Clone, Debug)]
pub struct Headroom {
    /// The highest rate of the load run, in requests per second, at which the 99th percentile
    /// stayed within the limit of [`headroom`].
    pub capacity: Interval,
    /// The point of the load run at which `capacity` was measured.
    pub point: PointId,
    /// The 99th percentile of the response times at `point`, in ns.
    pub p99_ns: f64,
    /// True if the 99th percentile exceeded the limit at a point with at least half of `capacity`.
    /// Otherwise, `capacity` is only a lower bound.
    pub is_known: bool,
    /// The rate of the log's busiest minute, in requests per second.
    pub busiest_minute: f64,
    /// The number of requests in the log's busiest second, if it is known.
    pub busiest_second: Option<f64>,
    /// The rate of the busiest minute as a fraction of the capacity.
    pub used: Interval,
    /// The number of users that the server can handle, as a multiple of the current number.
    pub times: Interval,
}

/// Compares the peak of a log with the capacity of a load run.
///
/// Returns an error with the reason if the headroom is unknown.
pub fn headroom(
    analysis: &LogAnalysis,
    load: &Results,
    limit_ns: f64,
) -> Result<Headroom, CapacityProblem> {
    let minute = analysis.peak_minute.ok_or(CapacityProblem::NoPeak)?.1 as f64 / 60.0;
    if missing_times(analysis).is_some() {
        return Err(CapacityProblem::MissingTimes);
    }
    let value = |point: PointId, metric: &Metric| {
        let is_requested_cell =
            |c: &&lab_stats::results::Cell| c.key.point == Some(point) && c.key.metric == *metric;
        load.cells.iter().find(is_requested_cell).map(|c| c.value)
    };
    let mut points: Vec<PointId> = load.cells.iter().filter_map(|c| c.key.point).collect();
    points.sort_unstable();
    points.dedup();
    let measured = points.iter().filter_map(|&point| {
        let rate = interval(value(point, &Metric::THROUGHPUT)?);
        let p99 = interval(value(point, &Metric::P99)?);
        Some((point, rate, p99))
    });
    let measured: Vec<(PointId, Interval, Interval)> = measured.collect();
    if measured.is_empty() {
        return Err(CapacityProblem::NoResponseTimes);
    }
    let within_limit = measured.iter().filter(|(_, _, p99)| p99.high <= limit_ns);
    let best = within_limit.max_by(|a, b| a.1.estimate.total_cmp(&b.1.estimate));
    let (point, capacity, p99) = best.ok_or(CapacityProblem::AlwaysExceeded)?;
    let is_passed = measured
        .iter()
        .any(|(_, rate, p99)| p99.estimate > limit_ns && rate.estimate >= capacity.estimate * 0.5);
    let compare = |f: fn(f64, f64) -> f64, low: f64, high: f64| Interval {
        estimate: f(minute, capacity.estimate),
        low: f(minute, low),
        high: f(minute, high),
        level: capacity.level,
    };
    Ok(Headroom {
        capacity: *capacity,
        point: *point,
        p99_ns: p99.estimate,
        is_known: is_passed,
        busiest_minute: minute,
        busiest_second: analysis.peak.map(|(_, n)| n as f64),
        used: compare(
            |peak, capacity| peak / capacity,
            capacity.high,
            capacity.low,
        ),
        times: compare(
            |peak, capacity| capacity / peak,
            capacity.low,
            capacity.high,
        ),
    })
}

fn interval(value: Value) -> Interval {
    match value {
        Value::Estimate(interval) => interval,
        Value::Reading(value) => Interval {
            estimate: value,
            low: value,
            high: value,
            level: 0.0,
        },
    }
}
