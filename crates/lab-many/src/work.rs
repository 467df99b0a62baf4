// SPDX-License-Identifier: Apache-2.0
//! The kinds of work that agents do.

use crate::usage::UsageOrder;
use crate::watch::WatchOrder;
use crate::{experiment, load};
use serde::{Deserialize, Serialize};

/// Work for an agent.
#[derive(Debug, Serialize, Deserialize)]
pub enum AgentWork {
    /// A part of a load.
    Load(load::LoadOrder),
    /// What a server uses.
    Usage(UsageOrder),
    /// Logs.
    Watch(WatchOrder),
    /// Blocks of an experiment.
    Experiment(experiment::ExperimentOrder),
}
