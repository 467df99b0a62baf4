// SPDX-License-Identifier: Apache-2.0
//! Data that a run produces: pilots, blocks, samples, resources, settings, failures.

use crate::{AgentId, Disturbance, PointId, Slice, SubjectId};
use serde::{Deserialize, Serialize};

/// One measured stretch: `operations` of one point by one subject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Operations done, at least 1.
    pub operations: u64,
    /// Wall time between the subject's own clock readings.
    pub wall_ns: u64,
    /// CPU time of the subject's process, all its threads, read by the lab around the batch.
    pub cpu_ns: u64,
    /// CPU time of the service's processes, read in the same way; `None`: it has none, or it cannot
    /// be read.
    pub server_cpu_ns: Option<u64>,
}

/// A batch that counts, and its place in the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The point.
    pub point: PointId,
    /// The subject.
    pub subject: SubjectId,
    /// The pass, from 0. Passes 2k and 2k+1 are a mirrored pair.
    pub pass: u32,
    /// The turn within the pass, from 0.
    pub turn: u32,
    /// The measured stretch.
    pub batch: Batch,
}

/// The result of a number of operations at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The point.
    pub point: PointId,
    /// Operations done.
    pub operations: u64,
    /// All values that they produced, folded into one number.
    pub check: u64,
    /// How much they produced, in the unit of the case.
    pub units: u64,
}

/// One replicate: fresh processes of all subjects, all points.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// From 0; a block that is redone keeps its number.
    pub number: u32,
    /// From 0; counts how often this number was begun before.
    pub attempt: u32,
    /// The core that the measuring threads ran on.
    pub core: u32,
    /// The state.
    pub state: BlockState,
    /// When it began, in seconds since 1970.
    pub started_unix_s: f64,
    /// How long it took.
    pub duration_ns: u64,
    /// The set of processes that served it, where processes serve several blocks: the set is then the unit of
    /// replication. `None`: its processes served no other block.
    #[serde(default)]
    pub process_set: Option<u32>,
    /// The host's activity during it.
    pub disturbance: Disturbance,
    /// Fresh processes and what they took to start.
    pub processes: Vec<ProcessStart>,
    /// Memory and threads after each subject's visit to each point.
    pub resources: Vec<Resources>,
    /// The measured batches, in the order of time.
    pub samples: Vec<Sample>,
    /// Where batches are whole processes: what the system says of each after its end.
    pub exits: Vec<ProcessExit>,
    /// Where batches do several operations at once: the latency of every operation.
    pub latencies: Vec<Latencies>,
    /// Where operations are due at a fixed rate and their subject tells it: how long they took, in the order of time.
    #[serde(default)]
    pub timelines: Vec<Timeline>,
    /// The slices of a load run in order of time, in place of samples.
    pub slices: Vec<Slice>,
    /// Slices of visits that were made again because other processes disturbed them; they do not count.
    pub redone_slices: Vec<Slice>,
    /// Turns with readings that were taken again; they do not count, and are in the run file only.
    pub redone_readings: u32,
    /// Values of the workload's own metrics, in the order of time; those of turns that were taken again are
    /// in the run file, but not here.
    pub readings: Vec<Reading>,
    /// The agent that measured it; `None`: the lab did itself.
    #[serde(default)]
    pub agent: Option<AgentId>,
}

impl Block {
    /// How many turns were taken again.
    pub fn redone_visits(&self) -> u32 {
        self.redone_slices.len() as u32 + self.redone_readings
    }

    /// Drops what came of a load: there can be much of it, and it is in the run file.
    pub fn forget_slices(&mut self) {
        self.slices = Vec::new();
        self.redone_slices = Vec::new();
    }
}

/// A value of a metric that a turn yielded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The point.
    pub point: PointId,
    /// The subject.
    pub subject: SubjectId,
    /// The pass of the block, from 0.
    pub pass: u32,
    /// The id of a metric among [`crate::Run::metrics`].
    pub metric: String,
    /// In the metric's unit.
    pub value: f64,
}

/// The latencies of a batch's operations, as the subject counted them (docs/protocol.md).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latencies {
    /// The point.
    pub point: PointId,
    /// The subject.
    pub subject: SubjectId,
    /// The pass of the block, from 0.
    pub pass: u32,
    /// Index of a bucket and how many operations fell into it, ascending.
    pub counts: Vec<(u32, u64)>,
}

/// How long the operations of a batch took that are due at a fixed rate, in the order of time (docs/protocol.md).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// The point.
    pub point: PointId,
    /// The subject.
    pub subject: SubjectId,
    /// The pass of the block, from 0.
    pub pass: u32,
    /// The longest latency of those that were due in each [`Timeline::STEP_NS`] from the batch's start on; 0: none was.
    pub longest_ns: Vec<u64>,
}

impl Timeline {
    /// A step: what takes longer is a freeze.
    pub const STEP_NS: u64 = 100_000_000;
}

/// The system's data on an ended process and the processes that it waited for (wait4(2)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessExit {
    /// The point.
    pub point: PointId,
    /// The subject.
    pub subject: SubjectId,
    /// The pass of the block, from 0.
    pub pass: u32,
    /// User CPU time.
    pub user_ns: u64,
    /// System CPU time.
    pub sys_ns: u64,
    /// The most memory that one of the processes held.
    pub peak_rss_bytes: u64,
    /// Page faults that needed no reading from a disk.
    pub minor_faults: u64,
    /// Page faults that did.
    pub major_faults: u64,
    /// Voluntary context switches.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
    /// Exit status; 128 + the number of a signal that ended it.
    pub status: i32,
}

/// The state of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockState {
    /// It was not finished; it is redone, and its samples stay in the file uncounted.
    #[default]
    Incomplete,
    /// The host disturbed it; it was redone, and its samples stay in the file uncounted.
    Disturbed,
    /// It counts.
    Complete,
}

/// One fresh process of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcessStart {
    /// The subject.
    pub subject: SubjectId,
    /// From the start of the program to its hello.
    pub startup_ns: u64,
    /// CPU time that it had used by then.
    pub startup_cpu_ns: u64,
}

/// Memory and threads of a subject's process after its visit to a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// The subject.
    pub subject: SubjectId,
    /// The point after which it was read.
    pub point: PointId,
    /// Resident memory.
    pub rss_bytes: u64,
    /// The most resident memory since the process began.
    pub peak_rss_bytes: u64,
    /// Threads, helper threads included.
    pub threads: u32,
    /// User CPU time since the process began.
    pub user_ns: u64,
    /// System CPU time since the process began.
    pub sys_ns: u64,
    /// Voluntary context switches of all threads since the process began.
    pub voluntary_switches: u64,
    /// Involuntary context switches of all threads since the process began.
    pub involuntary_switches: u64,
    /// Memory of the service's processes, what they share counted once; `None`: it has none, or it
    /// cannot be read.
    pub server_bytes: Option<u64>,
}

/// The pilot's findings for one subject and point, before the first block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pilot {
    /// The subject.
    pub subject: SubjectId,
    /// The point.
    pub point: PointId,
    /// Operations of every batch of the run.
    pub operations: u64,
    /// Batches that each block spends before the first that counts.
    pub warmup_batches: u32,
    /// The class of the batch times.
    pub class: WarmUp,
    /// The very first operation in a fresh process.
    pub cold_ns: u64,
    /// The pilot's batches, in the order of time.
    pub batches: Vec<Batch>,
    /// A server's age at the end of each batch; empty for other subjects.
    #[serde(default)]
    pub ages: Vec<Age>,
}

/// The age of a server, counted from the first request that it was sent; of other subjects, whose operations are its
/// requests, from the first operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Age {
    /// Requests that it has served.
    pub requests: u64,
    /// CPU time that it has used since, its compilers' and collectors' included.
    pub cpu_ns: u64,
    /// Time since.
    pub wall_ns: u64,
    /// Requests that the baseline served at the same speed of the machine: right after the batch. 0: it was not loaded.
    pub baseline_requests: u64,
    /// Their cost to the baseline, ns: CPU time for a server, wall time for batches.
    pub baseline_cpu_ns: u64,
}

impl Pilot {
    /// A subject whose helper threads compile is not called steady before so many batches. (A Java subject that inserts
    /// 1,000 rows an operation looks steady for its first 60 batches, and then falls by a third.)
    pub const FIRST_LOOK_WITH_HELPERS: usize = 120;

    /// The most batches that fit into a warm-up of `max_ns`.
    pub fn max_warm_up(&self, max_ns: u64) -> u32 {
        let last_ns = self.batches.last().map_or(1, |b| b.wall_ns.max(1));
        let batches = (max_ns / last_ns).max(1);
        u32::try_from(batches).unwrap_or(u32::MAX)
    }

    /// True if the warm-ups of the blocks, of at most `max_ns`, are shorter than its own.
    pub fn exceeds(&self, max_ns: u64) -> bool {
        self.warmup_batches > self.max_warm_up(max_ns)
    }

    /// The batches before the turns with the baseline.
    pub fn own_batches(&self) -> &[Batch] {
        &self.batches[..self.batches.len().saturating_sub(self.ages.len())]
    }
}

/// How the batch times of a fresh process behave (Barrett et al., *Virtual Machine Warmup Blows
/// Hot and Cold*, OOPSLA 2017).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarmUp {
    /// Steady from the first batch.
    Flat,
    /// Steady at the end, and faster than at the beginning.
    Warming,
    /// Steady at the end, and slower than at the beginning.
    Slowing,
    /// It still changed at the end.
    NoSteadyState,
    /// The time of the run ended the pilot before a subject that compiles could be seen to be steady.
    CutShort,
}

/// A setting that a subject read back over its own connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The subject.
    pub subject: SubjectId,
    /// For which point; `None`: from its hello.
    pub point: Option<PointId>,
    /// The name of the setting, such as `journal_mode`.
    pub key: String,
    /// Its value, such as `delete`.
    pub value: String,
}

impl Setting {
    /// The key of what a subject's build wrote for readers ([`crate::Subject::listing`]): no setting proper.
    pub const LISTING: &'static str = "listing";
    /// The key of how often an operation waits for its server, which the lab counts itself.
    pub const ROUND_TRIPS: &'static str = "round_trips";
}

/// A subject that could not do a point, or did not do the same work. It is not compared there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The subject.
    pub subject: SubjectId,
    /// At which point; `None`: everywhere, for example because it cannot be built or started.
    pub point: Option<PointId>,
    /// The block; `None`: before the first.
    pub block: Option<u32>,
    /// One word: `missing`, `setting`, `build`, `start`, `crash`, `timeout`, `nonsense`, `bracket`, `check`,
    /// `target`, `opens`, `writes`, `statements`, `service`, `error`; of whole commands also `exit`, `output`, `setup`,
    /// `prepare`, `cleanup`; of a load `load`.
    pub kind: String,
    /// The event, in a sentence.
    pub message: String,
    /// The subject's last log lines.
    pub log: Vec<String>,
}

impl Failure {
    /// True if this host lacks something that the subject needs, such as a tool or a right, so that it was
    /// never tried.
    pub fn is_lack(&self) -> bool {
        let lacks = ["missing", "setting"].contains(&&*self.kind);
        lacks && self.point.is_none() && self.block.is_none()
    }
}

/// A line that a subject wrote and that is no reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// The subject.
    pub subject: SubjectId,
    /// The block; `None`: before the first.
    pub block: Option<u32>,
    /// The line, without its end.
    pub line: String,
}

/// How a line begins that says why a server's figures are not known from there on.
const SERVER_UNKNOWN: &str = "the server's CPU time and memory: ";

impl LogLine {
    /// A line that says why what a server uses is not known any more.
    pub fn server_unknown(why: &str) -> String {
        format!("{SERVER_UNKNOWN}{why}")
    }

    /// Why what the server uses is not known any more, if this says so.
    pub fn why_server_unknown(&self) -> Option<&str> {
        self.line.strip_prefix(SERVER_UNKNOWN)
    }
}
