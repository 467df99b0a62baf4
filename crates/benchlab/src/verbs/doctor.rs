// SPDX-License-Identifier: Apache-2.0
//! `benchlab doctor`: shows conditions on this host that affect measurements, and what to install.

use crate::cli::{Cli, DoctorArgs};
use crate::exit::Exit;
use crate::measuring::CORES;
use crate::options::ListingFormat;
use crate::output::{hanging_indent, say, widest, write_json};
use crate::verbs::project;
use lab_audit::host;
use lab_bench::build::present;
use lab_model::Host;
use lab_plan::{Toolchain, Toolchains};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::process::ExitCode;

/// Examines the host.
pub fn doctor(cli: &Cli, args: &DoctorArgs) -> Result<ExitCode, Exit> {
    let host = host::inspect(CORES);
    // Without a project there are no subjects to build, but the other commands still work.
    let toolchains = match project(cli) {
        Ok(project) => Some(Toolchains::read(&project)?),
        Err(_) if cli.project.is_none() => None,
        Err(exit) => return Err(exit),
    };
    match args.listing.format {
        ListingFormat::Text => print(&host, toolchains.as_ref())?,
        ListingFormat::Json => write_json(&as_json(&host, toolchains.as_ref()))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the host and its toolchains as JSON.
fn as_json(host: &Host, toolchains: Option<&Toolchains>) -> Value {
    let facts = host.facts.iter();
    let facts: Map<String, Value> = facts
        .map(|(name, value)| (name.clone(), value.as_str().into()))
        .collect();
    let findings = host.findings.iter().map(
        |finding| json!({ "unfit": finding.unfit, "what": finding.what, "advice": finding.advice }),
    );
    let toolchains = toolchains.map(|toolchains| {
        let named = toolchains.names();
        let named = named.filter_map(|name| Some((name, toolchains.get(name)?)));
        let described = named.map(|(name, toolchain)| {
            let mut described = toolchain_json(toolchain);
            described["name"] = name.into();
            described["present"] = present(toolchain).into();
            described
        });
        described.collect::<Vec<Value>>()
    });
    json!({
        "facts": facts,
        "findings": findings.collect::<Vec<Value>>(),
        "toolchains": toolchains,
    })
}

/// Formats a toolchain and its installation instructions as JSON.
pub fn toolchain_json(toolchain: &Toolchain) -> Value {
    json!({
        "title": toolchain.title,
        "debian": toolchain.debian,
        "install": toolchain.how(),
    })
}

fn print(host: &Host, toolchains: Option<&Toolchains>) -> Result<(), Exit> {
    let toolchains = toolchains.map(|toolchains| {
        let all = toolchains.names().filter_map(|name| toolchains.get(name));
        all.partition::<Vec<&Toolchain>, _>(|toolchain| present(toolchain))
    });
    let missing = toolchains.as_ref().map_or(0, |(_, missing)| missing.len());
    say!("{}\n", hanging_indent("", &headline(host, missing)));
    say!("Conditions that affect measurements");
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
    match toolchains {
        Some((installed, missing)) => print_toolchains(&installed, &missing)?,
        None => say!("  none: this directory is not in a project"),
    }
    say!("\nThe host");
    let width = widest(host.facts.iter().map(|(name, _)| &**name));
    for (name, value) in &host.facts {
        say!("{}", hanging_indent(&format!("  {name:<width$}  "), value));
    }
    Ok(())
}

/// States whether the host is fit for measuring now, and how many toolchains are missing.
fn headline(host: &Host, missing: usize) -> String {
    let unfit = host.findings.iter().filter(|finding| finding.unfit);
    let unfit: Vec<&str> = unfit.map(|finding| finding.what.as_str()).collect();
    let fitness = match unfit.as_slice() {
        [] => "This host is fit for measuring.".to_string(),
        reasons => format!(
            "This host is unfit for measuring now: {}.",
            reasons.join("; ")
        ),
    };
    match missing {
        0 => fitness,
        1 => format!("{fitness} 1 toolchain is missing."),
        n => format!("{fitness} {n} toolchains are missing."),
    }
}

/// Lists the installed toolchains, the commands that install missing toolchains, and a single
/// command for all packages.
fn print_toolchains(installed: &[&Toolchain], missing: &[&Toolchain]) -> Result<(), Exit> {
    let titles: Vec<&str> = installed.iter().map(|t| &*t.title).collect();
    if !titles.is_empty() {
        say!("{}", hanging_indent("  present  ", &titles.join("; ")));
    }
    for toolchain in missing {
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
