// SPDX-License-Identifier: Apache-2.0
//! Messages between the coordinator and the agents of an experiment.

use lab_bench::{Scratch, Servers};
use lab_model::{Failure, Host, Outcome, Pilot, Plan, PointId, Run, Setting, SubjectId};
use lab_stats::load::peaks::Peaks;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Requirements on a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostRequirements {
    /// The plan.
    pub plan: Plan,
    /// The project's folder on the coordinator's machine.
    pub folder: PathBuf,
    /// Name of each subject, and SHA-256 of what it was built from on the coordinator's machine.
    pub hashes: Vec<(String, String)>,
    /// Subjects that cannot run on the coordinator's machine.
    pub failures: Vec<Failure>,
    /// The folder for databases; `None`: in memory.
    pub scratch: Option<PathBuf>,
    /// True if a host that is not fit to measure is refused.
    pub strict: bool,
}

/// A host that is ready: the servers for a run are started.
pub struct Bench {
    /// The project's folder.
    pub folder: PathBuf,
    /// The folder for its databases.
    pub scratch: Scratch,
    /// The servers that subjects use.
    pub servers: Servers,
    /// The host.
    pub host: Host,
}

/// Makes the agent's host ready. Error: why it does not meet the requirements, in words for people.
pub type MakeReady<'m> = &'m dyn Fn(&HostRequirements) -> Result<Bench, String>;

/// An agent's order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ExperimentOrder {
    /// Make the host ready.
    Ready {
        /// Requirements on the host.
        #[serde(rename = "wanted")]
        requirements: Box<HostRequirements>,
        /// Its part of its machine's cores, from 0, and of how many.
        part: (usize, usize),
    },
    /// Measure.
    Task(Task),
}

/// A piece of work for a host that is ready.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// The state of the run so far.
    #[serde(rename = "known")]
    pub knowledge: RunKnowledge,
    /// The block's number, and how often it was begun before; `None`: what a run needs before its first block.
    pub block: Option<(u32, u32)>,
}

/// The parts of the run's state that agents need.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunKnowledge {
    /// The pilots' findings.
    pub pilots: Vec<Pilot>,
    /// Settings that subjects reported.
    pub settings: Vec<Setting>,
    /// Failures so far.
    pub failures: Vec<Failure>,
    /// The peaks of servers.
    pub peaks: Peaks,
}

impl RunKnowledge {
    pub(super) fn of(run: &Run, peaks: &Peaks) -> RunKnowledge {
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
    /// The host is ready.
    Ready(Host),
    /// A step was taken.
    Step(Step),
    /// The work is done; its run file is the body.
    Done {
        /// The required results of batches on this host.
        outcomes: Vec<Outcome>,
    },
}

/// A step, for those who watch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Step {
    /// See [`lab_bench::Progress::Pilot`].
    Pilot {
        /// The subject.
        subject: SubjectId,
        /// The point.
        point: PointId,
        /// Trials that are done.
        done: usize,
        /// Trials in all.
        of: usize,
    },
    /// See [`lab_bench::Progress::Point`].
    Point {
        /// The block's number.
        block: u32,
        /// The point.
        point: PointId,
        /// The subject that warms up for it; `None`: all take turns.
        subject: Option<SubjectId>,
        /// Points that are done.
        done: usize,
        /// Points in all.
        of: usize,
    },
}
