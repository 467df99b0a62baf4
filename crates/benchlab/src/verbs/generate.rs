// SPDX-License-Identifier: Apache-2.0
//! `benchlab completions` and `benchlab man`: generated from the definition of the command line.

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::exit::Exit;
use crate::output::to_stdout;
use clap::CommandFactory;
use std::process::ExitCode;

/// Prints shell completions.
pub fn completions(args: &CompletionsArgs) -> Result<ExitCode, Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "benchlab", &mut script);
    to_stdout(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a man page for benchlab and one for each command.
pub fn man(args: &ManArgs) -> Result<ExitCode, Exit> {
    std::fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &args.folder))
        .map_err(|e| Exit::wrong(format!("{}: {e}", args.folder.display())))?;
    Ok(ExitCode::SUCCESS)
}
