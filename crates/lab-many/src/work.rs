// SPDX-License-Identifier: Apache-2.0
//! The kinds of work that agents do.

use crate::experiment::ExperimentOrder;
use crate::load::LoadOrder;
use crate::logs::LogsOrder;
use crate::usage::UsageOrder;
use serde::{Deserialize, Serialize};

/// Work that the coordinator assigns to an agent.
#[derive(Debug, Serialize, Deserialize)]
pub enum AgentWork {
    /// Generate a fraction of a load.
    Load(LoadOrder),
    /// Report the resource usage of a server.
    Usage(UsageOrder),
    /// Read logs.
    Logs(LogsOrder),
    /// Measure blocks of an experiment.
    Experiment(ExperimentOrder),
}
