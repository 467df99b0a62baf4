// SPDX-License-Identifier: Apache-2.0
//! `benchlab doctor`: shows conditions on this host that affect measurements, and what to install.

use crate::cli::Cli;
use crate::exit::Exit;
use crate::measuring::CORES;
use crate::output::{hanging_indent, say, widest};
use crate::verbs::project;
use lab_audit::host;
use lab_bench::build::present;
use lab_plan::Toolchains;
use std::collections::BTreeSet;
use std::process::ExitCode;

/// Examines the host.
pub fn doctor(cli: &Cli) -> Result<ExitCode, Exit> {
    let host = host::inspect(CORES);
    say!("The host");
    let width = widest(host.facts.iter().map(|(name, _)| &**name));
    for (name, value) in &host.facts {
        say!("{}", hanging_indent(&format!("  {name:<width$}  "), value));
    }
    say!("\nConditions that affect measurements");
    for finding in &host.findings {
        let mark = if finding.unfit { "unfit" } else { "note" };
        say!(
            "{}",
            hanging_indent(&format!("  {mark:<6} "), &finding.what)
        );
        say!("{}", hanging_indent("         ", &finding.advice));
    }
    if host.findings.is_empty() {
        say!("  none detected");
    }
    say!("\nToolchains for building subjects");
    // Without a project there are no subjects to build, but the other commands work.
    match project(cli) {
        Ok(project) => toolchains(&Toolchains::read(&project)?)?,
        Err(_) if cli.project.is_none() => {
            say!("  none: this directory is not in a project")
        }
        Err(exit) => return Err(exit),
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists the installed toolchains, the commands that install missing ones, and a single command for
/// all packages.
fn toolchains(toolchains: &Toolchains) -> Result<(), Exit> {
    let all = toolchains.names().filter_map(|name| toolchains.get(name));
    let (installed, missing): (Vec<_>, Vec<_>) = all.partition(|t| present(t));
    let titles: Vec<&str> = installed.iter().map(|t| &*t.title).collect();
    if !titles.is_empty() {
        say!("{}", hanging_indent("  present  ", &titles.join("; ")));
    }
    for toolchain in &missing {
        let text = format!("{}: {}", toolchain.title, toolchain.how());
        say!("{}", hanging_indent("  missing  ", &text));
    }
    let packages: BTreeSet<&str> = missing
        .iter()
        .flat_map(|t| &t.debian)
        .map(|p| &**p)
        .collect();
    if packages.len() > 1 {
        let packages: Vec<&str> = packages.into_iter().collect();
        let command = format!("all packages: apt-get install {}", packages.join(" "));
        say!("{}", hanging_indent("           ", &command));
    }
    Ok(())
}
