// SPDX-License-Identifier: Apache-2.0
//! `benchlab audit`: reports findings about a machine, a network or a site. Nothing is changed.

pub mod args;
mod cookies;
mod host;
mod net;
mod site;
mod values;

use crate::cli::Cli;
use crate::exit::{self, Exit};
use crate::measuring::new_file;
use crate::verbs::report::{deliver_document, render, write};
use crate::verbs::runs_folder;
use args::{AuditArgs, AuditVerb, Auditing};
use lab_audit::cookies::input::LONGEST;
use lab_audit::report::{AuditReport, document, harmless};
use lab_audit::{Class, Rule, user_rules, wording};
use lab_document::{Terminal, format};
use lab_model::Audit;
use lab_store::RunWriter;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

/// Runs an audit, saves and reports it, and judges its findings.
pub fn audit(cli: &Cli, args: &AuditArgs) -> Result<ExitCode, Exit> {
    match &args.verb {
        AuditVerb::Host(args) => host::host(cli, args),
        AuditVerb::Cookies(args) => cookies::cookies(cli, args),
        AuditVerb::Site(args) => site::site(cli, args),
        AuditVerb::Net(args) => net::net(cli, args),
        AuditVerb::Values(args) => values::values(args),
    }
}

/// Returns the built-in rules of an audit and those in the user's directory.
fn rules(
    built_in: Result<Vec<Rule>, lab_audit::RuleError>,
    classes: &[Class],
    args: &Auditing,
) -> Result<Vec<Rule>, Exit> {
    let rules = built_in.map_err(Exit::wrong)?;
    match &args.rules {
        None => Ok(rules),
        Some(folder) => user_rules::with_folder(rules, folder, classes).map_err(Exit::wrong),
    }
}

/// Saves an audit in a run file, shows it, and judges it according to `--fail-on`.
fn finish(cli: &Cli, args: &Auditing, audit: &Audit, began_unix_s: f64) -> Result<ExitCode, Exit> {
    let harmless = harmless(audit);
    let audit = &harmless.map_err(Exit::failed)?;
    let path = if args.no_run {
        None
    } else {
        Some(new_file(
            &runs_folder(cli, args.runs.as_deref())?,
            &audit.name(),
        )?)
    };
    if let Some(path) = &path {
        keep(path, audit, began_unix_s)?;
    }
    let file = path.as_ref().map(|path| path.display().to_string());
    let name = path
        .as_ref()
        .and_then(|path| path.file_name())
        .unwrap_or_default();
    let document = document(&AuditReport {
        audit,
        run: &name.to_string_lossy(),
        made_unix_s: began_unix_s,
        lab_version: env!("CARGO_PKG_VERSION"),
        file: file.as_deref(),
    });
    deliver_document(&document, &args.display)?;
    if let Some(path) = path {
        let page = path.with_extension("html");
        write(
            render(&document, format::html::FORMAT, Terminal::default())?,
            &page,
        )?;
        eprintln!("benchlab: {}", wording::report_written(&page));
    }
    Ok(judge(args, audit))
}

fn keep(path: &Path, audit: &Audit, began_unix_s: f64) -> Result<(), Exit> {
    let writer = RunWriter::create(path, env!("CARGO_PKG_VERSION"), began_unix_s)?;
    writer.audit(audit)?;
    Ok(writer.finish(None, None)?)
}

/// Prints the findings that count as failures for `--fail-on`, and returns the exit code.
fn judge(args: &Auditing, audit: &Audit) -> ExitCode {
    let Some(least) = args.fail_on.map(|on| on.state()) else {
        return ExitCode::SUCCESS;
    };
    let failed: Vec<_> = audit.findings.iter().filter(|f| f.state <= least).collect();
    for finding in &failed {
        let text = wording::fails(finding);
        eprintln!("benchlab: {}", lab_document::clean(&text));
    }
    if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(exit::REGRESSION)
    }
}

/// Reads a file as text, or standard input for `-`.
fn read_text(source: &str) -> Result<String, Exit> {
    let error = |e: std::io::Error| Exit::wrong(format!("{source}: {e}"));
    let input: Box<dyn Read> = match source {
        "-" => Box::new(std::io::stdin()),
        path => Box::new(std::fs::File::open(path).map_err(error)?),
    };
    let mut bytes = Vec::new();
    input
        .take(LONGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(error)?;
    if bytes.len() as u64 > LONGEST {
        let most = LONGEST >> 20;
        let reason = wording::unusable(source, &wording::too_long(most));
        return Err(Exit::wrong(reason));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
