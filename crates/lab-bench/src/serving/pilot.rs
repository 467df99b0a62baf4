// SPDX-License-Identifier: Apache-2.0
//! The pilot of a server: how long it takes until it is steady.

use super::site::{Ground, Site};
use crate::process::Answer;
use lab_model::{Batch, Pilot, Plan, PointId};
use lab_stats::{order, warmup};
use std::time::Duration;

/// The pilot and the warm-up are counted in slices of this length.
pub const SLICE: Duration = Duration::from_millis(50);

/// Slices after which the pilot looks whether the server is steady; then at twice as many, and so on.
const FIRST_LOOK: usize = 20;

/// A virtual machine compiles what it runs for many seconds, in steps that are small beside the noise of a
/// slice: as long as the second half of the slices costs less than this part of the first, it still does.
const STILL_FALLING: f64 = 0.97;

/// Connections with which servers are warmed up, or as near to it as the plan has points.
const CONNECTIONS: usize = 64;

/// Where a case is piloted: over connections that are kept alive if there are such, as fast as it goes.
pub fn point(plan: &Plan, case: usize) -> Option<PointId> {
    let points = 0..plan.points.len();
    let closed = points.filter(|&p| plan.points[p].case == case && !plan.is_open(p));
    closed.min_by_key(|&p| {
        (
            !plan.keeps_alive(p),
            plan.connections(p).abs_diff(CONNECTIONS),
        )
    })
}

/// Puts load on a fresh server until it is steady, or the most slices are spent.
pub fn pilot(ground: &Ground, site: &mut Site, point: PointId, body: &[u8]) -> Answer<Pilot> {
    let mut engine = ground.generator(site, point, body, None)?;
    let most = (ground.plan.measure.max_warmup as usize).max(FIRST_LOOK);
    let mut batches: Vec<Batch> = Vec::new();
    let mut next_look = FIRST_LOOK;
    while batches.len() < most {
        let before = site.read()?;
        let record = site.load(&mut engine, SLICE)?;
        let after = site.read()?;
        batches.push(Batch {
            operations: record.served.max(1),
            wall_ns: record.wall_ns,
            cpu_ns: after.cpu_ns.saturating_sub(before.cpu_ns),
            server_cpu_ns: None,
        });
        if batches.len() >= next_look {
            next_look *= 2;
            let times = times(&batches);
            let steady = warmup::classify(&times).steady_from;
            if steady.is_some_and(|from| from <= times.len() / 2) && !falling(&times) {
                break;
            }
        }
    }
    let times = times(&batches);
    let found = warmup::classify(&times);
    let steady_from = match falling(&times) {
        true => times.len(),
        false => found.steady_from.unwrap_or(times.len()),
    };
    Ok(Pilot {
        subject: 0,
        point,
        operations: batches.last().map_or(1, |last| last.operations),
        warmup_batches: (steady_from as u32).max(1),
        class: found.class,
        cold_ns: 0,
        batches,
    })
}

/// The second half of the times is lower than the first.
fn falling(times: &[f64]) -> bool {
    let (first, second) = times.split_at(times.len() / 2);
    let [first, second] = [first, second].map(|half| order::median(half).unwrap_or(0.0));
    second < STILL_FALLING * first
}

/// CPU time for each request: a server's rate is the machine's too, its cost is its own.
fn times(batches: &[Batch]) -> Vec<f64> {
    let cost = |b: &Batch| b.cpu_ns.max(1) as f64 / b.operations as f64;
    batches.iter().map(cost).collect()
}
