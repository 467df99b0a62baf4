// SPDX-License-Identifier: Apache-2.0
//! Tests whether a server kept up with the rate at which requests were due.

use super::visits::{Visit, total};
use lab_model::{ErrorKind, Plan, PointId};
use std::collections::BTreeMap;

/// The minimum fraction of due requests that a server must complete in time.
///
/// Below this fraction, the backlog at the end is at least 1% of the load's duration, so the
/// percentiles measure how long the load ran rather than how fast the server is.
const MIN_SERVED_FRACTION: f64 = 0.99;

/// The quantile of the service time that requests in progress at the end of the load may take
/// without counting as late.
const DEFAULT_QUANTILE: f64 = 0.99;

/// Returns true if the server did not complete the requests that were due during the load, both
/// over the whole run and in most blocks.
///
/// A stall at the end of a single block does not count as an overload.
pub(crate) fn is_overloaded(plan: &Plan, point: PointId, blocks: &[&Visit]) -> bool {
    if !plan.is_open(point) || total(blocks, |v| v.offered) == 0 {
        return false;
    }
    let high_ns = high_service_ns(blocks);
    let parts = |visits: &[&Visit]| {
        let ended = total(visits, ended) as f64;
        let late_ns: f64 = visits.iter().map(|v| v.drained_ns(high_ns)).sum();
        let wall_ns: f64 = visits.iter().map(|v| v.wall_ns).sum();
        let due = total(visits, |v| v.offered) as f64;
        ended / due * wall_ns / (wall_ns + late_ns)
    };
    let with_requests = blocks.iter().filter(|v| v.offered > 0);
    let behind = with_requests
        .clone()
        .filter(|v| parts(&[v]) < MIN_SERVED_FRACTION)
        .count();
    parts(blocks) < MIN_SERVED_FRACTION && 2 * behind > with_requests.count()
}

/// Returns a high percentile of the service time, in ns.
///
/// The service time does not include the wait for a free connection, which is longer if there is a
/// backlog.
fn high_service_ns(blocks: &[&Visit]) -> f64 {
    let mut counts: BTreeMap<u64, f64> = BTreeMap::new();
    for (ns, count) in blocks.iter().flat_map(|v| v.buckets(|s| &s.service)) {
        *counts.entry(ns).or_default() += count as f64;
    }
    let mut beyond = (1.0 - DEFAULT_QUANTILE) * counts.values().sum::<f64>();
    let mut slowest = counts.into_iter().rev();
    let found = slowest.find(|(_, count)| {
        beyond -= count;
        beyond <= 0.0
    });
    found.map_or(0.0, |(ns, _)| ns as f64)
}

/// Returns the number of requests that ended, served or with an error, before benchlab stopped
/// waiting.
fn ended(visit: &Visit) -> u64 {
    let finished = visit.errors.iter();
    let finished = finished.filter(|(kind, _)| **kind != ErrorKind::Unfinished);
    finished.fold(visit.served, |sum, (_, count)| sum.saturating_add(*count))
}
