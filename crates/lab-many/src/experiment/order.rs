// SPDX-License-Identifier: Apache-2.0
//! Messages between the coordinator and the agents of an experiment.

use lab_bench::{Scratch, Servers};
use lab_model::{Failure, Host, Outcome, Pilot, Plan, PointId, Run, Setting, SubjectId};
use lab_stats::load::peaks::Peaks;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The requirements that a host must meet, and the plan to measure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostRequirements {
    /// The plan to measure.
    pub plan: Plan,
    /// The project's directory on the coordinator's machine.
    pub folder: PathBuf,
    /// The name of each subject with the SHA-256 of its sources, from the coordinator's machine.
    pub hashes: Vec<(String, String)>,
    /// Subjects that cannot run on the coordinator's machine.
    pub failures: Vec<Failure>,
    /// The directory for databases, or `None` for a directory in memory.
    pub scratch: Option<PathBuf>,
    /// True to reject a host that is unfit for measuring.
    pub strict: bool,
}

/// A prepared host, on which the run's servers have been started.
pub struct Bench {
    /// The project's directory.
    pub folder: PathBuf,
    /// The directory for databases.
    pub scratch: Scratch,
    /// The servers that subjects use.
    pub servers: Servers,
    /// The description of the host.
    pub host: Host,
}

/// A function that prepares the agent's host. Its error describes the requirements that are not
/// met.
pub type MakeReady<'m> = &'m dyn Fn(&HostRequirements) -> Result<Bench, String>;

/// An order from the coordinator to an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ExperimentOrder {
    /// Prepare the host.
    Ready {
        /// The requirements that the host must meet.
        #[serde(rename = "wanted")]
        requirements: Box<HostRequirements>,
        /// The agent's group of the machine's cores: the index of the group, counted from 0, and
        /// the number of groups.
        part: (usize, usize),
    },
    /// Execute a task.
    Task(Task),
}

/// A task for a prepared host: a block, or the preparation before the first block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// The state of the run so far.
    #[serde(rename = "known")]
    pub knowledge: RunKnowledge,
    /// The number of the block and the number of earlier attempts to measure the block, or `None`
    /// for the preparation before the first block.
    pub block: Option<(u32, u32)>,
}

/// The part of a run's state that agents need.
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
    /// The task is complete. The body of the message is the task's run file.
    Done {
        /// The expected results of batches on this host.
        outcomes: Vec<Outcome>,
    },
}

/// A step of a run, for displaying progress.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Step {
    /// See [`lab_bench::Progress::Pilot`].
    Pilot {
        /// The subject that the pilot ran.
        subject: SubjectId,
        /// The point at which the pilot ran.
        point: PointId,
        /// The number of completed pilots.
        done: usize,
        /// The total number of pilots.
        of: usize,
    },
    /// See [`lab_bench::Progress::Point`].
    Point {
        /// The index of the block, from 0.
        block: u32,
        /// The point that is being measured.
        point: PointId,
        /// The subject that is being warmed up, or `None` while all subjects take turns.
        subject: Option<SubjectId>,
        /// The number of completed points.
        done: usize,
        /// The total number of points.
        of: usize,
    },
}
