// SPDX-License-Identifier: Apache-2.0
//! Two servers, on which load is put in turns.

use super::{exports::exports, gate, sweeps};
use crate::cli::{Cli, CompareArgs};
use crate::exit::Exit;
use crate::verbs::load::{
    LoadCommand, RequestedServer, Resumed, can_keep_command_line, loading, seed,
};
use crate::verbs::runs_folder;
use lab_plan::Loading;
use std::process::ExitCode;

/// The default of `--connections`, for each server.
const CONNECTIONS: u32 = 50;

/// Compares two servers, the baseline first, in a new run or in one that was stopped.
pub fn urls(cli: &Cli, args: &CompareArgs, resumed: Option<Resumed>) -> Result<ExitCode, Exit> {
    let exports = exports(&args.export)?;
    let seed = seed(args.measuring.seed, resumed.as_ref());
    if args.sending.families().len() > 1 {
        return Err(Exit::wrong(
            "--family 4,6 compares two ways to one server: `benchlab load --family 4,6 URL`",
        ));
    }
    let servers = args.commands.iter();
    let servers = servers.map(|url| args.sending.servers(std::slice::from_ref(url), &[], seed));
    let servers: Vec<RequestedServer> = servers
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .flatten()
        .collect();
    let names = ["A", "B"].map(String::from);
    let names = names.into_iter().enumerate();
    let names = names.map(|(i, letter)| Some(args.name.get(i).cloned().unwrap_or(letter)));
    let loading = Loading {
        name: args.title.clone(),
        connections: args.connections.unwrap_or(CONNECTIONS),
        sweeps: sweeps(&args.sweep)?,
        length: args.budget,
        margin: args.margin,
        gate: args.gate,
        redo: args.measuring.redo,
        seed,
        ..loading(&args.sending, &servers, &names.collect::<Vec<_>>())?
    };
    let command = LoadCommand {
        loading,
        sending: &args.sending,
        servers,
        processes: processes(args)?,
        server_host: None,
        exports,
        runs: runs_folder(cli, args.measuring.runs.as_deref())?,
        strict: args.measuring.strict,
        keeps_command_line: can_keep_command_line(&args.sending, &args.commands),
        resumed,
    };
    command.carry_out(|report| {
        Ok(if args.gate {
            gate::load_gate(&report.results)
        } else {
            ExitCode::SUCCESS
        })
    })
}

fn processes(args: &CompareArgs) -> Result<Vec<Option<i32>>, Exit> {
    match args.server_pid[..] {
        [] => Ok(vec![None; 2]),
        [both] => Ok(vec![Some(both); 2]),
        [a, b] => Ok(vec![Some(a), Some(b)]),
        _ => Err(Exit::wrong(
            "--server-pid takes a process for each of the two servers, such as --server-pid 4711,4712",
        )),
    }
}
