// SPDX-License-Identifier: Apache-2.0
//! The words of `benchlab serve`.

use clap::Args;
use std::net::IpAddr;
use std::path::PathBuf;

/// `benchlab serve`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab serve\n  benchlab serve --runs results --port 8080\n  ssh -L 8640:127.0.0.1:8640 HOST benchlab serve --port 8640\n\n\
                  It serves until Ctrl-C. Pages load nothing from elsewhere. Runs are deleted only by who opens the\naddress \
                  with the token that it prints."
)]
pub struct ServeArgs {
    /// Where the run files are [default: the project's runs/, or outside of a project
    /// ~/.local/share/benchlab/runs]
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
    /// The port; 0 for any that is free [default: 8640, or any where that is taken]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// The address to listen at: every client that reaches it can read the runs
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub address: IpAddr,
    /// A name by which the pages may be requested, in addition to addresses and localhost
    #[arg(long, value_name = "HOST")]
    pub name: Vec<String>,
}
