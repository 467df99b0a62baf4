// SPDX-License-Identifier: Apache-2.0
//! Logs that agents read on their hosts; this process puts the counts together.

use super::LogsCommand;
use super::sources::{is_url, without_login};
use crate::exit::Exit;
use lab_logs::Tally;
use lab_many::AgentStart;
use lab_many::logs::{LogsAgents, LogsOrder};

/// Reads the logs on all hosts. A log that a host cannot read is reported, and the others are read. Errors:
/// an agent cannot be started or was lost, or nothing could be read anywhere.
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
        rules: rules.map_err(Exit::wrong)?,
    };
    if let Some(name) = order.logs.iter().find(|name| *name == "-" || is_url(name)) {
        let kind = match name.as_str() {
            "-" => "is this process's own standard input",
            _ => "is a URL",
        };
        let name = without_login(name);
        return Err(Exit::wrong(format!(
            "`{name}` {kind}; with --on name files"
        )));
    }
    let agents = LogsAgents::start(starting)?;
    command.tally = Tally::in_parts(command.rules.clone());
    let mut report = |line: &str| eprintln!("benchlab: {}", lab_document::clean(line));
    let read = agents.read(&order, &mut command.tally, &mut report);
    let (logs_read, failed) = read?;
    command.logs_read = logs_read;
    if command.logs_read.lines.entries == 0 && !failed.is_empty() {
        return Err(Exit::wrong(failed.join("\n")));
    }
    command.note_failed(failed);
    Ok(())
}
