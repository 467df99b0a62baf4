// SPDX-License-Identifier: Apache-2.0
//! Distributes the blocks of an experiment to multiple hosts, which measure them with benchlab's
//! block driver. Each block is measured by one host.
//!
//! The result of a task is a run file, whose records the coordinator adds to the run's own file.

pub mod agent;
mod blocks;
mod hosts;
mod order;

pub use blocks::BlockAgents;
pub use hosts::{Hosts, HostsStart};
pub use order::{
    Bench, ExperimentOrder, ExperimentReport, HostRequirements, MakeReady, RunKnowledge, Step, Task,
};
