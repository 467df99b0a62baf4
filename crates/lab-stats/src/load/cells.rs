// SPDX-License-Identifier: Apache-2.0
//! What each server did at each point, and what that cost.

use super::analysis::LoadCell;
use super::quantiles::quantiles;
use super::visits::{Visit, Visits};
use crate::analysis::Interval;
use crate::dependence::{self, Merged};
use crate::{family, order};
use lab_model::{ErrorKind, Plan, PointId, SubjectId};
use std::collections::BTreeMap;

/// The generator is the limit where its busiest thread has a core for more than this part of the time.
pub const BUSY: f64 = 0.9;

/// It is, too, where it comes later than this to one request in a hundred, ns.
pub const LATE_NS: f64 = 1e6;

/// A cell, and how its blocks depend on each other.
pub struct Measured {
    /// What reports show.
    pub cell: LoadCell,
    /// They do, by more than chance explains.
    pub dependent: bool,
    /// They do, and are too few to be merged.
    pub unresolved: bool,
}

/// Every server at every point where load was put on it, by point, then subject.
pub fn cells(plan: &Plan, visits: &Visits) -> Vec<Measured> {
    let points = 0..plan.points.len();
    points
        .flat_map(|point| (0..plan.subjects.len()).map(move |subject| (subject, point)))
        .filter_map(|(subject, point)| {
            let blocks: Vec<&Visit> = visits.of(subject, point).flatten().collect();
            cell(plan, &blocks, subject, point)
        })
        .collect()
}

fn cell(plan: &Plan, blocks: &[&Visit], subject: SubjectId, point: PointId) -> Option<Measured> {
    let sum = |part: fn(&Visit) -> u64| {
        let parts = blocks.iter().map(|block| part(block));
        parts.fold(0, u64::saturating_add)
    };
    let over_blocks = |value: fn(&Visit) -> Option<f64>| level(plan, blocks, value);
    let rate = |value: fn(&Visit) -> Option<f64>| over_blocks(value).map(|(_, interval)| interval);
    let (pace, served_per_s) = over_blocks(|v| Some(v.per_second(v.served)))?;
    let times = |of| quantiles(plan.seed, plan.measure.alpha, blocks, of);
    let (response, depending) = times(|s| &s.response);
    // In a closed loop a request is due when it is sent.
    let same = blocks.iter().all(|block| block.waits_for_nothing());
    let service = match same {
        true => response.clone(),
        false => times(|s| &s.service).0,
    };
    let (lag, _) = times(|s| &s.lag);
    let generator_busy = rate(|v| Some(v.busiest_cpu_ns as f64 / v.served_in_ns))?;
    let saturated = generator_busy.estimate > BUSY
        || plan.is_open(point) && lag.p99_ns.is_some_and(|p| p.estimate > LATE_NS);
    let cell = LoadCell {
        subject,
        point,
        blocks: blocks.len() as u32,
        offered: sum(|v| v.offered),
        served: sum(|v| v.served),
        errors: errors(blocks),
        offered_per_s: rate(|v| Some(v.offered_per_second()))?,
        served_per_s,
        received_bytes_per_s: rate(|v| Some(v.per_second(v.received_bytes)))?,
        connects: sum(|v| v.connects),
        drain_ns: blocks.iter().map(|v| v.drain_ns).max().unwrap_or(0),
        response,
        service,
        lag,
        generator_cpu_ns: rate(|v| v.per_request(v.cpu_ns as f64)),
        generator_busy,
        server_cpu_ns: rate(|v| v.server_ns_per_request()),
        server_cores: rate(|v| Some(v.server_cpu_ns? as f64 / v.served_in_ns)),
        server_bytes: rate(|v| Some(v.server_bytes? as f64)),
        server_threads: blocks.iter().filter_map(|v| v.server_threads).max(),
        saturated,
    };
    let merged = || [Some(&pace), depending.as_ref()].into_iter().flatten();
    Some(Measured {
        cell,
        dependent: merged().any(|m| m.dependent),
        unresolved: merged().any(|m| m.unresolved),
    })
}

/// The median of a value over those blocks that have it, after merging neighbours that depend on each
/// other.
fn level(
    plan: &Plan,
    blocks: &[&Visit],
    value: impl Fn(&Visit) -> Option<f64>,
) -> Option<(Merged, Interval)> {
    let values: Vec<f64> = blocks.iter().filter_map(|block| value(block)).collect();
    let enough = family::blocks_needed(plan.measure.alpha, 1).unwrap_or(u32::MAX);
    let merged = dependence::merge(&values, enough);
    let interval = order::median_interval(&merged.values, plan.measure.alpha)?;
    Some((merged, interval))
}

fn errors(blocks: &[&Visit]) -> Vec<(ErrorKind, u64)> {
    let mut all = BTreeMap::new();
    for (kind, count) in blocks.iter().flat_map(|block| &block.errors) {
        let sum = all.entry(*kind).or_insert(0_u64);
        *sum = sum.saturating_add(*count);
    }
    all.into_iter().filter(|(_, count)| *count > 0).collect()
}
