// SPDX-License-Identifier: Apache-2.0
//! The kinds of work that agents do.

use crate::agent::{Coordinator, Start};
use crate::experiment::{self, MakeReady};
use crate::load::agent::LoadAgent;
use crate::usage::agent::UsageAgent;
use crate::{load, usage, watch};
use serde::{Deserialize, Serialize};

/// Work for an agent.
#[derive(Debug, Serialize, Deserialize)]
pub enum Work {
    /// A part of a load.
    Load(load::Order),
    /// What a server uses.
    Usage(usage::Order),
    /// Logs.
    Watch(watch::Order),
    /// Blocks of an experiment.
    Experiment(experiment::Order),
}

/// An agent from its start to its end; `make_ready` is for experiments. Error: it is none, or its work cannot be understood.
pub fn serve(start: Start, make_ready: MakeReady) -> Result<(), String> {
    let coordinator = Coordinator::connect(start)?;
    let (mut load, mut usage) = (LoadAgent::default(), UsageAgent::default());
    while let Some((work, _)) = coordinator.next::<Work>()? {
        let done = match work {
            Work::Load(order) => load.carry_out(order, &coordinator),
            Work::Usage(order) => usage.carry_out(order, &coordinator),
            Work::Watch(order) => watch::agent::carry_out(order, &coordinator),
            Work::Experiment(order) => {
                experiment::agent::carry_out(order, make_ready, &coordinator)
            }
        };
        if let Err(why) = done {
            coordinator.fail(why)?;
        }
    }
    Ok(())
}
