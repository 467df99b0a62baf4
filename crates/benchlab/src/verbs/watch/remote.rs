// SPDX-License-Identifier: Apache-2.0
//! Logs that are read where they lie, by agents; what was counted is put together here.

use super::Watch;
use super::sources::{is_url, without_login};
use crate::exit::Exit;
use crate::starting::exit_of;
use lab_many::Starting;
use lab_many::watch::{Order, WatchAgents};
use lab_watch::Tally;

/// Reads the logs at all places. What a place cannot read is told, and the others' are read. Errors: an agent cannot be
/// had or was lost, or no place could read anything.
pub fn read(watch: &mut Watch, starting: &Starting) -> Result<(), Exit> {
    let args = watch.args;
    let rules = args.rules.as_ref().map(std::fs::read_to_string).transpose();
    let order = Order {
        logs: args.logs.clone(),
        rotated: args.rotated,
        format: args.log_format.clone(),
        unit: args.duration_unit,
        zone: args.zone.clone(),
        rules: rules.map_err(|e| Exit::wrong(e.to_string()))?,
    };
    if let Some(name) = order.logs.iter().find(|name| *name == "-" || is_url(name)) {
        let what = match name.as_str() {
            "-" => "is this process's own standard input",
            _ => "is a URL",
        };
        let name = without_login(name);
        return Err(Exit::wrong(format!(
            "`{name}` {what}; with --on name files"
        )));
    }
    let agents = WatchAgents::start(starting).map_err(exit_of)?;
    watch.tally = Tally::in_parts(watch.rules.clone());
    let mut told = |line: &str| eprintln!("benchlab: {}", lab_report::clean(line));
    let read = agents.read(&order, &mut watch.tally, &mut told);
    let (read, failed) = read.map_err(exit_of)?;
    watch.read = read;
    if watch.read.lines.entries == 0 && !failed.is_empty() {
        return Err(Exit::wrong(failed.join("\n")));
    }
    for why in failed {
        eprintln!("benchlab: {}", lab_report::clean(&why));
        let advice = format!("Not read to its end: {why}.");
        watch.read.advice.push(advice);
    }
    Ok(())
}
