// SPDX-License-Identifier: Apache-2.0
//! `benchlab audit`: reports findings about a machine, a network or a site. Nothing is changed.

pub mod args;
mod cookies;
mod host;
mod net;
mod site;
mod values;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::gate;
use crate::measuring::new_file;
use crate::named;
use crate::verbs::report::{deliver_document, render, write};
use crate::verbs::runs_folder;
use args::{AuditArgs, AuditVerb, Auditing};
use lab_audit::cookies::input::MAX_INPUT_BYTES;
use lab_audit::input_text;
use lab_audit::report::{AuditReport, document, harmless};
use lab_audit::{Class, Rule, user_rules, waivers, wording};
use lab_document::{Document, Gate, Terminal, format};
use lab_model::audit::Waiver;
use lab_model::{Audit, StoredGate};
use lab_store::RunWriter;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs an audit, saves and reports it, and judges its findings.
pub fn audit(cli: &Cli, args: &AuditArgs) -> Result<ExitCode, Exit> {
    if let AuditVerb::Values(args) = &args.verb {
        return values::values(args);
    }
    let document = run_audit(cli, args)?;
    let auditing = args.auditing();
    Ok(auditing.map_or(ExitCode::SUCCESS, |auditing| {
        gate::exit_code_displayed(&document, &auditing.display)
    }))
}

/// Runs an audit, saves and reports it, and returns the report.
pub fn run_audit(cli: &Cli, args: &AuditArgs) -> Result<Document, Exit> {
    match &args.verb {
        AuditVerb::Host(args) => host::host(cli, args),
        AuditVerb::Cookies(args) => cookies::cookies(cli, args),
        AuditVerb::Site(args) => site::site(cli, args),
        AuditVerb::Net(args) => net::net(cli, args),
        AuditVerb::Values(_) | AuditVerb::Named(_) => {
            Err(Exit::invalid("this subcommand does not run an audit"))
        }
    }
}

/// Returns the rules of an audit: the built-in rules, and the rules in the user's directory. Also
/// checks the names of rules in options.
fn rules(
    built_in: Result<Vec<Rule>, lab_audit::RuleError>,
    classes: &[Class],
    args: &Auditing,
) -> Result<Vec<Rule>, Exit> {
    let rules = built_in.map_err(Exit::invalid)?;
    let rules = match &args.rules {
        None => rules,
        Some(folder) => user_rules::with_folder(rules, folder, classes).map_err(Exit::invalid)?,
    };
    let ids: Vec<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
    waivers::check(&waivers_from_options(args)?, &ids)
        .map_err(|e| Exit::invalid(format!("--waive: {e}")))?;
    for (file, waiver) in waivers_in_file()? {
        // The rule may belong to another audit.
        let own = [waiver.rule.as_str()];
        waivers::check(std::slice::from_ref(&waiver), &own)
            .map_err(|e| Exit::invalid(format!("{}: {e}", file.display())))?;
    }
    for condition in &args.fail_if {
        if let Some(rule) = condition.rule().filter(|rule| !ids.contains(rule)) {
            let reason = wording::unknown_rule(rule, &ids);
            return Err(Exit::invalid(format!("--fail-if: {reason}")));
        }
    }
    Ok(rules)
}

/// Saves an audit in a run file, judges and shows it, and returns the report.
fn finish(cli: &Cli, args: &Auditing, audit: &Audit, began_unix_s: f64) -> Result<Document, Exit> {
    let mut audit = harmless(audit).map_err(Exit::failed)?;
    let today = jiff::Zoned::now().date();
    let waived = self::waivers(args, &audit)?;
    waivers::apply(&mut audit, &waived, today);
    let audit = &audit;
    let path = if args.no_run {
        None
    } else {
        Some(new_file(
            &runs_folder(cli, args.runs.as_deref())?,
            &audit.name(),
        )?)
    };
    let gates = args.fail_if.iter().map(|condition| condition.judge(audit));
    let gates: Vec<Gate> = gates.collect();
    if let Some(path) = &path {
        save(path, audit, &gates, began_unix_s)?;
    }
    let file = path.as_ref().map(|path| path.display().to_string());
    let name = path
        .as_ref()
        .and_then(|path| path.file_name())
        .unwrap_or_default();
    let mut document = document(&AuditReport {
        audit,
        run: &name.to_string_lossy(),
        made_unix_s: began_unix_s,
        benchlab_version: env!("CARGO_PKG_VERSION"),
        file: file.as_deref(),
    });
    document.add_gates(gates);
    if !args.quiet {
        deliver_document(&document, &args.display)?;
    }
    if let Some(path) = path {
        let page = path.with_extension("html");
        write(
            render(&document, format::html::FORMAT, Terminal::default())?,
            &page,
        )?;
        eprintln!("benchlab: {}", wording::report_written(&page));
    }
    Ok(document)
}

fn save(path: &Path, audit: &Audit, gates: &[Gate], began_unix_s: f64) -> Result<(), Exit> {
    let writer = RunWriter::create(path, env!("CARGO_PKG_VERSION"), began_unix_s)?;
    writer.audit(audit)?;
    let kept: Vec<StoredGate> = gates.iter().map(Gate::to_stored).collect();
    writer.gates(&kept)?;
    Ok(writer.finish(None, None)?)
}

/// Returns the waivers of the command line and of benchlab.toml.
fn waivers(args: &Auditing, audit: &Audit) -> Result<Vec<Waiver>, Exit> {
    let mut all = waivers_from_options(args)?;
    let is_of_audit = |waiver: &Waiver| audit.findings.iter().any(|f| f.rule == waiver.rule);
    let in_file = waivers_in_file()?.into_iter().map(|(_, waiver)| waiver);
    all.extend(in_file.filter(is_of_audit));
    Ok(all)
}

/// Returns the waivers of benchlab.toml, each with the path of the file.
fn waivers_in_file() -> Result<Vec<(PathBuf, Waiver)>, Exit> {
    let Some(file) = named::config()? else {
        return Ok(Vec::new());
    };
    let waivers = file.config.waiver.iter();
    Ok(waivers
        .map(|waiver| (file.path.clone(), waiver.to_audit_waiver()))
        .collect())
}

/// Returns the waivers of the command line.
///
/// # Errors
/// Returns an error if the number of reasons or dates is neither one nor the number of waivers.
fn waivers_from_options(args: &Auditing) -> Result<Vec<Waiver>, Exit> {
    let each = |option: &str, texts: &[String]| -> Result<Vec<String>, Exit> {
        match texts {
            [one] => Ok(vec![one.clone(); args.waive.len()]),
            many if many.len() == args.waive.len() => Ok(many.to_vec()),
            many => Err(Exit::invalid(format!(
                "{option} is given {} times for {}: pass it once, or once for each --waive",
                many.len(),
                lab_document::say::count(args.waive.len(), "waiver")
            ))),
        }
    };
    let (reasons, untils) = (
        each("--reason", &args.reason)?,
        each("--until", &args.until)?,
    );
    let waived = args.waive.iter().zip(reasons).zip(untils);
    let waiver = |((text, reason), until): ((&String, String), String)| {
        let (rule, object) = match text.split_once(':') {
            Some((rule, object)) => (rule, Some(object.to_owned())),
            None => (text.as_str(), None),
        };
        Waiver {
            rule: rule.to_owned(),
            object,
            reason,
            until,
        }
    };
    Ok(waived.map(waiver).collect())
}

/// Reads a file as text, or standard input for `-`.
fn read_text(source: &str) -> Result<String, Exit> {
    let error = |e: std::io::Error| Exit::invalid(format!("{source}: {e}"));
    let input: Box<dyn Read> = match source {
        "-" => Box::new(std::io::stdin()),
        path => Box::new(std::fs::File::open(path).map_err(error)?),
    };
    let mut bytes = Vec::new();
    input
        .take(MAX_INPUT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(error)?;
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        let max = MAX_INPUT_BYTES >> 20;
        let reason = wording::unusable(source, &wording::too_long(max));
        return Err(Exit::invalid(reason));
    }
    input_text::decode(bytes).map_err(|reason| Exit::invalid(wording::unusable(source, &reason)))
}
