// SPDX-License-Identifier: Apache-2.0
//! Messages between the coordinator and the agents of an experiment.

use lab_bench::{Scratch, Servers};
use lab_model::{Failure, Host, Outcome, Pilot, Plan, PointId, Run, Setting, SubjectId};
use lab_stats::load::peaks::Peaks;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The requirements that a host must meet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostRequirements {
    /// The plan.
    pub plan: Plan,
    /// The project's directory on the coordinator's machine.
    pub folder: PathBuf,
    /// The name of each subject, and the SHA-256 of its sources on the coordinator's machine.
    pub hashes: Vec<(String, String)>,
    /// Subjects that cannot run on the coordinator's machine.
    pub failures: Vec<Failure>,
    /// The directory for databases. `None` means in memory.
    pub scratch: Option<PathBuf>,
    /// True to reject a host that is unfit for measuring.
    pub strict: bool,
}

/// A prepared host, on which the servers of the run have been started.
pub struct Bench {
    /// The project's directory.
    pub folder: PathBuf,
    /// The directory for databases.
    pub scratch: Scratch,
    /// The servers that subjects use.
    pub servers: Servers,
    /// The host.
    pub host: Host,
}

/// A function that prepares the agent's host. Its error describes the requirements that are not
/// met.
pub type MakeReady<'m> = &'m dyn Fn(&HostRequirements) -> Result<Bench, String>;

/// An agent's order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ExperimentOrder {
    /// Prepare the host.
    Ready {
        /// Requirements on the host.
        #[serde(rename = "wanted")]
        requirements: Box<HostRequirements>,
        /// The agent's section of the machine's cores: its index, starting with 0, and the number of sections.
        part: (usize, usize),
    },
    /// Measure.
    Task(Task),
}

/// A task for a prepared host: a block, or the preparation before the first block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// The state of the run so far.
    #[serde(rename = "known")]
    pub knowledge: RunKnowledge,
    /// The block's number and the number of its earlier attempts, or `None` for the preparation before the first block.
    pub block: Option<(u32, u32)>,
}

/// The state of the run that agents need.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunKnowledge {
    /// The results of the pilots.
    pub pilots: Vec<Pilot>,
    /// Settings that subjects reported.
    pub settings: Vec<Setting>,
    /// Failures so far.
    pub failures: Vec<Failure>,
    /// The peaks of servers.
    pub peaks: Peaks,
}

impl RunKnowledge {
    pub(super) fn new(run: &Run, peaks: &Peaks) -> RunKnowledge {
        RunKnowledge {
            peaks: peaks.clone(),
            pilots: run.pilots.clone(),
            settings: run.settings.clone(),
            failures: run.failures.clone(),
        }
    }

    pub(super) fn run(&self) -> Run {
        Run {
            pilots: self.pilots.clone(),
            settings: self.settings.clone(),
            failures: self.failures.clone(),
            ..Run::default()
        }
    }
}

/// The result of an order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ExperimentReport {
    /// The host is prepared.
    Ready(Host),
    /// A step was completed.
    Step(Step),
    /// The task is done; the body is its run file.
    Done {
        /// The expected results of batches on this host.
        outcomes: Vec<Outcome>,
    },
}

/// A step, for progress output.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Step {
    /// See [`lab_bench::Progress::Pilot`].
    Pilot {
        /// The subject.
        subject: SubjectId,
        /// The point.
        point: PointId,
        /// Completed trials.
        done: usize,
        /// The total number of trials.
        of: usize,
    },
    /// See [`lab_bench::Progress::Point`].
    Point {
        /// The number of the block.
        block: u32,
        /// The point.
        point: PointId,
        /// The subject that warms up, or `None` if all subjects take turns.
        subject: Option<SubjectId>,
        /// Completed points.
        done: usize,
        /// The total number of points.
        of: usize,
    },
}
