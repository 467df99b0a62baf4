// SPDX-License-Identifier: Apache-2.0
//! `benchlab doctor`: what this host would do to a measurement, and what to install.

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
    say!("\nWhat it would do to a measurement");
    for finding in &host.findings {
        let mark = if finding.unfit { "unfit" } else { "note" };
        say!(
            "{}",
            hanging_indent(&format!("  {mark:<6} "), &finding.what)
        );
        say!("{}", hanging_indent("         ", &finding.advice));
    }
    if host.findings.is_empty() {
        say!("  nothing that the lab can see");
    }
    say!("\nWhat subjects are built with");
    // Without a project there are no subjects to build, and the other verbs work.
    match project(cli) {
        Ok(project) => toolchains(&Toolchains::read(&project)?)?,
        Err(_) if cli.project.is_none() => {
            say!("  none: this folder is in no project with subjects")
        }
        Err(exit) => return Err(exit),
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists the installed toolchains, how to get each missing one, and the one command for all packages.
fn toolchains(toolchains: &Toolchains) -> Result<(), Exit> {
    let all = toolchains.names().filter_map(|name| toolchains.get(name));
    let (installed, missing): (Vec<_>, Vec<_>) = all.partition(|t| present(t));
    let titles: Vec<&str> = installed.iter().map(|t| &*t.title).collect();
    if !titles.is_empty() {
        say!("{}", hanging_indent("  here     ", &titles.join("; ")));
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
