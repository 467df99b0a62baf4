// SPDX-License-Identifier: Apache-2.0
//! An agent from its start to its end.

use crate::agent::{Coordinator, Start};
use crate::experiment::{self, MakeReady};
use crate::load::agent::LoadAgent;
use crate::logs;
use crate::usage::agent::UsageAgent;
use crate::work::AgentWork;
use lab_model::Host;

/// Does what the coordinator requests. `make_ready` is for experiments, `inspect` gets the cores that a load needs. Error: there is no coordinator, or its work
/// cannot be understood.
pub fn serve(
    start: Start,
    make_ready: MakeReady,
    inspect: fn(usize) -> Host,
) -> Result<(), String> {
    let coordinator = Coordinator::connect(start)?;
    let (mut load, mut usage) = (LoadAgent::new(inspect), UsageAgent::default());
    while let Some((work, _)) = coordinator.next::<AgentWork>()? {
        let outcome = match work {
            AgentWork::Load(order) => load.carry_out(order, &coordinator),
            AgentWork::Usage(order) => usage.carry_out(order, &coordinator),
            AgentWork::Logs(order) => logs::agent::carry_out(order, &coordinator),
            AgentWork::Experiment(order) => {
                experiment::agent::carry_out(order, make_ready, &coordinator)
            }
        };
        if let Err(reason) = outcome {
            coordinator.fail(reason)?;
        }
    }
    Ok(())
}
