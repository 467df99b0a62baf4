// SPDX-License-Identifier: Apache-2.0
//! `benchlab compare`: commands or revisions in turns, or two runs side by side.

mod commands;
mod exports;
mod gate;

pub use commands::carry_out;

use crate::cli::{Cli, CompareArgs};
use crate::exit::Exit;
use std::process::ExitCode;

/// Compares what was given.
pub fn compare(cli: &Cli, args: &CompareArgs) -> Result<ExitCode, Exit> {
    commands::commands(cli, args)
}
