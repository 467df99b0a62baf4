// SPDX-License-Identifier: Apache-2.0
//! `benchlab serve`: serves all runs as local web pages.

pub mod args;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::verbs::runs_folder;
use args::ServeArgs;
use lab_web::{Options, PageAddress};
use std::io::Write;
use std::process::ExitCode;

/// The default of `--port`.
const PORT: u16 = 8640;

/// Serves pages until Ctrl-C.
pub fn serve(cli: &Cli, args: &ServeArgs) -> Result<ExitCode, Exit> {
    let folder = runs_folder(cli, args.runs.as_deref())?;
    if args.runs.is_some() && !folder.is_dir() {
        let folder = folder.display();
        return Err(Exit::invalid(format!("{folder}: no such directory")));
    }
    let options = Options {
        folder: folder.clone(),
        address: args.address,
        port: args.port.unwrap_or(PORT),
        or_any_port: args.port.is_none(),
        names: args.name.clone(),
    };
    let address = format!("{} port {}", options.address, options.port);
    let report_address = |address: &PageAddress| {
        let mut text = format!(
            "benchlab: the runs in {} are at\n  {}\nWithout the token they are read-only. Press Ctrl-C to stop.\n",
            folder.display(),
            address.url_with_token()
        );
        if !args.address.is_loopback() {
            text += &format!(
                "benchlab: every client that can reach {} can read the runs, and the connection is not encrypted\n",
                address.socket
            );
        }
        // The pages are served even if standard error is closed.
        let _ = std::io::stderr().write_all(text.as_bytes());
    };
    lab_web::serve(options, report_address)
        .map_err(|e| Exit::failed(format!("{address}: {e}; --port 0 selects a free port")))?;
    Ok(ExitCode::SUCCESS)
}
