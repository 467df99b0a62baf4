// SPDX-License-Identifier: Apache-2.0
//! Data that a run records: pilots, blocks, samples, resources, settings and failures.

use crate::{AgentId, Disturbance, PointId, Slice, SubjectId};
use serde::{Deserialize, Serialize};

/// One measurement: a number of operations of one subject at one point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// The number of operations, at least 1.
    pub operations: u64,
    /// Wall time in ns, between two readings of the subject's own clock.
    pub wall_ns: u64,
    /// CPU time in ns of all threads of the subject's process. benchlab reads it before and after
    /// the batch.
    pub cpu_ns: u64,
    /// CPU time in ns of the service's processes. benchlab reads it before and after the batch.
    ///
    /// `None` if there is no service, or if its CPU time cannot be read.
    pub server_cpu_ns: Option<u64>,
}

/// A batch that counts toward the results, with its position in the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The point at which the batch ran.
    pub point: PointId,
    /// The subject that ran the batch.
    pub subject: SubjectId,
    /// The pass, from 0. Passes 2k and 2k+1 are a mirrored pair.
    pub pass: u32,
    /// The turn within the pass, from 0.
    pub turn: u32,
    /// The measured batch.
    pub batch: Batch,
}

/// The output of a number of operations at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The point at which the operations were performed.
    pub point: PointId,
    /// The number of operations.
    pub operations: u64,
    /// A checksum of all values that the operations produced.
    pub check: u64,
    /// The amount of output, in the unit of the case.
    pub units: u64,
}

/// One replicate: fresh processes of all subjects, measured at all points.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// The block number, from 0. A redone block keeps its number.
    pub number: u32,
    /// The attempt, from 0: the number of earlier attempts at this block.
    pub attempt: u32,
    /// The core that the measuring threads ran on.
    pub core: u32,
    /// The state, which determines whether the samples count.
    pub state: BlockState,
    /// The start time, in seconds since 1970.
    pub started_unix_s: f64,
    /// The elapsed time, in ns.
    pub duration_ns: u64,
    /// The ID of the set of processes used by the block, if processes serve multiple blocks.
    ///
    /// The set is then the unit of replication. `None` means that the block's processes served no
    /// other block.
    #[serde(default)]
    pub process_set: Option<u32>,
    /// The host's activity during the block.
    pub disturbance: Disturbance,
    /// The fresh processes, with the cost of starting each of them.
    pub processes: Vec<ProcessStart>,
    /// Memory and threads after each subject's visit to each point.
    pub resources: Vec<Resources>,
    /// The measured batches, in chronological order.
    pub samples: Vec<Sample>,
    /// The operating system's statistics on each exited process, if each batch is a whole process.
    pub exits: Vec<ProcessExit>,
    /// The latency of every operation, if batches run operations concurrently.
    pub latencies: Vec<Latencies>,
    /// The latencies in chronological order, if operations are due at a fixed rate and the subject
    /// reports them.
    #[serde(default)]
    pub timelines: Vec<Timeline>,
    /// The slices of a load run in chronological order, in place of samples.
    pub slices: Vec<Slice>,
    /// Slices of visits that were measured again because other processes disturbed them. They are
    /// not part of the results.
    pub redone_slices: Vec<Slice>,
    /// The number of turns with readings that were measured again. Their readings are stored only
    /// in the run file.
    pub redone_readings: u32,
    /// Values of the workload's own metrics, in chronological order.
    ///
    /// Values of redone turns are stored in the run file but not here.
    pub readings: Vec<Reading>,
    /// The agent that measured the block, or `None` if benchlab measured it itself.
    #[serde(default)]
    pub agent: Option<AgentId>,
}

impl Block {
    /// Returns the number of turns that were redone.
    pub fn redone_visits(&self) -> u32 {
        self.redone_slices.len() as u32 + self.redone_readings
    }

    /// Drops the slices of a load to save memory. They remain stored in the run file.
    pub fn drop_slices(&mut self) {
        self.slices = Vec::new();
        self.redone_slices = Vec::new();
    }
}

/// A value of a metric that was read in a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The point that was measured in the turn.
    pub point: PointId,
    /// The subject whose turn it was.
    pub subject: SubjectId,
    /// The pass of the block, from 0.
    pub pass: u32,
    /// The ID of a metric in [`crate::Run::metrics`].
    pub metric: String,
    /// The value in the metric's unit.
    pub value: f64,
}

/// The latencies of a batch's operations, as counted by the subject (docs/protocol.md).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latencies {
    /// The point at which the batch ran.
    pub point: PointId,
    /// The subject that ran the batch.
    pub subject: SubjectId,
    /// The pass of the block, from 0.
    pub pass: u32,
    /// (bucket index, operation count) pairs, ascending by index.
    pub counts: Vec<(u32, u64)>,
}

/// The latencies of a batch whose operations are due at a fixed rate, in chronological order
/// (docs/protocol.md).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// The point at which the batch ran.
    pub point: PointId,
    /// The subject that ran the batch.
    pub subject: SubjectId,
    /// The pass of the block, from 0.
    pub pass: u32,
    /// The maximum latency of the operations due in each step of [`Timeline::STEP_NS`], counted
    /// from the start of the batch.
    ///
    /// 0 means that no operation was due.
    pub longest_ns: Vec<u64>,
}

impl Timeline {
    /// The length of a step, in ns. An operation that takes longer than a step counts as a freeze.
    pub const STEP_NS: u64 = 100_000_000;
}

/// The operating system's statistics on an exited process and on the child processes that it waited
/// for (wait4(2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessExit {
    /// The point that the process measured.
    pub point: PointId,
    /// The subject whose process exited.
    pub subject: SubjectId,
    /// The pass of the block, from 0.
    pub pass: u32,
    /// User CPU time, in ns.
    pub user_ns: u64,
    /// System CPU time, in ns.
    pub sys_ns: u64,
    /// The peak memory, in bytes, of the process or of its largest child, whichever is larger.
    pub peak_rss_bytes: u64,
    /// Page faults that did not need to read from a disk.
    pub minor_faults: u64,
    /// Page faults that had to read from a disk.
    pub major_faults: u64,
    /// Voluntary context switches.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
    /// The exit status, or 128 + signal number if a signal terminated the process.
    pub status: i32,
}

/// The state of a block, which determines whether its samples count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockState {
    /// The block was not finished. It is measured again. Its samples stay in the file but do not
    /// count.
    #[default]
    Incomplete,
    /// The host disturbed the block. It was measured again. Its samples stay in the file but do not
    /// count.
    Disturbed,
    /// The block is complete, and its samples count.
    Complete,
}

/// The start of a fresh process of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcessStart {
    /// The subject whose process was started.
    pub subject: SubjectId,
    /// The time from the start of the program to its hello message, in ns.
    pub startup_ns: u64,
    /// CPU time used until the hello message, in ns.
    pub startup_cpu_ns: u64,
}

/// Memory and threads of a subject's process after its visit to a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// The subject whose process was examined.
    pub subject: SubjectId,
    /// The point after whose visit the values were read.
    pub point: PointId,
    /// Resident memory, in bytes.
    pub rss_bytes: u64,
    /// Peak resident memory since the process started, in bytes.
    pub peak_rss_bytes: u64,
    /// The number of threads, including helper threads.
    pub threads: u32,
    /// User CPU time since the process started, in ns.
    pub user_ns: u64,
    /// System CPU time since the process started, in ns.
    pub sys_ns: u64,
    /// Voluntary context switches of all threads since the process started.
    pub voluntary_switches: u64,
    /// Involuntary context switches of all threads since the process started.
    pub involuntary_switches: u64,
    /// Memory of the service's processes in bytes, with shared memory counted once.
    ///
    /// `None` if there is no service, or if its memory cannot be read.
    pub server_bytes: Option<u64>,
}

/// The results of the pilot for one subject and point, recorded before the first block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pilot {
    /// The subject that ran the pilot.
    pub subject: SubjectId,
    /// The point that the pilot measured.
    pub point: PointId,
    /// The number of operations in every batch of the run.
    pub operations: u64,
    /// The number of warm-up batches at the start of each block.
    pub warmup_batches: u32,
    /// The class of warm-up behavior.
    pub class: WarmUp,
    /// The time of the very first operation in a fresh process, in ns.
    pub cold_ns: u64,
    /// The pilot's batches, in chronological order.
    pub batches: Vec<Batch>,
    /// The age of the subject at the end of each of the last batches. Empty if no ages were
    /// recorded.
    #[serde(default)]
    pub ages: Vec<Age>,
}

/// The age of a server, counted from the first request that it received.
///
/// For other subjects, operations are counted instead of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Age {
    /// The number of requests served.
    pub requests: u64,
    /// CPU time used in ns, including the CPU time of compilers and garbage collectors.
    pub cpu_ns: u64,
    /// Elapsed time, in ns.
    pub wall_ns: u64,
    /// The number of requests that the baseline served right after the batch, while the machine ran
    /// at the same speed.
    ///
    /// 0 means that the baseline was not loaded.
    pub baseline_requests: u64,
    /// The baseline's cost of `baseline_requests` in ns: CPU time for a server, wall time for
    /// batches.
    pub baseline_cpu_ns: u64,
}

impl Pilot {
    /// The minimum number of batches before a subject with compiling helper threads is considered
    /// steady.
    ///
    /// A Java subject that inserts 1,000 rows per operation looks steady for its first 60 batches
    /// and then becomes a third faster.
    pub const MIN_BATCHES_WITH_HELPERS: usize = 120;

    /// The minimum number of batches in a pilot with long operations. Pilots with short operations
    /// end when their time is used up.
    pub const MIN_BATCHES: usize = 10;

    /// The number of batches at the end of a pilot from which the duration of a batch is estimated.
    const LAST_BATCHES: usize = 8;

    /// Returns the duration of a batch in the blocks, in ns, or `None` if the pilot has no batches.
    ///
    /// This is the median of the pilot's last batches with a similar number of operations, scaled
    /// to the number of operations in a block's batch. A single delayed batch does not change the
    /// median much.
    pub fn batch_ns(&self) -> Option<u64> {
        let last = self.batches.iter().rev().take(Pilot::LAST_BATCHES);
        let requested = self.operations.max(1);
        let is_alike =
            |b: &&Batch| b.operations >= requested.div_ceil(2) && b.operations / 2 <= requested;
        let scaled = |b: &Batch| (b.wall_ns as f64 * requested as f64 / b.operations as f64) as u64;
        let mut times: Vec<u64> = last.filter(is_alike).map(scaled).collect();
        times.sort();
        times.get(times.len() / 2).copied()
    }

    /// Returns the maximum number of batches that fit into a warm-up of `max_ns`.
    pub fn max_warm_up(&self, max_ns: u64) -> u32 {
        let batch_ns = self.batch_ns().map_or(1, |ns| ns.max(1));
        let batches = (max_ns / batch_ns).max(1);
        u32::try_from(batches).unwrap_or(u32::MAX)
    }

    /// Returns true if the pilot needed a longer warm-up than `max_ns`, the maximum for blocks.
    pub fn exceeds(&self, max_ns: u64) -> bool {
        self.warmup_batches > self.max_warm_up(max_ns)
    }

    /// Returns the batches that the pilot ran before it took turns with the baseline.
    pub fn own_batches(&self) -> &[Batch] {
        &self.batches[..self.batches.len().saturating_sub(self.ages.len())]
    }
}

/// The class of a fresh process's warm-up behavior.
///
/// Source: Barrett et al., *Virtual Machine Warmup Blows Hot and Cold*, OOPSLA 2017.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarmUp {
    /// Steady from the first batch.
    Flat,
    /// Steady at the end, and faster than at the start.
    Warming,
    /// Steady at the end, and slower than at the start.
    Slowing,
    /// Still changing at the end.
    NoSteadyState,
    /// The run's time limit ended the pilot before a subject with a JIT compiler could be
    /// considered steady.
    CutShort,
}

/// A setting that a subject read back over its own connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The subject that reported the setting.
    pub subject: SubjectId,
    /// The point at which the setting was read, or `None` if it comes from the hello message.
    pub point: Option<PointId>,
    /// The name of the setting, such as `journal_mode`.
    pub key: String,
    /// The value of the setting, such as `delete`.
    pub value: String,
}

impl Setting {
    /// The key of the listing that a subject's build produced ([`crate::Subject::listing`]). This
    /// is not a real setting.
    pub const LISTING: &'static str = "listing";
    /// The key of the number of round trips per operation, which benchlab counts: the number of
    /// times that an operation waits for its server.
    pub const ROUND_TRIPS: &'static str = "round_trips";
}

/// The failure of a subject at a point, for example because it did not do the same work.
///
/// The subject is not compared at this point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The subject that failed.
    pub subject: SubjectId,
    /// The point. `None` means all points, for example because the subject cannot be built or
    /// started.
    pub point: Option<PointId>,
    /// The block. `None` means that the failure occurred before the first block.
    pub block: Option<u32>,
    /// The kind of failure, in one word.
    ///
    /// One of `missing`, `fixture`, `build`, `start`, `crash`, `timeout`, `nonsense`, `bracket`,
    /// `check`, `target`, `opens`, `writes`, `statements`, `service`, `error`. Whole commands can
    /// also have `exit`, `output`, `setup`, `prepare`, `cleanup`, and a load can also have `load`.
    pub kind: String,
    /// A sentence that describes the failure.
    pub message: String,
    /// The last log lines of the subject.
    pub log: Vec<String>,
}

impl Failure {
    /// Returns true if the values of the subject do not count. A failed cleanup spoils nothing,
    /// because it follows the last measurement.
    pub fn spoils_values(&self) -> bool {
        self.kind != "cleanup"
    }

    /// Returns true if the failure means that this host lacks something that the subject needs,
    /// such as a tool or a permission.
    ///
    /// In this case, the subject was never run.
    pub fn is_lack(&self) -> bool {
        // Earlier versions recorded `setting` for a host setting.
        let lacks = ["missing", "fixture", "setting"].contains(&&*self.kind);
        lacks && self.point.is_none() && self.block.is_none()
    }
}

/// A line that a subject wrote in addition to its replies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// The subject that wrote the line.
    pub subject: SubjectId,
    /// The block. `None` means that the line was written before the first block.
    pub block: Option<u32>,
    /// The line without its line terminator.
    pub line: String,
}

/// The prefix of log lines that explain why the server's CPU time and memory are unknown.
const SERVER_UNKNOWN: &str = "the server's CPU time and memory: ";

impl LogLine {
    /// Formats a log line that explains why the server's resource usage is unknown.
    pub fn server_unknown(why: &str) -> String {
        format!("{SERVER_UNKNOWN}{why}")
    }

    /// Returns the explanation in a log line that [`LogLine::server_unknown`] formatted. Returns
    /// `None` for any other line.
    pub fn why_server_unknown(&self) -> Option<&str> {
        self.line.strip_prefix(SERVER_UNKNOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_that_had_to_wait_is_ignored() {
        let batch = |operations, wall_ns| Batch {
            operations,
            wall_ns,
            ..Batch::default()
        };
        let mut pilot = Pilot {
            subject: SubjectId(0),
            point: PointId(0),
            operations: 100,
            warmup_batches: 200,
            class: WarmUp::Warming,
            cold_ns: 1,
            batches: [vec![batch(8, 50_000); 30], vec![batch(90, 900_000); 7]].concat(),
            ages: Vec::new(),
        };
        pilot.batches.push(batch(100, 60_000_000));
        assert_eq!(pilot.batch_ns(), Some(1_000_000));
        assert_eq!(pilot.max_warm_up(300_000_000), 300);
        assert!(!pilot.exceeds(300_000_000) && pilot.exceeds(100_000_000));
        // Batches with far fewer operations are ignored.
        pilot.batches = vec![batch(8, 50_000), batch(100, 3_000_000)];
        assert_eq!(pilot.batch_ns(), Some(3_000_000));
        pilot.batches.clear();
        assert_eq!(pilot.batch_ns(), None);
    }
}
