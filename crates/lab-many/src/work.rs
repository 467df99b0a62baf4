// SPDX-License-Identifier: Apache-2.0
//! The kinds of work that agents do.

use crate::experiment::ExperimentOrder;
use crate::load::LoadOrder;
use crate::logs::LogsOrder;
use crate::usage::UsageOrder;
use serde::{Deserialize, Serialize};

/// Work for an agent.
#[derive(Debug, Serialize, Deserialize)]
pub enum AgentWork {
    /// A part of a load.
    Load(LoadOrder),
    /// The usage of a server.
    Usage(UsageOrder),
    /// Logs.
    Logs(LogsOrder),
    /// Blocks of an experiment.
    Experiment(ExperimentOrder),
}
