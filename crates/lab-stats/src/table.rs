// SPDX-License-Identifier: Apache-2.0
//! The samples of a run, reduced to one set of values for each subject, point and block.
//!
//! All other results are computed from this table, so the samples are read only once.

use crate::order;
use lab_model::{Batch, Block, Plan, PointId, Run, Sample, SubjectId};

/// The values of the complete blocks of a run.
///
/// If revisions have multiple builds, all blocks of a build count as one block. Results are about
/// builds, and blocks of the same build are not independent replicates.
///
/// Source: Kalibera & Jones, *Rigorous benchmarking in reasonable time*, ISMM 2013: repeat the
/// highest level at which a run varies, and compute intervals from the means at that level.
pub struct BatchTable {
    subjects: usize,
    points: usize,
    /// The visits by block, then point, then subject.
    visits: Vec<Option<BatchFigures>>,
}

/// The values of one subject at one point in one block.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchFigures {
    /// The interquartile mean of the wall time of an operation, in ns.
    pub wall_ns: f64,
    /// The interquartile mean of the CPU time of an operation, in ns.
    pub cpu_ns: f64,
    /// The wall time of all batches, at least 1 ns, divided by the number of operations, in ns.
    pub mean_wall_ns: f64,
    /// The CPU time of all batches, at least 1 ns, divided by the number of operations, in ns.
    pub mean_cpu_ns: f64,
    /// The server's CPU time of all batches divided by the number of operations, in ns, if all
    /// batches report it.
    pub mean_server_ns: Option<f64>,
    /// For each complete mirrored pair of passes, its index and the mean of the logarithms of the
    /// wall time per operation in the two passes. Sorted by index.
    pairs: Vec<(u32, f64)>,
}

/// Returns the plan of a run, or `None` if the plan contains invalid indexes. A file that was
/// tampered with may contain any index.
pub fn sound_plan(run: &Run) -> Option<&Plan> {
    run.plan().filter(|plan| {
        let has_subject = |id| plan.subjects.has_id(id);
        has_subject(plan.baseline)
            && plan
                .points
                .iter()
                .all(|point| plan.cases.has_id(point.case))
            && plan
                .subjects
                .iter()
                .all(|s| s.control_of.is_none_or(has_subject))
    })
}

impl BatchTable {
    /// Collects the complete blocks of `run`, whose plan is `plan`.
    ///
    /// Samples of subjects or points that are not in the plan are ignored.
    pub fn new(run: &Run, plan: &Plan) -> BatchTable {
        let (subjects, points) = (plan.subjects.len(), plan.points.len());
        let mut table = BatchTable {
            subjects,
            points,
            visits: Vec::new(),
        };
        let mut batches: Vec<Vec<(u32, Batch)>> = vec![Vec::new(); subjects * points];
        for blocks in groups(run) {
            let mut passes = 0;
            for block in blocks {
                table.sort_into(&mut batches, block, passes);
                let last = block.samples.iter().map(|sample| sample.pass).max();
                // An even number keeps pairs of passes together. A file may contain any number.
                passes = last.map_or(passes, |last| {
                    (last | 1).saturating_add(1).saturating_add(passes)
                });
            }
            table
                .visits
                .extend(batches.iter_mut().map(BatchFigures::new));
        }
        table
    }

    /// Returns the values of `subject` at `point` for each block, in chronological order.
    pub fn visits(
        &self,
        subject: SubjectId,
        point: PointId,
    ) -> impl Iterator<Item = Option<&BatchFigures>> {
        let blocks = self.visits.chunks(self.subjects * self.points);
        blocks.map(move |block| block[self.position(subject, point)].as_ref())
    }

    /// Returns the position of a subject at a point in the visits of a block.
    fn position(&self, subject: SubjectId, point: PointId) -> usize {
        point.index() * self.subjects + subject.index()
    }

    /// Returns the logarithm of the ratio of typical times, `subject` / `baseline`, at `point` for
    /// each block.
    ///
    /// The blocks are in chronological order. The value is `None` for a block that lacks the
    /// subject or the baseline. It is the interquartile mean of the log ratios of the mirrored
    /// pairs of passes. Neighbors in time are compared with each other, so drift cancels out.
    pub fn log_ratios(
        &self,
        subject: SubjectId,
        baseline: SubjectId,
        point: PointId,
    ) -> Vec<Option<f64>> {
        let pairs = self
            .visits(subject, point)
            .zip(self.visits(baseline, point));
        pairs
            .map(|(a, b)| order::interquartile_mean(&a?.pair_log_ratios(b?)))
            .collect()
    }

    /// Returns the decrease of the log ratio from the first to the second half of each block's
    /// mirrored pairs.
    ///
    /// The blocks are in chronological order. The value is `None` for a block without pairs in both
    /// halves.
    pub fn falls(
        &self,
        subject: SubjectId,
        baseline: SubjectId,
        point: PointId,
    ) -> Vec<Option<f64>> {
        let pairs = self
            .visits(subject, point)
            .zip(self.visits(baseline, point));
        pairs
            .map(|(a, b)| {
                let logs = a?.pair_log_ratios(b?);
                let (first, second) = logs.split_at(logs.len() / 2);
                Some(order::median(first)? - order::median(second)?)
            })
            .collect()
    }

    /// Returns the times of two subjects at `point`, in the blocks that contain both subjects.
    pub fn paired_times(
        &self,
        subject: SubjectId,
        baseline: SubjectId,
        point: PointId,
        time: fn(&BatchFigures) -> f64,
    ) -> [Vec<f64>; 2] {
        let pairs = self
            .visits(subject, point)
            .zip(self.visits(baseline, point));
        let (times, baseline_times) = pairs
            .filter_map(|(a, b)| Some((time(a?), time(b?))))
            .unzip();
        [times, baseline_times]
    }

    /// Returns the standard error of the mean of [`BatchTable::log_ratios`], estimated only from
    /// the variation between pairs of passes within blocks.
    ///
    /// This is a lower bound of the true error, which also includes the variation between blocks.
    /// Returns 0 if there are no pairs.
    pub fn error_of_turns(&self, subject: SubjectId, baseline: SubjectId, point: PointId) -> f64 {
        let pairs = self
            .visits(subject, point)
            .zip(self.visits(baseline, point));
        let squares = pairs.filter_map(|(a, b)| order::error_squared(&a?.pair_log_ratios(b?)));
        let squares: Vec<f64> = squares.collect();
        let n = squares.len().max(1) as f64;
        squares.iter().sum::<f64>().sqrt() / n
    }

    /// Sorts the samples of `block` into `batches`.
    ///
    /// `before` is the number of passes in earlier blocks that count as one block with `block`.
    fn sort_into(&self, batches: &mut [Vec<(u32, Batch)>], block: &Block, before: u32) {
        for &Sample {
            point,
            subject,
            pass,
            batch,
            ..
        } in &block.samples
        {
            if point.index() < self.points && subject.index() < self.subjects {
                batches[self.position(subject, point)].push((before.saturating_add(pass), batch));
            }
        }
    }
}

/// Groups the blocks that count as one block. The groups are in the order of their first blocks.
fn groups(run: &Run) -> Vec<Vec<&Block>> {
    let mut groups = vec![Vec::new(); run.replicate_count()];
    for (block, group) in run.complete_blocks().zip(run.replicates()) {
        groups[group].push(block);
    }
    groups
}

impl BatchFigures {
    /// Computes the values of a visit from its batches, each with the number of its pass, and
    /// empties `batches`.
    fn new(batches: &mut Vec<(u32, Batch)>) -> Option<BatchFigures> {
        batches.sort_by_key(|(pass, _)| *pass);
        batches.dedup_by_key(|(pass, _)| *pass);
        let per_operation = |ns: fn(&Batch) -> u64| -> Vec<f64> {
            batches
                .iter()
                .map(|(_, batch)| ns(batch) as f64 / operations(batch))
                .collect()
        };
        let total_operations: f64 = batches.iter().map(|(_, batch)| operations(batch)).sum();
        let mean_ns = |ns: fn(&Batch) -> u64| {
            batches
                .iter()
                .map(|(_, batch)| ns(batch) as f64)
                .sum::<f64>()
                .max(1.0)
                / total_operations
        };
        let server: Option<f64> = batches
            .iter()
            .map(|(_, batch)| batch.server_cpu_ns.map(|ns| ns as f64))
            .sum();
        let visit = Some(BatchFigures {
            wall_ns: order::interquartile_mean(&per_operation(|b| b.wall_ns))?,
            cpu_ns: order::interquartile_mean(&per_operation(|b| b.cpu_ns))?,
            mean_wall_ns: mean_ns(|b| b.wall_ns),
            mean_cpu_ns: mean_ns(|b| b.cpu_ns),
            mean_server_ns: server.map(|ns| ns / total_operations),
            pairs: batches
                .windows(2)
                .filter_map(|two| mirrored(two[0], two[1]))
                .collect(),
        });
        batches.clear();
        visit
    }

    /// Returns the time of an operation minus the CPU times of the client and the server, in ns.
    ///
    /// The result is negative if the client and the server worked concurrently.
    pub fn idle_ns(&self) -> f64 {
        self.mean_wall_ns - self.mean_cpu_ns - self.mean_server_ns.unwrap_or(0.0)
    }

    fn pair_log_ratios(&self, baseline: &BatchFigures) -> Vec<f64> {
        let mut baseline_pairs = baseline.pairs.iter().peekable();
        let ratio = |&(pair, log): &(u32, f64)| {
            while baseline_pairs.next_if(|(other, _)| *other < pair).is_some() {}
            baseline_pairs
                .next_if(|(other, _)| *other == pair)
                .map(|(_, baseline_log)| log - baseline_log)
        };
        self.pairs.iter().filter_map(ratio).collect()
    }
}

/// Returns the index of a pair of passes and the pair's mean log time, or `None` unless the passes
/// are 2k and 2k + 1.
fn mirrored(first: (u32, Batch), second: (u32, Batch)) -> Option<(u32, f64)> {
    let pair = first.0 / 2;
    let mirrored = first.0.is_multiple_of(2) && second.0 / 2 == pair;
    mirrored.then(|| (pair, 0.5 * (log_time(&first.1) + log_time(&second.1))))
}

/// Returns the logarithm of the time of an operation in a batch.
///
/// A batch of 0 ns is shorter than the clock's resolution and counts as 1 ns, because 0 has no
/// logarithm.
fn log_time(batch: &Batch) -> f64 {
    (batch.wall_ns.max(1) as f64 / operations(batch)).ln()
}

fn operations(batch: &Batch) -> f64 {
    batch.operations.max(1) as f64
}
