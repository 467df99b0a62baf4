// SPDX-License-Identifier: Apache-2.0
//! Blocks of an experiment that several hosts measure, each whole blocks, with the lab's own driver of blocks.
//!
//! What comes of a piece of work is a run file: the coordinator takes its records into the run's own.

pub mod agent;
mod blocks;
mod hosts;

pub use blocks::BlockAgents;
pub use hosts::{Hosts, HostsStart};

use lab_bench::{Scratch, Servers};
use lab_model::{Failure, Host, Outcome, Pilot, Plan, PointId, Run, Setting, SubjectId};
use lab_stats::load::peaks::Peaks;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a host must have, and be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostRequirements {
    /// The plan.
    pub plan: Plan,
    /// The project's folder on the coordinator's machine.
    pub folder: PathBuf,
    /// What each subject was made from there: name and SHA-256.
    pub hashes: Vec<(String, String)>,
    /// Subjects that cannot run there.
    pub failures: Vec<Failure>,
    /// Where databases live; `None`: in memory.
    pub scratch: Option<PathBuf>,
    /// A host that is not fit to measure is refused.
    pub strict: bool,
}

/// A host that is ready: what the lab starts for a run is started.
pub struct Bench {
    /// The project's folder.
    pub folder: PathBuf,
    /// Where its databases live.
    pub scratch: Scratch,
    /// Those that subjects use.
    pub servers: Servers,
    /// The host.
    pub host: Host,
}

/// Makes the agent's host ready. Error: it is not what is wanted, in words for people.
pub type MakeReady<'m> = &'m dyn Fn(&HostRequirements) -> Result<Bench, String>;

/// What an agent is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Order {
    /// Make the host ready.
    Ready {
        /// What it must have.
        wanted: Box<HostRequirements>,
        /// Which part of its machine's cores it has, from 0, and of how many.
        part: (usize, usize),
    },
    /// Measure.
    Task(Task),
}

/// A piece of work for a host that is ready.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// Until now.
    pub known: RunKnowledge,
    /// The block's number, and how often it was begun before; `None`: no more than what a run needs before its first.
    pub block: Option<(u32, u32)>,
}

/// What the run knows, and agents need.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RunKnowledge {
    /// What the pilot found.
    pub pilots: Vec<Pilot>,
    /// Settings that were read back.
    pub settings: Vec<Setting>,
    /// What failed.
    pub failures: Vec<Failure>,
    /// What servers serve at the most.
    pub peaks: Peaks,
}

impl RunKnowledge {
    fn of(run: &Run, peaks: &Peaks) -> RunKnowledge {
        RunKnowledge {
            peaks: peaks.clone(),
            pilots: run.pilots.clone(),
            settings: run.settings.clone(),
            failures: run.failures.clone(),
        }
    }

    fn run(&self) -> Run {
        Run {
            pilots: self.pilots.clone(),
            settings: self.settings.clone(),
            failures: self.failures.clone(),
            ..Run::default()
        }
    }
}

/// What came of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Report {
    /// The host is ready.
    Ready(Host),
    /// A step was taken.
    Step(Step),
    /// The work is done; its run file is the body.
    Done {
        /// What batches must yield on this host.
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
        /// Trials that are behind it.
        done: usize,
        /// Of so many.
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
        /// Points that are behind it.
        done: usize,
        /// Of so many.
        of: usize,
    },
}
