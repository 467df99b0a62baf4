// SPDX-License-Identifier: Apache-2.0
//! The peak throughput of each server, as measured in the first blocks of a run.
//!
//! Open loops offer fractions of the peak.

use super::BUSY_FRACTION;
use crate::order::median;
use lab_model::{Plan, PointId, Run, Slice, SubjectId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The number of fresh processes that determine a peak.
///
/// The median of three processes is not affected by a single slow process.
const CALIBRATING_BLOCKS: u32 = 3;

/// The peak throughput of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Peak {
    /// The peak in requests per second.
    Rate(f64),
    /// The peak is unknown, because the generator was the bottleneck.
    Generator,
    /// The peak is unknown, because the server served no requests.
    Nothing,
}

/// The peaks of a run's servers, from the run's first blocks.
///
/// Later blocks do not change the peaks, so that the offered rates stay the same.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Peaks {
    blocks: Vec<Vec<ClosedLoop>>,
}

/// The result of a closed loop in one block.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ClosedLoop {
    subject: SubjectId,
    point: PointId,
    /// The throughput in requests per second.
    rate: f64,
    /// The fraction of time that the generator's busiest thread spent on a core.
    busy: f64,
}

/// Returns the number of blocks that determine the peaks.
///
/// The peaks are known once the closed loops of the last of these blocks are done.
pub fn calibrating_blocks(plan: &Plan) -> u32 {
    let measure = &plan.measure;
    let replicates = measure.max_process_sets.unwrap_or(measure.max_blocks);
    (replicates / CALIBRATING_BLOCKS).clamp(1, CALIBRATING_BLOCKS)
}

impl Peaks {
    /// Computes the peaks of a run from its blocks so far.
    pub fn from_blocks(plan: &Plan, run: &Run) -> Peaks {
        let mut peaks = Peaks::default();
        for (number, block) in (0..).zip(run.complete_blocks()) {
            peaks.learn(plan, number, &block.slices);
        }
        peaks
    }

    /// Adds the results of the closed loops of block `number` if this is the next block that
    /// determines the peaks.
    pub fn learn(&mut self, plan: &Plan, number: u32, slices: &[Slice]) {
        let count = self.blocks.len() as u32;
        if number == count && count < calibrating_blocks(plan) {
            self.blocks.push(closed_loops(plan, slices));
        }
    }

    /// Removes the results of a block that will be measured again, and of the blocks after it.
    pub fn forget(&mut self, number: u32) {
        self.blocks.truncate(number as usize);
    }

    /// Returns the peak of a server for the number of connections of an open-loop point, or `None`
    /// if the peak is not known yet.
    pub fn peak(&self, plan: &Plan, subject: SubjectId, point: PointId) -> Option<Peak> {
        if (self.blocks.len() as u32) < calibrating_blocks(plan) {
            return None;
        }
        let closed = plan.peak_points(point).next()?;
        let closed_loops = self.blocks.iter().flatten();
        let closed_loops =
            closed_loops.filter(|measured| (measured.subject, measured.point) == (subject, closed));
        let (rates, busy): (Vec<f64>, Vec<f64>) = closed_loops.map(|f| (f.rate, f.busy)).unzip();
        let busy = median(&busy).is_some_and(|busy| busy > BUSY_FRACTION);
        Some(match median(&rates).filter(|rate| *rate > 0.0) {
            Some(_) if busy => Peak::Generator,
            Some(rate) => Peak::Rate(rate),
            None => Peak::Nothing,
        })
    }
}

fn closed_loops(plan: &Plan, slices: &[Slice]) -> Vec<ClosedLoop> {
    let mut sums: BTreeMap<(SubjectId, PointId), [u64; 4]> = BTreeMap::new();
    let has_point = |slice: &&Slice| plan.points.has_id(slice.point) && !plan.is_open(slice.point);
    for slice in slices.iter().filter(has_point) {
        let all = sums.entry((slice.subject, slice.point)).or_default();
        let more = [
            slice.served,
            slice.served_in_ns(),
            slice.busiest_cpu_ns,
            slice.elapsed_ns(),
        ];
        for (sum, more) in all.iter_mut().zip(more) {
            *sum = sum.saturating_add(more);
        }
    }
    let part = |a: u64, b: u64| a as f64 / b.max(1) as f64;
    let sums = sums.into_iter();
    sums.map(
        |((subject, point), [served, in_ns, busy_ns, elapsed_ns])| ClosedLoop {
            subject,
            point,
            rate: 1e9 * part(served, in_ns),
            busy: part(busy_ns, elapsed_ns),
        },
    )
    .collect()
}
