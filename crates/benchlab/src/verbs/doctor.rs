// SPDX-License-Identifier: Apache-2.0
//! `benchlab doctor`: what this host would do to a measurement, and what to install.

use crate::cli::Cli;
use crate::exit::Exit;
use crate::verbs::project;
use lab_bench::build::present;
use lab_bench::host;
use lab_plan::Toolchains;
use std::process::ExitCode;

/// Examines the host.
pub fn doctor(cli: &Cli) -> Result<ExitCode, Exit> {
    let host = host::inspect();
    println!("The host");
    for (name, value) in &host.facts {
        println!("  {name:<22} {value}");
    }
    println!("\nWhat it would do to a measurement");
    for finding in &host.findings {
        let mark = if finding.unfit { "unfit" } else { "note" };
        println!("  {mark:<6} {}", finding.what);
        println!("         {}", finding.advice);
    }
    if host.findings.is_empty() {
        println!("  nothing that the lab can see");
    }
    println!("\nWhat subjects are built with");
    let toolchains = Toolchains::read(&project(cli)?)?;
    for toolchain in toolchains.names().filter_map(|n| toolchains.get(n)) {
        match present(toolchain) {
            true => println!("  {:<26} here", toolchain.title),
            false => println!(
                "  {:<26} missing: apt-get install {}",
                toolchain.title,
                toolchain.debian.join(" ")
            ),
        }
    }
    Ok(ExitCode::SUCCESS)
}
