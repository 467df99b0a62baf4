// SPDX-License-Identifier: Apache-2.0
//! A run's samples, reduced to what each block says about each subject at each point.
//! Everything else is computed from this table, so the samples are read once.

use crate::order;
use lab_model::{Batch, Block, Plan, PointId, Run, Sample, SubjectId};

/// The figures of the complete blocks of a run. Where revisions have multiple builds, all blocks of a build
/// count as one: statements are about builds, and blocks of one build are not replicates of it.
///
/// Source: Kalibera & Jones, *Rigorous benchmarking in reasonable time*, ISMM 2013: the highest level at which a run
/// varies is the one to repeat, and the one whose means have an interval.
pub struct BatchTable {
    subjects: usize,
    points: usize,
    /// By block, then point, then subject.
    visits: Vec<Option<BatchFigures>>,
}

/// One subject at one point in one block.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchFigures {
    /// Interquartile mean of the wall time of an operation, ns.
    pub wall_ns: f64,
    /// Interquartile mean of the CPU time of an operation, ns.
    pub cpu_ns: f64,
    /// Wall time of all its batches, at least 1 ns, by all their operations, ns.
    pub mean_wall_ns: f64,
    /// CPU time of all its batches, at least 1 ns, by all their operations, ns.
    pub mean_cpu_ns: f64,
    /// The server's CPU time of all its batches by all their operations, ns, if all of them have it.
    pub mean_server_ns: Option<f64>,
    /// For each mirrored pair of passes that it has both of, ascending: the pair's number and the
    /// mean of the two logarithms of the wall time of an operation.
    pairs: Vec<(u32, f64)>,
}

/// The plan of a run, if it has one whose indices lie within its lists; a run file that was
/// tampered with may have another.
pub fn sound_plan(run: &Run) -> Option<&Plan> {
    run.plan().filter(|plan| {
        let subjects = plan.subjects.len();
        plan.baseline < subjects
            && plan
                .points
                .iter()
                .all(|point| point.case < plan.cases.len())
            && plan
                .subjects
                .iter()
                .all(|s| s.control_of.is_none_or(|of| of < subjects))
    })
}

impl BatchTable {
    /// Collects the complete blocks of `run`, whose plan is `plan`. Samples of subjects or points that the
    /// plan does not have are left out.
    pub fn new(run: &Run, plan: &Plan) -> BatchTable {
        let (subjects, points) = (plan.subjects.len(), plan.points.len());
        let mut table = BatchTable {
            subjects,
            points,
            visits: Vec::new(),
        };
        let mut batches: Vec<Vec<(u32, Batch)>> = vec![Vec::new(); subjects * points];
        for blocks in groups(run, plan.builds()) {
            let mut passes = 0;
            for block in blocks {
                table.sort_into(&mut batches, block, passes);
                let last = block.samples.iter().map(|sample| sample.pass).max();
                // An even number keeps pairs of passes together; a file may hold any number.
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

    /// The figures of `subject` at `point`, for each block in the order of time.
    pub fn visits(
        &self,
        subject: SubjectId,
        point: PointId,
    ) -> impl Iterator<Item = Option<&BatchFigures>> {
        let blocks = self.visits.chunks(self.subjects * self.points);
        blocks.map(move |block| block[point * self.subjects + subject].as_ref())
    }

    /// For each block in the order of time: the logarithm of the typical time of `subject` / that of
    /// `baseline` at `point`, if the block has both.
    ///
    /// It is the interquartile mean over mirrored pairs of passes of the pair's log
    /// ratio: neighbours in time are compared with each other, so drift cancels.
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

    /// For each block in the order of time: by how much the logarithm of the ratio is smaller in the second half of the
    /// block's mirrored pairs than in the first, if each has one.
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

    /// The times of both subjects at `point`, in the blocks that have both.
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

    /// The standard error of the mean of [`BatchTable::log_ratios`] of typical times that follows from the
    /// scatter of pairs of passes within blocks alone: a lower bound for the error of blocks. 0 without
    /// pairs.
    pub fn error_of_turns(&self, subject: SubjectId, baseline: SubjectId, point: PointId) -> f64 {
        let pairs = self
            .visits(subject, point)
            .zip(self.visits(baseline, point));
        let squares = pairs.filter_map(|(a, b)| order::error_squared(&a?.pair_log_ratios(b?)));
        let squares: Vec<f64> = squares.collect();
        let n = squares.len().max(1) as f64;
        squares.iter().sum::<f64>().sqrt() / n
    }

    /// `before`: the passes of blocks that count as one with this.
    fn sort_into(&self, batches: &mut [Vec<(u32, Batch)>], block: &Block, before: u32) {
        for &Sample {
            point,
            subject,
            pass,
            batch,
            ..
        } in &block.samples
        {
            if point < self.points && subject < self.subjects {
                batches[point * self.subjects + subject].push((before.saturating_add(pass), batch));
            }
        }
    }
}

/// Blocks that count as one, in the order of their first.
fn groups(run: &Run, builds: usize) -> Vec<Vec<&Block>> {
    let mut groups: Vec<Vec<&Block>> = Vec::new();
    for (i, block) in run.complete_blocks().enumerate() {
        let group = if builds > 1 {
            block.number as usize % builds
        } else {
            i
        };
        groups.resize(groups.len().max(group + 1), Vec::new());
        groups[group].push(block);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

impl BatchFigures {
    /// Empties `batches`, which are pairs of a pass and its batch.
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

    /// The part of an operation's time that neither CPU time accounts for, ns; negative where both worked at
    /// once.
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

/// The pair's number and mean log time, if these are passes 2k and 2k + 1.
fn mirrored(first: (u32, Batch), second: (u32, Batch)) -> Option<(u32, f64)> {
    let pair = first.0 / 2;
    let mirrored = first.0.is_multiple_of(2) && second.0 / 2 == pair;
    mirrored.then(|| (pair, 0.5 * (log_time(&first.1) + log_time(&second.1))))
}

/// A batch of 0 ns lies below the clock's resolution: it counts as 1 ns, since 0 has no logarithm.
fn log_time(batch: &Batch) -> f64 {
    (batch.wall_ns.max(1) as f64 / operations(batch)).ln()
}

fn operations(batch: &Batch) -> f64 {
    batch.operations.max(1) as f64
}
