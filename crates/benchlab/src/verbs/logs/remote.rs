// SPDX-License-Identifier: Apache-2.0
//! Reads logs on other hosts through agents and merges their counts.

use super::{LogsCommand, report};
use crate::exit::Exit;
use lab_logs::check_files;
use lab_many::AgentStart;
use lab_many::logs::{LogsAgents, LogsOrder};

/// Reads the logs on all hosts.
///
/// # Errors
/// Returns an error if a log is not a file, if an agent cannot be started or was lost, or if nothing could be
/// read on any host.
pub fn read(command: &mut LogsCommand, starting: &AgentStart) -> Result<(), Exit> {
    let args = command.args;
    let rules = args.rules.as_ref().map(std::fs::read_to_string).transpose();
    let order = LogsOrder {
        logs: args.logs.clone(),
        rotated: args.rotated,
        format: args.log_format.clone(),
        unit: args.duration_unit,
        fields: args.fields.clone(),
        zone: args.zone.clone(),
        rules: rules.map_err(Exit::invalid)?,
    };
    check_files(&order.logs).map_err(Exit::invalid)?;
    let agents = LogsAgents::start(starting)?;
    let tally = command.session.tally_of_agents();
    let (read, failed) = agents.read(&order, tally, &mut report)?;
    Ok(command.session.add_agents(read, failed)?)
}
