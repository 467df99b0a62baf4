// SPDX-License-Identifier: Apache-2.0
//! `benchlab audit host`: a machine, or a copy of its files.

use super::args::HostArgs;
use super::{finished, now, rules};
use crate::cli::Cli;
use crate::exit::Exit;
use lab_audit::Root;
use lab_audit::host::{self, CLASSES, Machine};
use std::process::ExitCode;

/// Audits a machine.
pub fn host(cli: &Cli, args: &HostArgs) -> Result<ExitCode, Exit> {
    let began = now();
    let rules = rules(host::rules(), &CLASSES, &args.auditing)?;
    let machine = match &args.root {
        None => lab_bench::host::watched(),
        Some(folder) if folder.join("proc").is_dir() => {
            Machine::copy(Root::copy(folder)).map_err(Exit::wrong)?
        }
        Some(folder) => {
            let folder = folder.display();
            let why = "there is no proc/ in it; copy /proc, /sys and /etc of the machine into it";
            return Err(Exit::wrong(format!("--root {folder}: {why}")));
        }
    };
    finished(cli, &args.auditing, &host::audit(&machine, &rules), began)
}
