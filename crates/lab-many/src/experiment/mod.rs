// SPDX-License-Identifier: Apache-2.0
//! Blocks of an experiment that several hosts measure, each whole blocks, with the lab's own driver of blocks.
//!
//! The result of a piece of work is a run file, whose records the coordinator adds to the run's own.

pub mod agent;
mod blocks;
mod hosts;
mod order;

pub use blocks::BlockAgents;
pub use hosts::{Hosts, HostsStart};
pub use order::{
    Bench, ExperimentOrder, ExperimentReport, HostRequirements, MakeReady, RunKnowledge, Step, Task,
};
