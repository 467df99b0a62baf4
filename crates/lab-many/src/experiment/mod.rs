// SPDX-License-Identifier: Apache-2.0
//! Blocks of an experiment that multiple hosts measure with benchlab's block driver. Each block is measured by one
//! host.
//!
//! The result of a piece of work is a run file, whose records the coordinator adds to the run's own file.

pub mod agent;
mod blocks;
mod hosts;
mod order;

pub use blocks::BlockAgents;
pub use hosts::{Hosts, HostsStart};
pub use order::{
    Bench, ExperimentOrder, ExperimentReport, HostRequirements, MakeReady, RunKnowledge, Step, Task,
};
