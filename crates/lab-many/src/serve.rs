// SPDX-License-Identifier: Apache-2.0
//! Runs an agent.

use crate::agent::{Coordinator, Start};
use crate::experiment::{self, MakeReady};
use crate::load::agent::LoadAgent;
use crate::logs;
use crate::usage::agent::UsageAgent;
use crate::work::AgentWork;
use lab_model::Host;

/// Serves the coordinator's requests until the connection ends.
///
/// `make_ready` prepares the host for an experiment. `inspect` describes the host. Its argument is
/// the number of cores that a load needs. Returns an error if there is no coordinator, or if a
/// message of the coordinator cannot be parsed.
pub fn serve(
    start: Start,
    make_ready: MakeReady,
    inspect: fn(usize) -> Host,
) -> Result<(), String> {
    let coordinator = Coordinator::connect(start)?;
    let (mut load, mut usage) = (LoadAgent::new(inspect), UsageAgent::default());
    while let Some((work, _)) = coordinator.next::<AgentWork>()? {
        let outcome = match work {
            AgentWork::Load(order) => load.run_order(order, &coordinator),
            AgentWork::Usage(order) => usage.run_order(order, &coordinator),
            AgentWork::Logs(order) => logs::agent::run_order(order, &coordinator),
            AgentWork::Experiment(order) => {
                experiment::agent::run_order(order, make_ready, &coordinator)
            }
        };
        if let Err(reason) = outcome {
            coordinator.fail(reason)?;
        }
    }
    Ok(())
}
