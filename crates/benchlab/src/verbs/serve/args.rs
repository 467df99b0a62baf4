// SPDX-License-Identifier: Apache-2.0
//! The arguments of `benchlab serve`.

use clap::Args;
use std::net::IpAddr;
use std::path::PathBuf;

/// `benchlab serve`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab serve\n  benchlab serve --runs results --port 8080\n  ssh -L 8640:127.0.0.1:8640 HOST benchlab serve --port 8640\n\n\
                  The server runs until Ctrl-C. Pages load nothing from other sites. To delete runs, open the address\n\
                  with the token that the server prints."
)]
pub struct ServeArgs {
    /// Directory of the run files [default: runs/ in the project, or ~/.local/share/benchlab/runs outside of a
    /// project]
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
    /// The port; 0 selects any free port [default: 8640, or any free port if 8640 is in use]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// The address to listen on; every client that can reach it can read the runs
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub address: IpAddr,
    /// A host name for the pages, in addition to IP addresses and localhost
    #[arg(long, value_name = "HOST")]
    pub name: Vec<String>,
}
