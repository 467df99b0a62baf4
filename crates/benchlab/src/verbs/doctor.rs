// SPDX-License-Identifier: Apache-2.0
//! `benchlab doctor`: what this host would do to a measurement, and what to install.

use crate::cli::Cli;
use crate::exit::Exit;
use crate::output::say;
use crate::verbs::project;
use lab_bench::build::present;
use lab_bench::host;
use lab_plan::Toolchains;
use std::process::ExitCode;

/// Examines the host.
pub fn doctor(cli: &Cli) -> Result<ExitCode, Exit> {
    let host = host::inspect();
    say!("The host");
    for (name, value) in &host.facts {
        say!("  {name:<22} {value}");
    }
    say!("\nWhat it would do to a measurement");
    for finding in &host.findings {
        let mark = if finding.unfit { "unfit" } else { "note" };
        say!("  {mark:<6} {}", finding.what);
        say!("         {}", finding.advice);
    }
    if host.findings.is_empty() {
        say!("  nothing that the lab can see");
    }
    say!("\nWhat subjects are built with");
    let toolchains = Toolchains::read(&project(cli)?)?;
    for toolchain in toolchains.names().filter_map(|n| toolchains.get(n)) {
        if present(toolchain) {
            say!("  {:<26} here", toolchain.title)
        } else {
            say!(
                "  {:<26} missing: apt-get install {}",
                toolchain.title,
                toolchain.debian.join(" ")
            )
        }
    }
    Ok(ExitCode::SUCCESS)
}
