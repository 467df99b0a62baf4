// SPDX-License-Identifier: Apache-2.0
//! `benchlab completions` and `benchlab man`: completion scripts and man pages, generated from the
//! definition of the command line.

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::completion;
use crate::exit::Exit;
use crate::output::write_stdout;
use clap::CommandFactory;
use clap_complete::env::Shells;
use std::process::ExitCode;

/// Prints the script that makes a shell ask benchlab for completions.
pub fn completions(args: &CompletionsArgs) -> Result<ExitCode, Exit> {
    let name = args.shell.to_string();
    let shells = Shells::builtins();
    let shell = shells
        .completer(&name)
        .ok_or_else(|| Exit::invalid(format!("there are no completions for {name}")))?;
    let mut script = Vec::new();
    shell
        .write_registration(
            completion::VARIABLE,
            "benchlab",
            "benchlab",
            "benchlab",
            &mut script,
        )
        .map_err(Exit::failed)?;
    write_stdout(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a man page for benchlab and one for each command.
pub fn man(args: &ManArgs) -> Result<ExitCode, Exit> {
    std::fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &args.folder))
        .map_err(|e| Exit::invalid(format!("{}: {e}", args.folder.display())))?;
    Ok(ExitCode::SUCCESS)
}
