// SPDX-License-Identifier: Apache-2.0
//! `benchlab doctor`: what this host would do to a measurement, and what to install.

use crate::cli::Cli;
use crate::exit::Exit;
use crate::measuring::CORES;
use crate::output::{say, widest};
use crate::verbs::project;
use lab_bench::build::present;
use lab_bench::host;
use lab_plan::Toolchains;
use std::process::ExitCode;

/// Examines the host.
pub fn doctor(cli: &Cli) -> Result<ExitCode, Exit> {
    let host = host::inspect(CORES);
    say!("The host");
    let width = widest(host.facts.iter().map(|(name, _)| &**name));
    for (name, value) in &host.facts {
        say!("  {name:<width$}  {value}");
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
    // Elsewhere the verbs that need no project work, and have no subjects to build.
    match project(cli) {
        Ok(project) => toolchains(&Toolchains::read(&project)?)?,
        Err(_) if cli.project.is_none() => say!("  here is no project with subjects"),
        Err(exit) => return Err(exit),
    }
    Ok(ExitCode::SUCCESS)
}

/// Those that are here, and how each other one is had.
fn toolchains(toolchains: &Toolchains) -> Result<(), Exit> {
    let all = toolchains.names().filter_map(|name| toolchains.get(name));
    let (here, missing): (Vec<_>, Vec<_>) = all.partition(|t| present(t));
    let width = widest(here.iter().chain(&missing).map(|t| &*t.title));
    for toolchain in here {
        say!("  {:<width$}  here", toolchain.title);
    }
    for toolchain in missing {
        say!(
            "  {:<width$}  missing: {}",
            toolchain.title,
            toolchain.how()
        );
    }
    Ok(())
}
