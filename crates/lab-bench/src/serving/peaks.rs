// SPDX-License-Identifier: Apache-2.0
//! What each server served at the most, as the first block of a run found it: the rates of the run are
//! parts of it.

use lab_model::{Plan, PointId, Run, Slice, SubjectId};
use std::collections::HashMap;

type Asked = (SubjectId, usize, usize, bool);

/// Requests per second.
#[derive(Debug, Default)]
pub struct Peaks {
    /// By subject, case, number of connections, and whether they are kept alive.
    highest: HashMap<Asked, f64>,
}

impl Peaks {
    /// Those of a run, from its first block, if that is complete.
    pub fn of(plan: &Plan, run: &Run) -> Peaks {
        let first = run.complete_blocks().next();
        first.map_or_else(Peaks::default, |block| Peaks::seen(plan, &block.slices))
    }

    /// None is known yet.
    pub fn is_empty(&self) -> bool {
        self.highest.is_empty()
    }

    /// Of a server that is asked for what it is at a point.
    pub fn at(&self, plan: &Plan, subject: SubjectId, point: PointId) -> Option<f64> {
        self.highest.get(&key(plan, subject, point)).copied()
    }

    /// Takes what a first block found; later ones change nothing, so that the rates stay what they are.
    pub fn get_or_keep(&mut self, found: Peaks) {
        if self.is_empty() {
            *self = found;
        }
    }

    /// Those that all slices of a block show; the slices of a point together make one rate.
    pub fn seen(plan: &Plan, slices: &[Slice]) -> Peaks {
        let mut peaks = Peaks::default();
        let mut sums: HashMap<(SubjectId, PointId), (u64, u64)> = HashMap::new();
        let closed = |slice: &&Slice| !plan.is_open(slice.point);
        for slice in slices.iter().filter(closed) {
            let (served, in_ns) = sums.entry((slice.subject, slice.point)).or_default();
            *served += slice.served;
            *in_ns += slice.served_in_ns();
        }
        for ((subject, point), (served, in_ns)) in sums {
            let rate = served as f64 * 1e9 / in_ns.max(1) as f64;
            let highest = peaks
                .highest
                .entry(key(plan, subject, point))
                .or_insert(0.0);
            *highest = highest.max(rate);
        }
        peaks.highest.retain(|_, rate| *rate > 0.0);
        peaks
    }
}

fn key(plan: &Plan, subject: SubjectId, point: PointId) -> Asked {
    (
        subject,
        plan.points[point].case,
        plan.connections(point),
        plan.keeps_alive(point),
    )
}
