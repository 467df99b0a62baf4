// SPDX-License-Identifier: Apache-2.0
//! `benchlab agent`: started by `--on`; users do not run it.

use crate::cli::{AgentArgs, Cli};
use crate::exit::Exit;
use crate::hosts;
use lab_audit::host;
use lab_many::agent::Start;
use lab_many::experiment::HostRequirements;
use std::process::ExitCode;

/// Executes the coordinator's orders until the connection closes.
pub fn agent(cli: &Cli, args: &AgentArgs) -> Result<ExitCode, Exit> {
    let start = Start {
        hash: args.hash,
        copied: args.copied,
    };
    let make_ready = |requirements: &HostRequirements| {
        hosts::make_ready(cli, requirements).map_err(|exit| exit.message)
    };
    let served = lab_many::serve(start, &make_ready, host::inspect);
    served.map_err(Exit::failed)?;
    Ok(ExitCode::SUCCESS)
}
