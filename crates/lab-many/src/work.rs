// SPDX-License-Identifier: Apache-2.0
//! The kinds of work for agents.

use crate::experiment::ExperimentOrder;
use crate::load::LoadOrder;
use crate::logs::LogsOrder;
use crate::usage::UsageOrder;
use serde::{Deserialize, Serialize};

/// Work for an agent.
#[derive(Debug, Serialize, Deserialize)]
pub enum AgentWork {
    /// A fraction of a load.
    Load(LoadOrder),
    /// The usage of a server.
    Usage(UsageOrder),
    /// Logs.
    Logs(LogsOrder),
    /// Blocks of an experiment.
    Experiment(ExperimentOrder),
}
